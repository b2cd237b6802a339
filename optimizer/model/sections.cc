#include "optimizer/model/sections.h"

namespace stripline::model {

const std::vector<Section>& sections() {
  static const std::vector<Section> all = [] {
    std::vector<Section> made;
    for (const auto& make : kSections) made.push_back(make());
    return made;
  }();
  return all;
}

}  // namespace stripline::model
