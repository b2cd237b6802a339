// Tells watchers of campaigns that there may be new events in the store.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace stripline::server {

/// Someone who follows a campaign.
class EventListener {
 public:
  virtual ~EventListener() = default;
  /// There may be new events. Must neither block for long nor call the hub.
  virtual void on_event() = 0;
  /// Now and then, so that a stream is ended whose reader may not read any more. As on_event().
  virtual void on_look() {}
  /// The server is stopping: end the stream.
  virtual void on_shutdown() = 0;
};

/// Thread-safe. Listeners are notified on a thread of the hub's, one after the other, so that
/// whoever has news need not wait for them. No callback runs after remove() has returned.
class WatchHub {
 public:
  WatchHub();
  ~WatchHub();
  WatchHub(const WatchHub&) = delete;
  WatchHub& operator=(const WatchHub&) = delete;

  /// False when the hub has been shut down: the listener is not added.
  bool add(int64_t campaign, EventListener* listener);
  void remove(int64_t campaign, EventListener* listener);
  size_t listeners();
  /// The campaign's listeners are notified soon; once for several calls in a row.
  void notify(int64_t campaign);
  /// All listeners are asked to look soon.
  void look();
  /// All listeners have been notified when it returns.
  void shutdown();

 private:
  void run();
  void tell(int64_t campaign);
  void tell_to_look();

  std::mutex news_mutex_;
  std::condition_variable has_news_;
  std::set<int64_t> news_;  // campaigns
  bool looking_ = false;
  bool stopping_ = false;

  std::mutex mutex_;  // while listeners are notified; never taken beside the other
  bool down_ = false;
  std::map<int64_t, std::set<EventListener*>> listeners_;

  std::thread teller_;
};

}  // namespace stripline::server
