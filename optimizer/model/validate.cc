#include "optimizer/model/validate.h"

#include "optimizer/model/sections.h"

namespace stripline::model {

Status validate(const TunedModel& model) {
  for (const Section& section : sections()) {
    STRIPLINE_RETURN_IF_ERROR(section.member.check(section.member.name, model));
  }
  for (const auto& [name, text] : model.unknown_sections) {
    STRIPLINE_RETURN_IF_ERROR(check_utf8("the name of an unknown section", name));
  }
  return {};
}

}  // namespace stripline::model
