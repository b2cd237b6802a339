#include "server/watch_hub.h"

namespace stripline::server {

bool WatchHub::add(int64_t campaign, EventListener* listener) {
  const std::lock_guard lock(mutex_);
  if (down_) return false;
  listeners_[campaign].insert(listener);
  return true;
}

void WatchHub::remove(int64_t campaign, EventListener* listener) {
  const std::lock_guard lock(mutex_);
  const auto found = listeners_.find(campaign);
  if (found == listeners_.end()) return;
  found->second.erase(listener);
  if (found->second.empty()) listeners_.erase(found);
}

void WatchHub::notify(int64_t campaign) {
  const std::lock_guard lock(mutex_);
  const auto found = listeners_.find(campaign);
  if (found == listeners_.end()) return;
  for (EventListener* listener : found->second) listener->on_event();
}

void WatchHub::shutdown() {
  const std::lock_guard lock(mutex_);
  down_ = true;
  for (const auto& [campaign, listeners] : listeners_) {
    for (EventListener* listener : listeners) listener->on_shutdown();
  }
}

}  // namespace stripline::server
