#include "optimizer/targets/chapel/chapel.h"

namespace stripline::targets::chapel {
namespace {

constexpr const char* kSource = "CopyAggregation.chpl and the documentation of the ofi layer";

constexpr Knob kKnobs[] = {
    count_knob("CHPL_AGGREGATION_DST_BUFF_SIZE", "8192", {16, 1 << 20}, "1024 4096 32768",
               "updates of other locales that a task collects for each", kSource)
        .on(Path::any, 16),
    count_knob("CHPL_AGGREGATION_SRC_BUFF_SIZE", "8192", {16, 1 << 20}, "1024 4096 32768",
               "reads from other locales that a task collects for each", kSource)
        .on(Path::any, 16),
    count_knob("CHPL_AGGREGATION_YIELD_FREQUENCY", "1024", {1, 1 << 24}, "256 4096",
               "aggregated operations after which a task lets others run", kSource),
};

}  // namespace

const Target& target() {
  static const Target kTarget{.name = "chapel", .title = "Chapel", .knobs = kKnobs};
  return kTarget;
}

}  // namespace stripline::targets::chapel
