// What happens to campaigns, as an event stream of HTTP (server-sent events).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/core/watch_hub.h"
#include "server/doors/http/message.h"
#include "server/problem.h"
#include "server/store/store.h"

namespace stripline::server {

/// A campaign to follow, from after the event with this cursor.
struct Followed {
  int64_t campaign = 0;
  uint64_t cursor = 0;
};

/// "c1:17,c2:0". nullopt where it is not such a list, names a campaign twice or more than
/// kMaxFollowed.
std::optional<std::vector<Followed>> parse_followed(const std::string& text);
inline constexpr size_t kMaxFollowed = 32;

/// Reads events a page at a time, so a slow reader costs no memory.
class CampaignEvents final : public http::Pieces {
 public:
  /// Why the stream may not go on any more; nullopt: it may.
  using Refusal = std::function<std::optional<Problem>()>;

  /// One campaign: the stream ends with it.
  CampaignEvents(Store& store, WatchHub& hub, const Followed& followed, Refusal refusal,
                 std::shared_ptr<void> place);
  /// Several: the stream names those that end, and stays. `store` and `hub` must outlive it.
  CampaignEvents(Store& store, WatchHub& hub, const std::vector<Followed>& followed,
                 Refusal refusal, std::shared_ptr<void> place);
  ~CampaignEvents() override;
  CampaignEvents(const CampaignEvents&) = delete;
  CampaignEvents& operator=(const CampaignEvents&) = delete;

  /// Messages: "campaign" with a CampaignEvent in its JSON form, whose id is the cursor to go on
  /// from; "end" when a campaign has ended and all of its events are sent, with its name where
  /// there are several; "refused" with a reason when the stream ends for another.
  std::optional<std::string> next() override;
  void on_news(std::function<void()> wake) override;
  bool endless() const override { return true; }

 private:
  class Follower;
  CampaignEvents(Store& store, Refusal refusal, std::shared_ptr<void> place, bool several);
  void add(WatchHub& hub, const Followed& followed);
  std::string end(const std::string& event, const std::string& data);
  std::string read(Follower& follower);
  void wake();

  Store& store_;
  const Refusal refusal_;
  const std::shared_ptr<void> place_;
  const bool several_;
  bool ended_ = false;
  double sent_s_ = 0;  // when something was sent last

  std::mutex mutex_;  // of wake_, which the hub's thread calls
  std::function<void()> wake_;
  std::atomic<bool> down_ = false;
  std::vector<std::unique_ptr<Follower>> followers_;  // first to end: the hub knows them
};

}  // namespace stripline::server
