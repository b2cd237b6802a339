#include "optimizer/stats/stopping.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"
#include "optimizer/stats/variance.h"

namespace stripline::stats {
namespace {

using experiment::StopReason;
using experiment::StopRule;

constexpr double kCheckGrowth = 1.5;

Status check_rule(const StopRule& rule) {
  if (rule.max_reps == 0 || rule.min_reps > rule.max_reps) {
    return Error(ErrorCode::invalid_argument,
                 "stop rule: min_reps " + std::to_string(rule.min_reps) +
                     " must not exceed max_reps " + std::to_string(rule.max_reps) +
                     ", and max_reps must be at least 1");
  }
  if (!(rule.confidence > 0.0 && rule.confidence < 1.0)) {
    return Error(ErrorCode::invalid_argument, "stop rule: confidence must lie between 0 and 1");
  }
  if (!(rule.relative_half_width >= 0.0)) {
    return Error(ErrorCode::invalid_argument,
                 "stop rule: relative_half_width must not be negative");
  }
  return {};
}

double relative_half_width(const Interval& interval, double centre) {
  const double half = interval.half_width();
  if (half == 0.0) return 0.0;
  return centre == 0.0 ? std::numeric_limits<double>::infinity() : half / centre;
}

}  // namespace

std::size_t next_check(const StopRule& rule, std::size_t current) {
  const auto grown =
      static_cast<std::size_t>(std::ceil(kCheckGrowth * static_cast<double>(current)));
  return std::min<std::size_t>(rule.max_reps, std::max<std::size_t>({rule.min_reps, grown, 1}));
}

Result<StopCheck> check_repetitions(const StopRule& rule, std::span<const double> samples,
                                    double elapsed_s, bool cancelled, double least) {
  STRIPLINE_RETURN_IF_ERROR(check_rule(rule));
  StopCheck check;
  check.relative_half_width = std::numeric_limits<double>::infinity();
  if (!samples.empty()) {
    STRIPLINE_RETURN_IF_ERROR(check_finite(samples, "repetitions"));
    const Dependence dependence = lag1_dependence(samples);
    const std::vector<double> batches = batch_medians(samples, dependence.batch_size);
    if (const auto interval = median_interval(batches, rule.confidence); interval.ok()) {
      check.relative_half_width =
          relative_half_width(*interval, std::max(std::abs(median(samples)), least));
    }
  }
  if (cancelled) {
    check.reason = StopReason::cancelled;
  } else if (samples.size() >= rule.min_reps &&
             check.relative_half_width <= rule.relative_half_width) {
    check.reason = StopReason::converged;
  } else if (samples.size() >= rule.max_reps) {
    check.reason = StopReason::max_reps;
  } else if (elapsed_s >= rule.time_budget_s) {
    check.reason = StopReason::time_budget;
  }
  return check;
}

}  // namespace stripline::stats
