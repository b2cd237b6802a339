#include "optimizer/targets/sources.h"

#include <algorithm>
#include <string_view>

namespace stripline::targets {
namespace {

// "1" for what says yes, "0" for what says no: ompi_info prints words, files mostly have digits.
std::string_view as_digit(std::string_view value) {
  for (const std::string_view yes : {"true", "t", "yes", "y", "enabled"}) {
    if (value == yes) return "1";
  }
  for (const std::string_view no : {"false", "f", "no", "n", "disabled"}) {
    if (value == no) return "0";
  }
  return value;
}

}  // namespace

std::vector<std::string> overridden(const std::vector<Setting>& exported,
                                    const std::vector<Source>& stronger) {
  std::vector<std::string> found;
  for (const auto& [name, value] : exported) {
    // The strongest one that names it decides.
    for (const Source& source : stronger) {
      const auto other = std::ranges::find(source.settings, name, &Setting::name);
      if (other == source.settings.end()) continue;
      if (as_digit(other->value) != as_digit(value)) {
        found.push_back(name + " is set to '" + other->value + "' by " + source.name +
                        ", which beats the '" + value + "' of the exported file");
      }
      break;
    }
  }
  return found;
}

}  // namespace stripline::targets
