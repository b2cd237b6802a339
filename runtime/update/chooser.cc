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

// Sums over ranks, in this order; behind them updates by owner, where those were counted closely.
enum Sum : size_t { kUpdates, kOwn, kFetches, kCells, kSpan, kRanksWithSpan, kSums };

// Periods that are counted closely: the first ones of a site, and now and then one.
constexpr uint64_t kFirstPeriods = 2;
constexpr uint64_t kLookAgain = 16;
// A plan is made anew when so many periods, one after the other, were others by this factor than
// those that it was made for.
constexpr double kDrift = 2;
constexpr uint32_t kStrange = 2;
// An owner with so many times its equal part is a busy one.
constexpr uint64_t kUneven = 2;

bool far_apart(uint64_t a, uint64_t b) {
  const auto x = static_cast<double>(a);
  const auto y = static_cast<double>(b);
  return x > kDrift * y || y > kDrift * x;
}

bool differs(const plan::UpdateRequest& a, const plan::UpdateRequest& b) {
  return far_apart(a.updates, b.updates) || far_apart(a.cells, b.cells) ||
         far_apart(a.span_bytes, b.span_bytes) || a.fetches != b.fetches ||
         far_apart(a.hottest_percent, b.hottest_percent);
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

Chooser::Told Chooser::begin() {
  if (context_.rank_me() == 0) start();
  return tell();
}

Chooser::Told Chooser::next(const Tally& mine) {
  finish(mine);
  if (context_.rank_me() == 0) start();
  return tell();
}

Chooser::Told Chooser::tell() {
  context_.broadcast(std::as_writable_bytes(std::span(&told_, 1)), 0, call_);
  return told_;
}

std::vector<uint64_t> Chooser::add_up(const Tally& mine) const {
  std::vector<uint64_t> sums(kSums + mine.by_owner.size());
  sums[kUpdates] = mine.updates;
  sums[kOwn] = mine.own;
  sums[kFetches] = mine.fetches;
  sums[kCells] = mine.cells();
  if (mine.lowest <= mine.highest) {
    sums[kSpan] = mine.highest - mine.lowest + 1;
    sums[kRanksWithSpan] = 1;
  }
  std::ranges::copy(mine.by_owner, sums.begin() + kSums);
  team::world(context_).reduce(sums, sums, op_add{}, 0, collective_algorithm::automatic, call_);
  return sums;
}

void Chooser::finish(const Tally& mine) {
  const std::vector<uint64_t> sums = add_up(mine);
  if (context_.rank_me() == 0) learn(sums);
}

// The way of the next period.
void Chooser::start() {
  const decide::Instruments instruments = state_.mechanisms.instruments();
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
  if (other != nullptr || site_->decisions == 0) {
    // Two epochs at a time disturb each other's times.
    given_ = other != nullptr && other->decisions > 0 ? plan_of(*other, other->race().in_use())
                                                      : plan::plan_update(known_, nullptr);
    unsited_.begin(instruments, given_);
    told_ = {given_.way, other == nullptr};
    return;
  }
  if (site_->begun) {
    site_->execution.restart_clock();
  } else {
    site_->execution.begin(instruments, *this, *site_, {.for_all = true});
    site_->begun = true;
  }
  told_ = {site_->execution.plan().way,
           site_->periods < kFirstPeriods || site_->periods % kLookAgain == 0};
}

// What the updates of all ranks were.
void Chooser::learn(std::span<const uint64_t> sums) {
  const uint64_t ranks = known_.ranks;
  if (sums[kUpdates] == 0) return;
  const bool known = site_ != nullptr && site_->decisions > 0;
  const plan::UpdateRequest& before = known ? site_->request : seen_;
  plan::UpdateRequest seen = known_;
  seen.updates = std::max<uint64_t>(1, sums[kUpdates] / ranks);
  seen.local_percent = static_cast<uint32_t>(100 * sums[kOwn] / sums[kUpdates]);
  seen.fetches = 2 * sums[kFetches] > sums[kUpdates];
  const auto by_owner = sums.subspan(kSums);
  const uint64_t counted = std::accumulate(by_owner.begin(), by_owner.end(), uint64_t{0});
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
  seen_ = seen;
  if (site_ == nullptr) return unsited_.finish(*this, 0);
  if (!known) {
    unsited_.finish(*this, 0);
  } else {
    site_->execution.finish(
        *this, 0, static_cast<double>(site_->request.updates) / static_cast<double>(seen_.updates));
    site_->begun = false;
  }
  ++site_->periods;
  // What is another one but once is no reason to begin anew.
  site_->strange = differs(site_->request, seen_) ? site_->strange + 1 : 0;
  if (site_->decisions > 0 && site_->strange < kStrange) return;
  site_->request = seen_;
  site_->strange = 0;
  decide(*site_, 0);
}

plan::UpdatePlan Chooser::plan_of(const UpdateSite& site, decide::Arm arm) const {
  if (arm == decide::kBaseline) return plan::baseline_of_update(site.request, costs_);
  plan::UpdatePlan plan = plan::force_update(site.request, costs_, site.rivals[arm - 1U]);
  plan.reason = plan::Reason::tied;
  return plan;
}

plan::UpdatePlan Chooser::make(decide::Arm arm, double /*compute_s*/) const {
  return plan_of(*site_, arm);
}

void Chooser::decide(UpdateSite::Base& base, double /*compute_s*/) {
  UpdateSite& site = *site_;
  const plan::UpdatePlan plan = plan::plan_update(site.request, costs_);
  const size_t rivals = plan::rivals_of_update(site.request, costs_, site.rivals);
  ++site.decisions;
  const bool tuned = plan.way != plan::baseline_of_update(site.request, nullptr).way;
  // The planner's own is the first one, which nothing is faster than.
  if (tuned) site.rivals[0] = plan.way;
  base.decide(tuned ? decide::Arm{1} : decide::kBaseline, plan,
              static_cast<decide::Arm>(1 + rivals));
}

void Chooser::note(decide::Trace& trace, double seconds) const {
  const bool sited = site_ != nullptr && site_->decisions > 0;
  plan::UpdatePlan plan = sited ? site_->execution.plan() : given_;
  const plan::UpdateRequest& request = sited ? site_->request : seen_;
  if (sited) {
    plan.predicted_s *=
        static_cast<double>(seen_.updates) / static_cast<double>(site_->request.updates);
  }
  trace.note(call_, place_.hash,
             decide::choice_of<plan::UpdateMechanism>(request, plan, site_ != nullptr && !sited),
             seconds, "updates of " + exact_bytes_text(request.item_bytes), [&] {
               return sited ? detail::explain_command<plan::UpdateMechanism>(state_, request, path_)
                            : std::string();
             });
}

}  // namespace stripline::update
