#include "agent/stay.h"

#include <algorithm>

namespace stripline::agent {

void Stay::leave(double now_s, double limit_s) {
  leaving_ = true;
  const double stop_s = now_s + limit_s;
  stop_s_ = stop_s_ ? std::min(*stop_s_, stop_s) : stop_s;
}

Stay::Wish Stay::wish(double now_s, bool measuring) {
  if (measuring || measuring_) idle_since_s_ = now_s;
  measuring_ = measuring;
  if (limits_.end_s && now_s >= *limits_.end_s - limits_.leave_before_end_s) {
    leave(now_s, std::max(0.0, *limits_.end_s - limits_.stop_before_end_s - now_s));
  }
  idle_ = !measuring && !leaving_ && limits_.idle_s && now_s >= idle_since_s_ + *limits_.idle_s;
  if (idle_) return Wish::stop;
  if (!leaving_) return Wish::stay;
  return measuring && now_s < *stop_s_ ? Wish::leave : Wish::stop;
}

std::optional<double> Stay::next_event_s() const {
  std::optional<double> next = stop_s_;
  const auto consider = [&](double time_s) { next = next ? std::min(*next, time_s) : time_s; };
  if (limits_.end_s && !leaving_) consider(*limits_.end_s - limits_.leave_before_end_s);
  if (limits_.idle_s && !measuring_) consider(idle_since_s_ + *limits_.idle_s);
  return next;
}

std::optional<double> Stay::available_s(double now_s) const {
  if (!limits_.end_s) return std::nullopt;
  return std::max(0.0, *limits_.end_s - limits_.leave_before_end_s - now_s);
}

}  // namespace stripline::agent
