#include "optimizer/experiment/point_watch.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/quantity.h"
#include "optimizer/experiment/point_order.h"

namespace stripline::experiment {
namespace {

constexpr double kSilence_s = 15;  // a point that takes longer is reported, each time that it has
// A point that takes longer may be given up, if it takes this many times as long as the slowest one
// before.
constexpr double kLeastPoint_s = 30;
constexpr double kSlowestPoints = 10;
constexpr double kStopped_s = 10;  // a rank's process that is stopped for longer ends the run
constexpr double kMostUnseen_s = 2 * PointWatch::kLook_s;

}  // namespace

PointWatch::PointWatch(const Assignment& assignment, std::string place, double now_s)
    : order_(order_of_points(assignment)),
      place_(std::move(place)),
      since_s_(now_s),
      seen_s_(now_s),
      reported_s_(now_s) {}

std::optional<Point> PointWatch::point_at(uint64_t begun) const {
  if (begun == 0 || begun > order_.size()) return std::nullopt;
  return order_[begun - 1];
}

std::string PointWatch::advice(double now_s, double limit_s) const {
  const auto point = point_at(begun_);
  if (!point || taken_s(now_s) <= limit_s / 2) return "measure fewer points or give it more time";
  return point_key(*point) + " alone had taken " + exact_seconds_text(std::round(taken_s(now_s))) +
         "; leave it out";
}

// The ranks take the points together: the one that is furthest behind says where they are.
PointNews PointWatch::look(double now_s, std::span<const Sight> sights) {
  if (const double unseen_s = now_s - seen_s_ - kMostUnseen_s; unseen_s > 0) {
    since_s_ += unseen_s;
    reported_s_ += unseen_s;
    stopped_since_s_.reset();
  }
  uint64_t behind = UINT64_MAX;
  std::string stopped;
  for (const Sight& sight : sights) {
    behind = std::min(behind, sight.begun);
    if (sight.stopped) stopped += (stopped.empty() ? "" : ", ") + std::to_string(sight.rank);
  }
  if (behind != begun_) {
    // One look alone says nothing of how long a point took.
    if (seen_s_ > since_s_) slowest_s_ = std::max(slowest_s_, now_s - since_s_);
    begun_ = behind;
    since_s_ = reported_s_ = now_s;
  }
  seen_s_ = now_s;
  if (stopped.empty()) {
    stopped_since_s_.reset();
    return judge_point(now_s);
  }
  if (!stopped_since_s_) stopped_since_s_ = now_s;
  return judge_stopped(now_s, stopped);
}

PointNews PointWatch::judge_point(double now_s) {
  const bool silent = now_s - reported_s_ >= kSilence_s;
  if (!silent && taken_s(now_s) < kLeastPoint_s) return {};
  const auto slow = point_at(begun_);
  if (!slow) return {};
  const double limit_s = std::max(kLeastPoint_s, kSlowestPoints * slowest_s_);
  const std::string taken =
      point_key(*slow) + " has taken " + exact_seconds_text(std::round(taken_s(now_s))) + place_;
  const std::string limit = exact_seconds_text(std::round(limit_s));
  if (taken_s(now_s) >= limit_s) {
    return {taken + ", and is given up: the limit by the slowest point before it is " + limit, true,
            slow->experiment};
  }
  if (!silent) return {};
  reported_s_ = now_s;
  return {taken + "; it is given up after " + limit};
}

// What a stopped process measured is not to blame.
PointNews PointWatch::judge_stopped(double now_s, const std::string& ranks) const {
  if (now_s - *stopped_since_s_ < kStopped_s) return {};
  return {
      "rank " + ranks + place_ + " did not go on for " +
          exact_seconds_text(std::round(now_s - *stopped_since_s_)) +
          ": a signal (SIGSTOP or SIGTSTP) or a debugger has stopped the process; see who stops "
          "processes there",
      true};
}

}  // namespace stripline::experiment
