#include "runtime/update/chooser.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include <stripline/team.h>

#include "base/quantity.h"
#include "base/random.h"
#include "optimizer/plan/update_mechanism.h"
#include "runtime/decide/choice.h"
#include "runtime/rma/explain_command.h"

namespace stripline::update {
namespace {

// Sums over ranks, in this order; behind them updates by period, and by owner, where those were
// counted closely.
enum Sum : size_t {
  kUpdates,
  kOwn,
  kFetches,
  kCells,
  kSpan,
  kRanksWithSpan,
  kCompared,
  kAlike,
  kSums
};

// Periods that are counted closely: the first ones of a site, then one after so many, and after
// each twice as many as before, up to the most.
constexpr uint64_t kFirstPeriods = 2;
constexpr uint64_t kLookAgain = 16;
constexpr uint64_t kLookSeldom = 1024;
// Periods that are decided on at a time, where few are known; more with every one that is.
constexpr uint64_t kFewAhead = 4;
// The first ones of a decision, which may be wrong.
constexpr uint32_t kFewestAhead = 2;
// Later, so many that adding up takes no more than this part of them.
constexpr double kMostOfAdding = 0.005;
// A plan is made anew when so many periods, one after the other, were others by this factor than
// those that it was made for.
constexpr double kDrift = 2;
constexpr uint32_t kStrange = 2;
// An owner with this many times its equal part is a busy one.
constexpr uint64_t kUneven = 2;

bool far_apart(uint64_t a, uint64_t b) {
  const auto x = static_cast<double>(a);
  const auto y = static_cast<double>(b);
  return x > kDrift * y || y > kDrift * x;
}

bool differs(const plan::UpdateRequest& a, const plan::UpdateRequest& b) {
  return far_apart(a.updates, b.updates) || far_apart(a.cells, b.cells) ||
         far_apart(a.span_bytes, b.span_bytes) || a.fetches != b.fetches ||
         a.one_value != b.one_value || far_apart(a.hottest_percent, b.hottest_percent);
}

}  // namespace

model::Path path_of_updates(const rma::Job& job) {
  model::Path path = model::Path::network;
  for (rank_t rank = 0; rank < job.ranks(); ++rank) {
    if (rank == job.rank()) continue;
    path = job.path_to(rank);
    if (path == model::Path::network) break;
  }
  return path;
}

Chooser::Chooser(Context& context, UpdateSites& sites, const plan::UpdateRequest& request,
                 uint64_t type, uint32_t unit, CallSite call)
    : context_(context),
      state_(context.state()),
      sites_(sites),
      known_(request),
      place_{stripline::hash_of(reinterpret_cast<uintptr_t>(call.file), call.line, type,
                                request.item_bytes, request.separate, request.ordered,
                                request.no_identity, request.max_buffer_bytes)},
      unit_(unit),
      call_(call),
      path_(path_of_updates(state_.job)),
      costs_(state_.job.compiled().update(path_)),
      seen_(request) {}

Chooser::~Chooser() {
  if (site_ == nullptr) return;
  site_->taken = false;
  --site_->users;
}

void Chooser::begin() {
  if (context_.rank_me() == 0) start();
  tell();
}

bool Chooser::ended(Tally& mine) {
  mine.end_period();
  if (context_.rank_me() == 0) {
    const double now_s = state_.job.fabric().now_s();
    turns_[period_].seconds = now_s - std::exchange(begun_s_, now_s);
  }
  return ++period_ == told_.periods;
}

void Chooser::next(const Tally& mine) {
  const double begun_s = begun_s_;
  finish(mine);
  begin();
  if (context_.rank_me() == 0) adding_s_ = begun_s_ - begun_s;
}

void Chooser::finish(const Tally& mine) {
  const std::vector<uint64_t> sums = add_up(mine);
  if (context_.rank_me() == 0) learn(sums);
}

void Chooser::tell() {
  context_.broadcast(std::as_writable_bytes(std::span(&told_, 1)), 0, call_);
  period_ = 0;
  if (context_.rank_me() == 0) begun_s_ = state_.job.fabric().now_s();
}

std::vector<uint64_t> Chooser::add_up(const Tally& mine) const {
  std::vector<uint64_t> sums(kSums);
  sums[kUpdates] = mine.updates;
  sums[kOwn] = mine.own;
  sums[kFetches] = mine.fetches;
  sums[kCells] = mine.cells();
  if (mine.lowest <= mine.highest) {
    sums[kSpan] = mine.highest - mine.lowest + 1;
    sums[kRanksWithSpan] = 1;
  }
  sums[kCompared] = mine.compared;
  sums[kAlike] = mine.alike;
  sums.insert(sums.end(), mine.of_period.begin(), mine.of_period.begin() + mine.periods);
  sums.insert(sums.end(), mine.by_owner.begin(), mine.by_owner.end());
  team::world(context_).reduce(sums, sums, op_add{}, 0, collective_algorithm::automatic, call_);
  return sums;
}

// --- rank 0 --------------------------------------------------------------------------------------

// The methods of the next periods.
void Chooser::start() {
  UpdateSite* other = nullptr;
  if (site_ == nullptr) {
    UpdateSite& site = sites_.find_or_make(place_, [](UpdateSite&) {});
    if (site.taken) {
      other = &site;
    } else {
      site_ = &site;
      site_->taken = true;
      ++site_->users;
    }
  }
  site_ == nullptr || site_->decisions == 0 ? start_unknown(other) : plan_ahead();
}

// Two epochs of a place at a time disturb each other's times.
void Chooser::start_unknown(const UpdateSite* other) {
  const bool known = other != nullptr && other->decisions > 0;
  given_ = known ? plan_of(*other, other->race().in_use()) : plan::plan_update(known_, nullptr);
  told_ = {.ways = {given_.way}, .periods = known ? kMostAhead : 1, .closely = other == nullptr};
}

void Chooser::plan_ahead() {
  UpdateSite& site = *site_;
  decide::Race ahead = site.race();
  const auto next = [&] { return races() ? ahead.next() : decide::Race::Turn{site.decided()}; };
  told_ = {};
  told_.periods = 0;
  decide::Race::Turn turn = next();
  add_turn(turn);
  // What is counted closely takes longer.
  told_.closely = site.periods >= site.look_again && !turn.check;
  if (told_.closely || site.has_gaps || site.strange > 0) return;
  const auto most = site.is_new
                        ? kFewestAhead
                        : static_cast<uint32_t>(std::clamp<uint64_t>(
                              std::max(site.periods / 2, worth_adding()), kFewAhead, kMostAhead));
  while (told_.periods < most && !turn.last) {
    turn = next();
    if (!add_turn(turn)) return;
  }
}

// Periods beside which adding up does not matter.
uint64_t Chooser::worth_adding() const {
  if (!(period_s_ > 0)) return 0;
  const double periods = adding_s_ / (kMostOfAdding * period_s_);
  return periods < kMostAhead ? static_cast<uint64_t>(periods) : kMostAhead;
}

bool Chooser::races() const {
  return state_.mechanisms.instruments().run_guard != nullptr && site_->race().has_rivals();
}

// False if it cannot be told together with those before.
bool Chooser::add_turn(const decide::Race::Turn& turn) {
  const plan::UpdateCandidate& way = plan_of(turn.arm).way;
  if (told_.periods == 0) told_.ways = {way, way};
  if (way != told_.ways[0]) {
    // A rank that sends on for others must know that all have come to the end.
    if (way.hops > 1 || told_.ways[0].hops > 1) return false;
    if (told_.others != 0 && way != told_.ways[1]) return false;
    told_.ways[1] = way;
    told_.others |= uint32_t{1} << told_.periods;
  }
  turns_[told_.periods++].of_race = turn;
  return true;
}

// What the updates of all ranks were.
void Chooser::learn(std::span<const uint64_t> sums) {
  const auto of_periods = sums.subspan(kSums, period_);
  const auto periods = static_cast<uint64_t>(
      std::ranges::count_if(of_periods, [](uint64_t updates) { return updates > 0; }));
  if (periods == 0) return;
  seen_ = request_of(sums, periods);
  record(of_periods);
  if (site_ == nullptr) return;
  UpdateSite& site = *site_;
  // The last ones may be those of an epoch that makes no more.
  const auto with_updates = of_periods.first(periods);
  site.has_gaps = site.has_gaps || std::ranges::find(with_updates, 0U) != with_updates.end();
  site.periods += periods;
  if (told_.closely && site.periods >= kFirstPeriods) {
    site.look_again = site.periods + std::clamp(site.periods, kLookAgain, kLookSeldom);
  }
  // What is another one but once is no reason to start over.
  site.strange = differs(site.request, seen_) ? site.strange + 1 : 0;
  if (site.decisions > 0 && site.strange < kStrange) return;
  site.request = seen_;
  site.strange = 0;
  decide();
}

// The mean updates of a period: `sums` are those of `periods` of them.
plan::UpdateRequest Chooser::request_of(std::span<const uint64_t> sums, uint64_t periods) const {
  const uint64_t ranks = known_.ranks;
  const bool known = site_ != nullptr && site_->decisions > 0;
  const plan::UpdateRequest& before = known ? site_->request : seen_;
  plan::UpdateRequest seen = known_;
  seen.updates = std::max<uint64_t>(1, sums[kUpdates] / (ranks * periods));
  seen.local_percent = static_cast<uint32_t>(100 * sums[kOwn] / sums[kUpdates]);
  seen.fetches = 2 * sums[kFetches] > sums[kUpdates];
  const auto by_owner = sums.subspan(kSums + period_);
  const uint64_t counted = std::accumulate(by_owner.begin(), by_owner.end(), uint64_t{0});
  seen.one_value = sums[kCompared] > 0 ? sums[kAlike] == sums[kCompared] : before.one_value;
  if (counted > 0) {
    seen.cells = std::clamp<uint64_t>(sums[kCells] / ranks, 1, seen.updates);
    seen.span_bytes = std::max<uint64_t>(
        seen.item_bytes, sums[kSpan] / std::max<uint64_t>(1, sums[kRanksWithSpan]) * unit_);
    const uint64_t most = *std::ranges::max_element(by_owner);
    const auto percent = static_cast<uint32_t>((100 * most + counted - 1) / counted);
    // An equal part is what is usual.
    seen.hottest_percent = percent * ranks > kUneven * 100 ? percent : 0;
  } else {
    seen.cells = before.cells * seen.updates / before.updates;
    seen.span_bytes = before.span_bytes;
    seen.hottest_percent = before.hottest_percent;
  }
  return seen;
}

// What the periods took, up to one without updates.
void Chooser::record(std::span<const uint64_t> of_periods) {
  const bool known = site_ != nullptr && site_->decisions > 0;
  const plan::UpdateRequest& request = known ? site_->request : seen_;
  const bool traced = state_.mechanisms.instruments().trace != nullptr;
  const auto end = std::ranges::find(of_periods, 0U);
  const auto periods = static_cast<size_t>(end - of_periods.begin());
  const bool raced = known && races();
  // As they were told ahead, before any of these times was known.
  for (size_t i = 0; raced && i < periods; ++i) site_->race().next();
  period_s_ = 0;
  for (size_t i = 0; i < periods; ++i) {
    const Turn& turn = turns_[i];
    if (i == 0 || turn.seconds < period_s_) period_s_ = turn.seconds;
    if (traced) {
      note(known ? plan_of(turn.of_race.arm) : given_, request, of_periods[i], turn.seconds);
    }
    if (!known && site_ != nullptr && (i == 0 || turn.seconds < site_->baseline_s)) {
      site_->baseline_s = turn.seconds;
      site_->baseline_updates = of_periods[i];
    }
    if (known) site_->is_new = false;
    if (!raced) continue;
    const double scale = static_cast<double>(request.updates) * static_cast<double>(known_.ranks) /
                         static_cast<double>(of_periods[i]);
    site_->race().record(turn.of_race, scale * turn.seconds);
  }
}

plan::UpdatePlan Chooser::plan_of(const UpdateSite& site, decide::Arm arm) const {
  if (arm == decide::kBaseline) return plan::baseline_of_update(site.request, costs_);
  plan::UpdatePlan plan = plan::force_update(site.request, costs_, site.rivals[arm - 1U]);
  plan.reason = plan::Reason::tied;
  return plan;
}

const plan::UpdatePlan& Chooser::plan_of(decide::Arm arm) {
  return site_->plan(arm, [this](decide::Arm of, double) { return plan_of(*site_, of); });
}

void Chooser::decide() {
  UpdateSite& site = *site_;
  const plan::UpdatePlan plan = plan::plan_update(site.request, costs_);
  const size_t rivals = plan::rivals_of_update(site.request, costs_, site.rivals);
  ++site.decisions;
  site.is_new = true;
  const bool tuned = plan.way != plan::baseline_of_update(site.request, nullptr).way;
  if (tuned) {
    // The planner's own is the first one, which nothing is faster than.
    site.rivals[0] = plan.way;
    site.UpdateSite::Base::decide(decide::Arm{1}, plan, static_cast<decide::Arm>(1 + rivals),
                                  decide::Race::Of::turns);
  } else if (rivals > 0) {
    const auto last = static_cast<decide::Arm>(rivals);
    site.compare(last, plan_of(site, last), decide::Race::Of::turns);
  } else {
    site.UpdateSite::Base::decide(decide::kBaseline, plan, 1);
  }
  if (!site.race().has_rivals()) return;
  std::array<plan::Guard::Forecast, kUpdateArms> forecasts;
  for (size_t arm = 0; arm <= rivals; ++arm) {
    const double predicted_s = plan_of(site, static_cast<decide::Arm>(arm)).predicted_s;
    forecasts.at(arm) = {predicted_s, predicted_s, predicted_s};
  }
  const double of_all =
      static_cast<double>(site.request.updates) * static_cast<double>(known_.ranks);
  const double scale =
      site.baseline_updates > 0 ? of_all / static_cast<double>(site.baseline_updates) : 0.0;
  site.race().expect(forecasts, scale * site.baseline_s);
}

void Chooser::note(const plan::UpdatePlan& plan, const plan::UpdateRequest& request,
                   uint64_t updates, double seconds) const {
  const bool known = site_ != nullptr && site_->decisions > 0;
  plan::UpdatePlan carried_out = plan;
  carried_out.predicted_s *= static_cast<double>(updates) / static_cast<double>(known_.ranks) /
                             static_cast<double>(request.updates);
  state_.mechanisms.instruments().trace->note(
      call_, place_.hash,
      decide::choice_of<plan::UpdateMechanism>(request, carried_out, site_ != nullptr && !known),
      seconds, "updates of " + exact_bytes_text(request.item_bytes), [&] {
        return known ? detail::explain_command<plan::UpdateMechanism>(state_, request, path_)
                     : std::string();
      });
}

}  // namespace stripline::update
