#include "server/campaign_events.h"

#include <chrono>
#include <utility>

#include "server/clock.h"
#include "server/reads.h"

namespace stripline::server {
namespace {

constexpr size_t kEventsAtOnce = 64;
constexpr std::chrono::seconds kWait{1};
// Something is sent this often, so that a reader who has gone is noticed.
constexpr double kSignOfLife_s = 15;

Result<std::string> text_of(const v1::CampaignEvent& event) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string json, json_text(event));
  return "id: " + std::to_string(event.cursor()) + "\nevent: campaign\ndata: " + json + "\n\n";
}

}  // namespace

CampaignEvents::CampaignEvents(Store& store, WatchHub& hub, int64_t campaign, uint64_t cursor,
                               std::function<std::optional<Problem>()> refusal)
    : store_(store),
      hub_(hub),
      campaign_(campaign),
      cursor_(cursor),
      refusal_(std::move(refusal)),
      told_s_(steady_seconds()) {
  listening_ = hub_.add(campaign_, this);
  down_ = !listening_;
}

CampaignEvents::~CampaignEvents() {
  if (listening_) hub_.remove(campaign_, this);
}

void CampaignEvents::wake(bool for_good) {
  const std::lock_guard lock(mutex_);
  news_ = true;
  down_ = down_ || for_good;
  woken_.notify_one();
}

std::string CampaignEvents::end(const std::string& event, const std::string& data) {
  ended_ = true;
  return "event: " + event + "\ndata: " + Json(data).dump() + "\n\n";
}

std::optional<std::string> CampaignEvents::next() {
  if (ended_) return std::nullopt;
  {
    std::unique_lock lock(mutex_);
    woken_.wait_for(lock, kWait, [this] { return news_; });
    news_ = false;
    if (down_) return end("refused", "the server is stopping");
  }
  if (const auto problem = refusal_()) return end("refused", problem->message);
  // Asked before the events are read, as both are stored together: an end that is seen here is
  // among the events, or behind the cursor.
  const auto campaign = store_.campaign(campaign_);
  if (!campaign.ok()) return end("refused", campaign.error().message());
  const bool over = !*campaign || is_final((*campaign)->state);
  const auto events = store_.events(campaign_, cursor_, kEventsAtOnce);
  if (!events.ok()) return end("refused", events.error().message());
  std::string text;
  for (const EventRecord& event : *events) {
    const auto message = event_message(event);
    const auto one = message.ok() ? text_of(*message) : message.error();
    if (!one.ok()) return text + end("refused", one.error().message());
    text += *one;
    cursor_ = event.cursor;
    if (*campaign && is_last(*message, **campaign)) return text + end("end", "");
  }
  if (events->empty() && over) return end("end", "");
  if (events->size() == kEventsAtOnce) wake(false);
  const double now_s = steady_seconds();
  if (text.empty() && now_s - told_s_ > kSignOfLife_s) text = ": still here\n\n";
  if (!text.empty()) told_s_ = now_s;
  return text;
}

}  // namespace stripline::server
