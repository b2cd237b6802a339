#include "suites/kernels/update_ways.h"

#include "suites/grids.h"
#include "suites/registry.h"

namespace stripline::suites {
namespace {

constexpr const char* kModeFactor = "mode";

}  // namespace

UpdateWay update_way_of(const experiment::Point& point) {
  const auto names = kernels::kHistogram.variants();
  return static_cast<UpdateWay>(std::ranges::find(names, point.variant) - names.begin());
}

std::vector<experiment::Factor> update_factors() {
  return {integer_factor(factor::kBufferBytes, "B",
                         "Of a buffer of UpdateEpoch; 0: as the runtime chooses; for tuned.",
                         {int64_t{0}}, 0, 1 << 20),
          name_factor(kModeFactor,
                      "Whether updates of one cell may be merged before they are sent; for tuned.",
                      {std::string("accumulate"), std::string("log")})};
}

UpdateOptions update_options_of(const experiment::Point& point) {
  UpdateOptions options;
  options.fills_gaps = true;  // nobody stores into the array meanwhile
  if (experiment::text_param(point, kModeFactor) == "log") options.mode = UpdateMode::log;
  options.settings.buffer_bytes = size_param(point, factor::kBufferBytes);
  return options;
}

}  // namespace stripline::suites
