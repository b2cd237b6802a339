#include "server/store/point_filter.h"

#include <algorithm>

#include "base/json.h"

namespace stripline::server {

// A value is a number or a text, and the last one has no comma after it.
PointMatcher::PointMatcher(const PointFilter& filter) {
  const auto quoted = [](const std::string& text) { return dumped(Json(text)); };
  for (const auto& [name, value] : filter.params) {
    std::vector<std::string> looks;
    for (const std::string& text : {value, quoted(value)}) {
      for (const char* end : {",", "}"}) looks.push_back(quoted(name) + ":" + text + end);
    }
    wanted_.push_back(std::move(looks));
  }
}

bool PointMatcher::matches(std::string_view params_json) const {
  return std::ranges::all_of(wanted_, [&](const std::vector<std::string>& looks) {
    return std::ranges::any_of(looks, [&](const std::string& look) {
      return params_json.find(look) != std::string_view::npos;
    });
  });
}

}  // namespace stripline::server
