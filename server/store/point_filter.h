// The points of a campaign that are asked for. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/store/records.h"

namespace stripline::server {

/// Tells points by the text of their parameters as it is stored, a JSON object without white space:
/// a hundred thousand of them need not be read as documents.
class PointMatcher {
 public:
  explicit PointMatcher(const PointFilter& filter);
  /// True if all parameters that are asked for have their values.
  bool matches(std::string_view params_json) const;

 private:
  std::vector<std::vector<std::string>> wanted_;  // of each parameter, what it may look like
};

}  // namespace stripline::server
