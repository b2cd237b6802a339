#include "server/doors/campaign_events.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "base/number_text.h"
#include "server/clock.h"
#include "server/core/reads.h"
#include "server/store/names.h"

namespace stripline::server {
namespace {

constexpr size_t kEventsAtOnce = 64;
// With more than this, the campaigns that follow wait for the next piece.
constexpr size_t kTextAtOnce = size_t{64} << 10;
// Something is sent this often, so that a reader who has gone is noticed.
constexpr double kSignOfLife_s = 15;

Result<std::string> text_of(const v1::CampaignEvent& event) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string json, json_text(event));
  return "id: " + std::to_string(event.cursor()) + "\nevent: campaign\ndata: " + json + "\n\n";
}

std::string message(const std::string& event, const std::string& data) {
  return "event: " + event + "\ndata: " + dumped(Json(data)) + "\n\n";
}

}  // namespace

std::optional<std::vector<Followed>> parse_followed(const std::string& text) {
  std::vector<Followed> followed;
  std::set<int64_t> seen;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view one = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const size_t colon = std::min(one.find(':'), one.size());
    const auto campaign = parse_campaign_name("campaigns/" + std::string(one.substr(0, colon)));
    if (!campaign || !seen.insert(*campaign).second || followed.size() == kMaxFollowed) {
      return std::nullopt;
    }
    const auto cursor =
        colon < one.size() ? number_from_text<uint64_t>(one.substr(colon + 1)) : uint64_t{0};
    if (!cursor) return std::nullopt;
    followed.push_back({*campaign, *cursor});
  }
  return followed.empty() ? std::nullopt : std::optional(std::move(followed));
}

// One campaign of a stream.
class CampaignEvents::Follower final : public EventListener {
 public:
  Follower(CampaignEvents& stream, WatchHub& hub, const Followed& followed)
      : campaign(followed.campaign), cursor(followed.cursor), stream_(stream), hub_(hub) {
    listening_ = hub_.add(campaign, this);
    if (!listening_) stream_.down_ = true;
  }
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;
  ~Follower() override {
    if (listening_) hub_.remove(campaign, this);
  }

  void on_event() override {
    news = true;
    stream_.wake();
  }
  void on_shutdown() override {
    stream_.down_ = true;
    stream_.wake();
  }

  const int64_t campaign;
  uint64_t cursor;
  std::atomic<bool> news = true;
  bool over = false;

 private:
  CampaignEvents& stream_;
  WatchHub& hub_;
  bool listening_ = false;
};

CampaignEvents::CampaignEvents(Store& store, Refusal refusal, std::shared_ptr<void> place,
                               bool several)
    : store_(store),
      refusal_(std::move(refusal)),
      place_(std::move(place)),
      several_(several),
      sent_s_(steady_seconds()) {}

CampaignEvents::CampaignEvents(Store& store, WatchHub& hub, const Followed& followed,
                               Refusal refusal, std::shared_ptr<void> place)
    : CampaignEvents(store, std::move(refusal), std::move(place), false) {
  add(hub, followed);
}

CampaignEvents::CampaignEvents(Store& store, WatchHub& hub, const std::vector<Followed>& followed,
                               Refusal refusal, std::shared_ptr<void> place)
    : CampaignEvents(store, std::move(refusal), std::move(place), true) {
  for (const Followed& one : followed) add(hub, one);
}

CampaignEvents::~CampaignEvents() = default;

void CampaignEvents::add(WatchHub& hub, const Followed& followed) {
  followers_.push_back(std::make_unique<Follower>(*this, hub, followed));
}

void CampaignEvents::on_news(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

void CampaignEvents::wake() {
  const std::lock_guard lock(mutex_);
  if (wake_) wake_();
}

std::string CampaignEvents::end(const std::string& event, const std::string& data) {
  ended_ = true;
  return message(event, data);
}

std::optional<std::string> CampaignEvents::next() {
  if (ended_) return std::nullopt;
  if (down_) return end("refused", "the server is stopping");
  if (const auto problem = refusal_()) return end("refused", problem->message);
  std::string text;
  for (const auto& follower : followers_) {
    if (ended_ || text.size() > kTextAtOnce) break;
    if (!follower->over && follower->news.exchange(false)) text += read(*follower);
  }
  const double now_s = steady_seconds();
  if (text.empty() && now_s - sent_s_ > kSignOfLife_s) text = ": still here\n\n";
  if (!text.empty()) sent_s_ = now_s;
  return text;
}

// The next page of a campaign's events.
std::string CampaignEvents::read(Follower& follower) {
  const auto over = [&] {
    follower.over = true;
    return several_ ? message("end", campaign_name(follower.campaign)) : end("end", "");
  };
  // Asked before the events are read, as both are stored together: an end that is seen here is
  // among the events, or behind the cursor.
  const auto campaign = store_.campaign(follower.campaign);
  if (!campaign.ok()) return end("refused", campaign.error().message());
  const bool final = !*campaign || is_final((*campaign)->state);
  const auto events = store_.events(follower.campaign, follower.cursor, kEventsAtOnce);
  if (!events.ok()) return end("refused", events.error().message());
  std::string text;
  for (const EventRecord& event : *events) {
    const auto one = event_message(event);
    const auto written = one.ok() ? text_of(*one) : one.error();
    if (!written.ok()) return text + end("refused", written.error().message());
    text += *written;
    follower.cursor = event.cursor;
    if (*campaign && is_last(*one, **campaign)) return text + over();
  }
  if (events->empty() && final) return over();
  if (events->size() == kEventsAtOnce) follower.news = true;
  return text;
}

}  // namespace stripline::server
