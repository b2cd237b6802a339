#include "suites/repeat.h"

#include <algorithm>
#include <utility>

#include "optimizer/stats/stopping.h"

namespace stripline::suites {
namespace {

constexpr uint32_t kMaxWarmup = 8;
constexpr double kSettled = 0.9;             // of the time of the repetition before
constexpr double kWarmupBudgetShare = 0.25;  // of StopRule::time_budget_s

}  // namespace

RepetitionControl::RepetitionControl(const experiment::StopRule& rule, double now_s, double least)
    : rule_(rule), start_s_(now_s), least_(least) {}

bool RepetitionControl::still_warming(double now_s) const {
  if (warmup_ == 0) return true;
  if (now_s - start_s_ >= kWarmupBudgetShare * rule_.time_budget_s) return false;
  if (warmup_ >= kMaxWarmup) return false;
  return warmup_ < 2 || last_ < kSettled * previous_;
}

size_t RepetitionControl::next_batch(double now_s) {
  if (warming_) {
    if (still_warming(now_s)) return 1;
    warming_ = false;
  }
  const double elapsed_s = now_s - start_s_;
  if (!values_.empty()) {
    const auto check = stats::check_repetitions(rule_, values_, elapsed_s, false, least_);
    if (!check.ok()) return 0;  // The rule was checked before; a clock without numbers remains.
    if (check->reason) {
      reason_ = *check->reason;
      return 0;
    }
  }
  const size_t until = stats::next_check(rule_, values_.size());
  const size_t wanted = std::max<size_t>(1, until - std::min(until, values_.size()));
  // What is left of the budget may be nothing: warm-up can use it up.
  const double left_s = std::max(0.0, rule_.time_budget_s - elapsed_s);
  const double each_s = elapsed_s / static_cast<double>(values_.size() + warmup_);
  if (each_s * static_cast<double>(wanted) <= left_s) return wanted;
  return std::max<size_t>(1, static_cast<size_t>(left_s / each_s));
}

void RepetitionControl::add(double value, double now_s) {
  if (warming_) {
    ++warmup_;
    previous_ = last_;
    last_ = value;
    return;
  }
  values_.push_back(value);
  timestamps_s_.push_back(now_s);
}

void RepetitionControl::finish(experiment::SampleSeries& series) {
  series.values = std::move(values_);
  series.timestamps_s = std::move(timestamps_s_);
  series.warmup_dropped = warmup_;
  series.stop_reason = reason_;
}

Status check_stop_rule(const experiment::StopRule& rule) {
  STRIPLINE_RETURN_IF_ERROR(stats::check_repetitions(rule, {}, 0, false));
  return {};
}

void repeat_alone(Session& session, const experiment::StopRule& rule,
                  const std::function<double()>& repetition, experiment::SampleSeries& series) {
  Context& ctx = session.context();
  RepetitionControl control(rule, ctx.now_s());
  while (const size_t batch = control.next_batch(ctx.now_s())) {
    for (size_t i = 0; i < batch; ++i) {
      const double value = repetition();
      control.add(value, ctx.now_s());
    }
  }
  control.finish(series);
}

void repeat_together(Session& session, const experiment::StopRule& rule,
                     const std::function<double()>& repetition, experiment::SampleSeries& series,
                     double least) {
  Context& ctx = session.context();
  const bool decides = ctx.rank_me() == 0;
  RepetitionControl control(rule, ctx.now_s(), least);
  for (;;) {
    uint64_t batch = decides ? control.next_batch(ctx.now_s()) : 0;
    batch = ctx.broadcast(batch, 0);
    if (batch == 0) break;
    for (uint64_t i = 0; i < batch; ++i) {
      const double value = ctx.reduce_all(repetition(), Context::ReduceOp::max);
      if (decides) control.add(value, ctx.now_s());
    }
  }
  if (decides) control.finish(series);
}

}  // namespace stripline::suites
