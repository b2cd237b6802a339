#include "optimizer/campaign/run_pace.h"

#include <algorithm>

namespace stripline::campaign {
namespace {

// An estimate from less would be a guess: a number of points between two reports, or, where they
// are slow, a time of measuring points.
constexpr uint32_t kLeastEvidencePoints = 4;
constexpr double kSlowEvidenceS = 6;

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
  if (!last_) return std::nullopt;
  const double measured_s = last_->time_s - began_s;
  const bool enough = last_->points - first_->points >= kLeastEvidencePoints;
  if (measured_s < (enough ? kLeastEvidenceS : kSlowEvidenceS)) return std::nullopt;
  if (last_->points == first_->points) return Pace{began_s - placed_s_, measured_s / last_->points};
  // Between two reports nothing but points takes time: connections are made before the first.
  const double point_s = (last_->time_s - first_->time_s) / (last_->points - first_->points);
  return Pace{std::max(began_s, first_->time_s - point_s * first_->points) - placed_s_, point_s};
}

double RunPace::start_s() const {
  const auto known = pace();
  return known ? known->start_s : joined_s_.value_or(placed_s_) - placed_s_;
}

}  // namespace stripline::campaign
