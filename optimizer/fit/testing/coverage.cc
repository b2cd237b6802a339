#include "optimizer/fit/testing/coverage.h"

#include <cstdint>
#include <optional>

namespace stripline::fit {
namespace {

void count(Tally& tally, const std::optional<model::Parameter>& parameter, double truth) {
  if (!parameter || parameter->at_least) {
    ++tally.absent;
    return;
  }
  ++tally.fitted;
  if (parameter->ci_low <= truth && truth <= parameter->ci_high) ++tally.covered;
  if (truth > 0.0) {
    tally.half_widths.push_back((parameter->ci_high - parameter->ci_low) / 2.0 / truth);
  }
}

const model::Segment& segment_for(const model::OperationModel& operation, uint64_t bytes) {
  for (const model::Segment& segment : operation.segments) {
    if (bytes < segment.to_bytes) return segment;
  }
  return operation.segments.back();
}

}  // namespace

Kind kind_of(const TrueOperation& operation) {
  if (operation.name == "am") return Kind::am;
  return operation.name == "get" ? Kind::get : Kind::put;
}

void judge_coverage(const TrueOperation& truth, const OperationFit& fit, Tallies& tallies,
                    int& right) {
  const bool unanswered = truth.name == "am";
  right += fit.model.segments.size() == truth.segments.size() ? 1 : 0;
  for (std::size_t i = 0; i < truth.segments.size(); ++i) {
    const TrueSegment& s = truth.segments[i];
    // A size in the middle of the segment's sizes tells which fitted segment answers for it.
    const uint64_t probe = i == 0 ? 256 : 131072;
    const model::Segment& found = segment_for(fit.model, probe);
    const std::string prefix = truth.name + "[" + std::to_string(i) + "].";
    count(tallies[prefix + "o_base"], found.o_base_s, s.o_base);
    count(tallies[prefix + "o_per_byte"], found.o_per_byte_s, s.o_per_byte);
    count(tallies[prefix + "L"], found.L_s, s.L);
    count(tallies[prefix + "G"], found.G_s_per_byte, s.G);
    if (unanswered) continue;
    count(tallies[prefix + "g"], found.g_s, s.g);
    count(tallies[prefix + "r_base"], found.r_base_s, s.r_base);
    count(tallies[prefix + "r_per_byte"], found.r_per_byte_s, s.r_per_byte);
  }
  count(tallies[truth.name + ".Q"], fit.model.queue_depth, truth.queue_depth);
}

}  // namespace stripline::fit
