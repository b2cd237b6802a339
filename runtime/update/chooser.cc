#include "runtime/update/chooser.h"

#include <algorithm>
#include <numeric>
#include <string>

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

// Periods that are counted closely: the first ones of a site, then one after kLookAgain, and after
// each twice as many as before, up to kLookSeldom.
constexpr uint64_t kFirstPeriods = 2;
constexpr uint64_t kLookAgain = 16;
constexpr uint64_t kLookSeldom = 1024;
// Periods that are decided on at a time, where few are known; more with every one that is.
constexpr uint64_t kFewAhead = 4;
// The first ones of a decision, which may be wrong.
constexpr uint32_t kFewestAhead = 2;
// Later, as many as make adding up take no more than this part of them.
constexpr double kMostOfAdding = 0.005;
// A plan is made again when kStrange periods in a row differ by this factor from those that it was
// made for.
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
  announce();
}

bool Chooser::ended(Tally& mine) {
  mine.end_period();
  if (context_.rank_me() == 0) periods_.ended();
  return ++period_ == announced_.periods;
}

void Chooser::next(const Tally& mine) {
  const double begun_s = periods_.begun_s();
  finish(mine);
  begin();
  if (context_.rank_me() == 0) adding_s_ = periods_.begun_s() - begun_s;
}

void Chooser::finish(const Tally& mine) {
  const std::vector<uint64_t> sums = add_up(mine);
  if (context_.rank_me() == 0) learn(sums);
}

void Chooser::announce() {
  context_.broadcast(std::as_writable_bytes(std::span(&announced_, 1)), 0, call_);
  period_ = 0;
  if (context_.rank_me() == 0) periods_.restart_clock();
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
  given_.emplace(known ? plan_of(*other, other->race().in_use())
                       : plan::plan_update(known_, nullptr));
  const uint32_t periods = known ? decide::kMostAhead : 1;
  periods_.begin(state_.mechanisms.instruments(), *given_, periods);
  announced_ = {.candidates = {given_->candidate},
                .periods = periods,
                .closely = other == nullptr,
                .span_bytes = known ? other->request.span_bytes : known_.span_bytes};
}

void Chooser::plan_ahead() {
  UpdateSite& site = *site_;
  announced_ = {};
  announced_.span_bytes = site.request.span_bytes;
  periods_.begin(state_.mechanisms.instruments(), site);
  const auto add = [this] {
    return periods_.add(
        *this, [&](const plan::UpdatePlan& plan) { return announce_also(plan.candidate); });
  };
  add();
  // What is counted closely takes longer.
  announced_.closely = site.periods >= site.look_again && !periods_.is_check(0);
  const bool alone = announced_.closely || site.has_gaps || site.strange > 0;
  const uint64_t known = std::max(site.periods / 2, worth_adding());
  const uint64_t most = alone         ? 1
                        : site.is_new ? kFewestAhead
                                      : std::clamp<uint64_t>(known, kFewAhead, decide::kMostAhead);
  while (periods_.count() < most && periods_.is_open() && add()) {
  }
  announced_.periods = periods_.count();
}

// Periods beside which adding up does not matter.
uint64_t Chooser::worth_adding() const {
  if (!(period_s_ > 0)) return 0;
  const double periods = adding_s_ / (kMostOfAdding * period_s_);
  return periods < decide::kMostAhead ? static_cast<uint64_t>(periods) : decide::kMostAhead;
}

