#include "optimizer/fit/coverage.h"

#include <algorithm>
#include <cmath>
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

// A size in the middle of those of a segment, which campaigns measure (full_campaign()): it tells
// which fitted segment answers for them.
uint64_t middle_of(const TrueOperation& truth, std::size_t segment) {
  constexpr double kSmallest = 8;
  constexpr double kLargest = 1 << 20;
  const auto from = static_cast<double>(truth.segments[segment].from_bytes);
  const double to = segment + 1 < truth.segments.size()
                        ? static_cast<double>(truth.segments[segment + 1].from_bytes)
                        : kLargest;
  return static_cast<uint64_t>(std::sqrt(std::max(from, kSmallest) * to));
}

}  // namespace

Kind kind_of(const TrueOperation& operation) {
  if (operation.name == "am") return Kind::am;
  return operation.name == "get" ? Kind::get : Kind::put;
}

void judge_coverage(const TrueOperation& truth, const OperationFit& fit, Tallies& tallies,
                    int& right) {
  const bool one_way = truth.name == "am";
  right += fit.model.segments.size() == truth.segments.size() ? 1 : 0;
  for (std::size_t i = 0; i < truth.segments.size(); ++i) {
    const TrueSegment& s = truth.segments[i];
    const model::Segment& found = segment_for(fit.model, middle_of(truth, i));
    const std::string prefix = truth.name + "[" + std::to_string(i) + "].";
    count(tallies[prefix + "o_base"], found.o_base_s, s.o_base);
    count(tallies[prefix + "o_per_byte"], found.o_per_byte_s, s.o_per_byte);
    count(tallies[prefix + "L"], found.L_s, s.L);
    count(tallies[prefix + "G"], found.G_s_per_byte, s.G);
    if (one_way) continue;
    count(tallies[prefix + "g"], found.g_s, s.g);
    count(tallies[prefix + "r_base"], found.r_base_s, s.r_base);
    count(tallies[prefix + "r_per_byte"], found.r_per_byte_s, s.r_per_byte);
  }
  count(tallies[truth.name + ".Q"], fit.model.queue_depth, truth.queue_depth);
}

void judge_breaks(const TrueOperation& truth, const OperationFit& fit, BreakTally& tally) {
  const auto contains = [](const Breakpoint& at, const TrueSegment& segment) {
    return at.interval_low < segment.from_bytes && segment.from_bytes <= at.interval_high;
  };
  for (const Breakpoint& at : fit.breakpoints) {
    ++tally.fitted;
    tally.covered += std::any_of(truth.segments.begin() + 1, truth.segments.end(),
                                 [&](const TrueSegment& segment) { return contains(at, segment); })
                         ? 1
                         : 0;
  }
  for (std::size_t i = 1; i < truth.segments.size(); ++i) {
    const TrueSegment& above = truth.segments[i];
    const double before_s = latency_s(truth, truth.segments[i - 1], above.from_bytes);
    const double after_s = latency_s(truth, above, above.from_bytes);
    if (std::abs(after_s - before_s) < kVisible * before_s) continue;
    ++tally.visible;
    tally.found += std::ranges::any_of(fit.breakpoints,
                                       [&](const Breakpoint& at) { return contains(at, above); })
                       ? 1
                       : 0;
  }
}

}  // namespace stripline::fit
