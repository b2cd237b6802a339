#include "agent/target_watch.h"

#include <utility>

#include <spdlog/spdlog.h>

namespace stripline::agent {

TargetWatch::TargetWatch(TargetOptions targets, Facts known, double pause_s, double now_s,
                         std::function<void()> wake)
    : targets_(std::move(targets)),
      known_(std::move(known)),
      pause_s_(pause_s),
      beside_(std::move(wake)) {
  if (!targets_.tuned.empty() || !targets_.folders.empty()) next_s_ = now_s + pause_s_;
}

bool TargetWatch::follow(double now_s, bool may_begin) {
  beside_.finish();
  if (may_begin && !looking() && next_s_ && now_s >= *next_s_) {
    next_s_ = now_s + pause_s_;
    beside_.begin([this]() -> SideTask::Then {
      return [this, found = target_facts(targets_)] { take(found); };
    });
  }
  return std::exchange(has_news_, false);
}

std::optional<double> TargetWatch::next_event_s() const {
  return looking() ? std::nullopt : next_s_;
}

// What cannot be looked at now is looked at again.
void TargetWatch::take(const Result<Facts>& found) {
  if (!found.ok()) {
    spdlog::warn("cannot look at other runtimes here: {}", found.error().message());
    return;
  }
  for (const auto& [name, value] : *found) {
    std::string& known = known_[name];
    if (known == value) continue;
    spdlog::info("{} is {} now, and was {}", name, value, known.empty() ? "unknown" : known);
    known = changed_[name] = value;
    has_news_ = true;
  }
}

}  // namespace stripline::agent