// False if the next period's method cannot be sent together with those before.
bool Chooser::announce_also(const plan::UpdateCandidate& candidate) {
  const uint32_t period = periods_.count();
  if (period == 0) announced_.candidates = {candidate, candidate};
  if (candidate == announced_.candidates[0]) return true;
  // A rank that sends on for others must know that all have come to the end.
  if (candidate.hops > 1 || announced_.candidates[0].hops > 1) return false;
  if (announced_.others != 0 && candidate != announced_.candidates[1]) return false;
  announced_.candidates[1] = candidate;
  announced_.others |= uint32_t{1} << period;
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
  if (announced_.closely && site.periods >= kFirstPeriods) {
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
  const auto end = std::ranges::find(of_periods, 0U);
  const auto periods = static_cast<uint32_t>(end - of_periods.begin());
  period_s_ = 0;
  for (uint32_t i = 0; i < periods; ++i) {
    const double seconds = periods_.seconds(i);
    if (i == 0 || seconds < period_s_) period_s_ = seconds;
    if (!known && site_ != nullptr && (i == 0 || seconds < site_->baseline_s)) {
      site_->baseline_s = seconds;
      site_->baseline_updates = of_periods[i];
    }
    if (known) site_->is_new = false;
  }
  const double of_all = static_cast<double>(request.updates) * static_cast<double>(known_.ranks);
  periods_.finish(
      periods, [&](uint32_t i) { return of_all / static_cast<double>(of_periods[i]); },
      [&](decide::Trace& trace, uint32_t i) { note(trace, request, i, of_periods[i]); });
}

plan::UpdatePlan Chooser::plan_of(const UpdateSite& site, decide::Arm arm) const {
  if (arm == decide::kBaseline) return plan::baseline_of_update(site.request, costs_);
  return plan::force_update(site.request, costs_, site.rivals[arm - 1U], plan::Reason::tied);
}

void Chooser::decide() {
  UpdateSite& site = *site_;
  const plan::UpdatePlan plan = plan::plan_update(site.request, costs_);
  const size_t rivals = plan::rivals_of_update(site.request, costs_, site.rivals);
  ++site.decisions;
  site.is_new = true;
  const bool tuned = plan.candidate != plan::baseline_of_update(site.request, nullptr).candidate;
  if (tuned) {
    // The planner's own is the first one, which nothing is faster than.
    site.rivals[0] = plan.candidate;
    site.UpdateSite::Base::decide(decide::Arm{1}, plan, static_cast<decide::Arm>(1 + rivals),
                                  decide::Race::Of::turns);
  } else if (rivals > 0) {
    const auto last = static_cast<decide::Arm>(rivals);
    site.compare(last, plan_of(site, last), decide::Race::Of::turns);
  } else {
    site.UpdateSite::Base::decide(decide::kBaseline, plan, 1);
  }
  if (!site.race().has_rivals()) return;
  std::array<double, kUpdateArms> predicted_s{};
  for (size_t arm = 0; arm <= rivals; ++arm) {
    predicted_s.at(arm) = plan_of(site, static_cast<decide::Arm>(arm)).predicted_s;
  }
  const double of_all =
      static_cast<double>(site.request.updates) * static_cast<double>(known_.ranks);
  const double scale =
      site.baseline_updates > 0 ? of_all / static_cast<double>(site.baseline_updates) : 0.0;
  site.race().expect_times(predicted_s, scale * site.baseline_s);
}

// The plan is of as many updates as were expected.
void Chooser::note(decide::Trace& trace, const plan::UpdateRequest& request, uint32_t period,
                   uint64_t updates) const {
  const bool known = site_ != nullptr && site_->decisions > 0;
  const plan::UpdatePlan& plan = periods_.plan(period);
  const double share = static_cast<double>(updates) / static_cast<double>(known_.ranks) /
                       static_cast<double>(request.updates);
  trace.note(call_, place_.hash,
             decide::choice_of<plan::UpdateMechanism>(request, plan,
                                                      {.unplanned = site_ != nullptr && !known,
                                                       .predicted_s = share * plan.predicted_s}),
             periods_.seconds(period), "updates of " + exact_bytes_text(request.item_bytes), [&] {
               return known ? detail::explain_command<plan::UpdateMechanism>(state_, request,
                                                                             plan.reason, path_)
                            : std::string();
             });
}

}  // namespace stripline::update
