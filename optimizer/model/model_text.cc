#include "optimizer/model/model_text.h"

#include "base/quantity.h"
#include "optimizer/model/sections.h"

namespace stripline::model {

std::string model_text(const TunedModel& model) {
  std::string text;
  for (const Section& section : sections()) text += section.summary(model);
  for (const auto& [section, content] : model.unknown_sections) {
    text += "\nsection '" + section + "' (" + bytes_text(content.size()) +
            ") belongs to a newer version and is kept as it is\n";
  }
  return text;
}

}  // namespace stripline::model
