// Tells watchers of campaigns that there may be new events in the store.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>

namespace stripline::server {

/// Someone who follows a campaign.
class EventListener {
 public:
  virtual ~EventListener() = default;
  /// There may be new events. Called from any thread; must neither block for long nor call the hub.
  virtual void on_event() = 0;
  /// The server is stopping: end the stream.
  virtual void on_shutdown() = 0;
};

/// Thread-safe. No callback runs after remove() has returned.
class WatchHub {
 public:
  /// False when the hub has been shut down: the listener is not added.
  bool add(int64_t campaign, EventListener* listener);
  void remove(int64_t campaign, EventListener* listener);
  void notify(int64_t campaign);
  void shutdown();

 private:
  std::mutex mutex_;
  bool down_ = false;
  std::map<int64_t, std::set<EventListener*>> listeners_;
};

}  // namespace stripline::server
