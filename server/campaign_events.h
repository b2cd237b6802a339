// What happens to a campaign, as an event stream of HTTP (server-sent events).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "server/problem.h"
#include "server/store.h"
#include "server/watch_hub.h"

namespace stripline::server {

/// Asked for one piece after the other, by one thread at a time. Reads events a page at a time, so
/// a slow reader costs no memory.
class CampaignEvents final : public EventListener {
 public:
  /// Events after `cursor`. `refusal` says why the stream may not go on any more; nullopt: it may.
  /// `store` and `hub` must outlive it.
  CampaignEvents(Store& store, WatchHub& hub, int64_t campaign, uint64_t cursor,
                 std::function<std::optional<Problem>()> refusal);
  ~CampaignEvents() override;
  CampaignEvents(const CampaignEvents&) = delete;
  CampaignEvents& operator=(const CampaignEvents&) = delete;

  /// Messages: "campaign" with a CampaignEvent in its JSON form, whose id is the cursor to go on
  /// from; "end" when the campaign has ended and all is told; "refused" with a reason when the
  /// stream ends for another. Waits for a second at most, and is empty if nothing happens. nullopt:
  /// the stream has ended.
  std::optional<std::string> next();

  void on_event() override { wake(false); }
  void on_shutdown() override { wake(true); }

 private:
  void wake(bool for_good);
  std::string end(const std::string& event, const std::string& data);

  Store& store_;
  WatchHub& hub_;
  const int64_t campaign_;
  uint64_t cursor_;
  const std::function<std::optional<Problem>()> refusal_;
  bool listening_ = false;
  bool ended_ = false;
  double told_s_ = 0;  // when something was sent last

  std::mutex mutex_;
  std::condition_variable woken_;
  bool news_ = true;
  bool down_ = false;
};

}  // namespace stripline::server
