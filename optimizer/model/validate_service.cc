#include <tuple>
#include <utility>

#include "optimizer/model/validate_parts.h"

namespace stripline::model::detail {
namespace {

Status check_levels(const std::string& where, const std::vector<ServiceLevel>& levels) {
  if (levels.size() > kMaxFootprints) {
    return wrong(where, "more than " + std::to_string(kMaxFootprints) + " levels");
  }
  const auto place = [](const ServiceLevel& level) {
    return std::tuple(level.nodes, level.distance, level.bytes);
  };
  for (size_t i = 0; i < levels.size(); ++i) {
    const ServiceLevel& level = levels[i];
    const std::string element = where + "[" + std::to_string(i) + "]";
    if (level.nodes < 2 || level.nodes > kMaxRanks) {
      return wrong(element + ".nodes", "must be 2 to " + std::to_string(kMaxRanks));
    }
    if (level.distance >= kDistances) {
      return wrong(element + ".distance", "must be below " + std::to_string(kDistances));
    }
    if (level.bytes == 0 || level.bytes > kMaxBytes) {
      return wrong(element + ".bytes", "must be 1 to " + std::to_string(kMaxBytes));
    }
    if (i > 0 && place(levels[i - 1]) >= place(level)) {
      return wrong(element, "levels must ascend by nodes, then distance, then bytes");
    }
    STRIPLINE_RETURN_IF_ERROR(check_parameter(element + ".best", level.best, kRatioRule));
    STRIPLINE_RETURN_IF_ERROR(check_parameter(element + ".worst", level.worst, kRatioRule));
  }
  return {};
}

}  // namespace

Status check_service(const ServiceModel& service) {
  if (service.get.empty() && service.put.empty()) {
    return wrong("service_levels", "needs levels of get or of put");
  }
  STRIPLINE_RETURN_IF_ERROR(check_levels("service_levels.get", service.get));
  return check_levels("service_levels.put", service.put);
}

}  // namespace stripline::model::detail
