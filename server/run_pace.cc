#include "server/run_pace.h"

#include <algorithm>

namespace stripline::server {
namespace {

// Reports come about once a second: after so long there have been two, or one point is slow.
constexpr double kLeastEvidenceS = 2;

}  // namespace

void RunPace::joined(double now_s) {
  if (!joined_s_) joined_s_ = now_s;
}

void RunPace::report(double now_s, uint32_t points) {
  if (points == 0 || (last_ && points <= last_->points)) return;
  last_ = {now_s, points};
  if (!first_) first_ = last_;
}

std::optional<Pace> RunPace::pace() const {
  const double began_s = joined_s_.value_or(placed_s_);
  if (!last_ || last_->time_s - began_s < kLeastEvidenceS) return std::nullopt;
  if (last_->points == first_->points) {
    return Pace{began_s - placed_s_, (last_->time_s - began_s) / last_->points};
  }
  // Between two reports nothing but points takes time: connections are made before the first.
  const double point_s = (last_->time_s - first_->time_s) / (last_->points - first_->points);
  return Pace{std::max(began_s, first_->time_s - point_s * first_->points) - placed_s_, point_s};
}

double RunPace::start_s() const {
  const auto known = pace();
  return known ? known->start_s : joined_s_.value_or(placed_s_) - placed_s_;
}

}  // namespace stripline::server
