#include "optimizer/targets/chapel/chapel.h"

namespace stripline::targets::chapel {
namespace {

constexpr const char* kSource = "CopyAggregation.chpl and the documentation of the ofi layer";

constexpr Knob kKnobs[] = {
    {.name = "CHPL_AGGREGATION_DST_BUFF_SIZE",
     .kind = KnobKind::count,
     .default_value = "8192",
     .least = 16,
     .most = 1 << 20,
     .values = "1024 4096 32768",
     .memory_per_peer = 16,
     .meaning = "updates of other locales that a task collects for each",
     .found = kSource},
    {.name = "CHPL_AGGREGATION_SRC_BUFF_SIZE",
     .kind = KnobKind::count,
     .default_value = "8192",
     .least = 16,
     .most = 1 << 20,
     .values = "1024 4096 32768",
     .memory_per_peer = 16,
     .meaning = "reads from other locales that a task collects for each",
     .found = kSource},
    {.name = "CHPL_AGGREGATION_YIELD_FREQUENCY",
     .kind = KnobKind::count,
     .default_value = "1024",
     .least = 1,
     .most = 1 << 24,
     .values = "256 4096",
     .meaning = "aggregated operations after which a task lets others run",
     .found = kSource},
};

}  // namespace

const Target& target() {
  static const Target kTarget{.name = "chapel", .title = "Chapel", .knobs = kKnobs};
  return kTarget;
}

}  // namespace stripline::targets::chapel
