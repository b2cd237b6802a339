#include "server/core/watch_hub.h"

#include <utility>

namespace stripline::server {

WatchHub::WatchHub() : teller_([this] { run(); }) {}

WatchHub::~WatchHub() { shutdown(); }

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

size_t WatchHub::listeners() {
  const std::lock_guard lock(mutex_);
  size_t count = 0;
  for (const auto& [campaign, listeners] : listeners_) count += listeners.size();
  return count;
}

void WatchHub::notify(int64_t campaign) {
  {
    const std::lock_guard lock(news_mutex_);
    news_.insert(campaign);
  }
  has_news_.notify_one();
}

void WatchHub::look() {
  {
    const std::lock_guard lock(news_mutex_);
    looking_ = true;
  }
  has_news_.notify_one();
}

void WatchHub::run() {
  std::unique_lock lock(news_mutex_);
  while (true) {
    has_news_.wait(lock, [&] { return stopping_ || looking_ || !news_.empty(); });
    if (stopping_) return;
    const std::set<int64_t> news = std::exchange(news_, {});
    const bool looking = std::exchange(looking_, false);
    lock.unlock();
    if (looking) tell_to_look();
    for (const int64_t campaign : news) tell(campaign);
    lock.lock();
  }
}

void WatchHub::tell(int64_t campaign) {
  const std::lock_guard lock(mutex_);
  const auto found = listeners_.find(campaign);
  if (found == listeners_.end()) return;
  for (EventListener* listener : found->second) listener->on_event();
}

void WatchHub::tell_to_look() {
  const std::lock_guard lock(mutex_);
  for (const auto& [campaign, listeners] : listeners_) {
    for (EventListener* listener : listeners) listener->on_look();
  }
}

void WatchHub::shutdown() {
  {
    const std::lock_guard lock(news_mutex_);
    stopping_ = true;
  }
  has_news_.notify_one();
  if (teller_.joinable()) teller_.join();
  const std::lock_guard lock(mutex_);
  if (std::exchange(down_, true)) return;
  for (const auto& [campaign, listeners] : listeners_) {
    for (EventListener* listener : listeners) listener->on_shutdown();
  }
}

}  // namespace stripline::server
