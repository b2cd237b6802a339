// Gathers: owners send what others read of them, by one put with a signal to each reader; or raise
// the signal alone, and the reader fetches.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <stripline/gather_plan.h>

#include "base/quantity.h"
#include "base/random.h"
#include "optimizer/plan/gather_mechanism.h"
#include "runtime/decide/choice.h"
#include "runtime/gather/gather_state.h"
#include "runtime/gather/in_step.h"
#include "runtime/gather/packing.h"
#include "runtime/gather/schedule.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/debug_checks.h"
#include "runtime/rma/explain_command.h"

namespace stripline::detail {
namespace {

using gathers::Delivery;
using gathers::FetchedBy;
using gathers::FetchSource;
using gathers::Incoming;
using gathers::Outgoing;
using gathers::OwnerReads;
using gathers::Schedule;
using rma::Landing;

class Gather final : public GatherCore, public gathers::GatherState::Plan {
 public:
  Gather(Context& context, const GatherRequest& request, const GatherOptions& options,
         Schedule schedule, CallSite site);
  ~Gather() override;

  void check(const GatherShape& shape, CallSite site) const override;
  void start(std::span<const std::byte* const> own, CallSite site) override;
  size_t groups() const override { return schedule_.inspection.owners.size(); }
  GatherGroup group(size_t number) const override;
  std::optional<GatherGroup> next(CallSite site) override {
    if (!in_progress_) return std::nullopt;
    return by_ring_ ? next_of_ring(site) : next_to_arrive(site);
  }
  void wait(CallSite site) override;
  void release(CallSite site) override;
  void end() override;
  std::span<const uint32_t> numbers() const override { return schedule_.numbers; }
  uint64_t own_elements() const override { return own_elements_; }
  size_t vectors() const override { return vectors_; }
  const std::byte* received() const override;
  bool is_reachable() const override {
    return std::ranges::all_of(schedule_.incoming,
                               [&](const Incoming& in) { return context_.is_local(in.owner); });
  }
  bool is_ordered() const override { return ordered_; }
  const GatherStatistics& statistics() const override { return schedule_.statistics; }
  GatherStatistics& statistics() { return schedule_.statistics; }

  [[noreturn]] void refuse(const char* name, CallSite site, const std::string& why) const override {
    life_->check({name, site});
    context_.state().fail(
        Error(ErrorCode::invalid_argument, text(rma::Call(name, site)) + " " + why));
  }

 private:
  void note(decide::Trace& trace, CallSite site) const;
  // Calls wait() and adds what it took to the seconds that this gather has made its rank wait.
  template <typename Wait>
  void timed(const Wait& wait) {
    if (!watched_) return wait();
    const double begun_s = context_.state().job.fabric().now_s();
    wait();
    waited_s_ += context_.state().job.fabric().now_s() - begun_s;
  }
  uint64_t hash_of_own() const;
  void check_own(CallSite site) const;
  void check_phase(CallSite site);
  void enter_phase(const char* name, CallSite site, const std::string& phase);
  void send(Outgoing& out, CallSite site);
  void send_on(Outgoing& out, CallSite site);
  uint64_t& flag_of(const Incoming& in) const;
  std::optional<GatherGroup> next_of_ring(CallSite site);
  std::optional<GatherGroup> next_to_arrive(CallSite site);
  bool is_raised(uint64_t& flag) const;
  void await(const Incoming& in, CallSite site);
  // How this gather is carried out, where it may be as without a model (in_step.h).
  bool is_fetched(const Outgoing& out) const {
    return out.fetched && !(out.compared && is_baseline_);
  }
  bool is_sent(const Incoming& in) const {
    return in.delivery == Delivery::sent || (in.compared && is_baseline_);
  }
  void take_places(Outgoing& out) const;
  void give_credits(bool last, CallSite site);
  void pass_on(const Incoming& in, bool hot, CallSite site);
  bool fetch(Incoming& in, CallSite site);
  void arrive(Incoming& in, CallSite site);
  void await_credit(const Outgoing& out, uint64_t rounds, CallSite site);

  Context& context_;
  const std::shared_ptr<const ContextLife> life_;
  const CallSite site_;  // of the call that has made it
  const size_t element_bytes_;
  const size_t vectors_;
  const GatherShape shape_;
  const uint64_t own_elements_;
  Schedule schedule_;
  std::vector<const std::byte*> fetched_from_;  // arrays of another rank
  std::vector<const std::byte*> values_;  // by group and vector: where elements of number 0 are
  uint64_t round_ = 0;                    // of the gather in progress, or of the next one
  uint64_t received_round_ = 0;
  bool in_progress_ = false;
  bool released_ = false;
  const bool ordered_;
  const bool by_ring_;        // nothing needs to be looked after before all is here
  size_t taken_of_ring_ = 0;  // owners, in the gather in progress
  const bool checks_;         // debug mode
  const uint64_t number_;     // of the plan among those of the job; used only if checks_
  uint64_t own_hash_ = 0;     // of this rank's elements when the gather began; only if checks_
  bool watched_ = false;      // somebody wants to know how long it waits
  double waited_s_ = 0;
  std::optional<gathers::InStep> in_step_;  // none: all gathers are carried out alike
  bool is_baseline_ = false;                // the gather in progress, or the last one
  bool was_baseline_ = false;               // the one before
  double begun_s_ = 0;                      // if times of gathers decide
};

Gather::Gather(Context& context, const GatherRequest& request, const GatherOptions& options,
               Schedule schedule, CallSite site)
    : context_(context),
      life_(context.state().job.life()),
      site_(site),
      element_bytes_(request.element_bytes),
      vectors_(options.vectors),
      shape_(request.shape),
      own_elements_(request.own_elements),
      schedule_(std::move(schedule)),
      values_(schedule_.inspection.owners.size() * vectors_, nullptr),
      ordered_(options.order == GatherOrder::ring),
      by_ring_(ordered_ && schedule_.in_order),
      checks_(context.state().job.options().debug),
      number_(gathers::GatherState::of(context).next_plan()),
      watched_(context.state().mechanisms.instruments().trace != nullptr) {
  gathers::GatherState::of(context).made(*this);
  if (schedule_.compared) in_step_.emplace(context, std::move(*schedule_.compared), site);
}

Gather::~Gather() {
  if (life_->is_over()) return;
  gathers::GatherState::of(context_).gone(*this);
  gathers::GatherState::of(context_).note_uses(site_, round_);
  // Plans that have been released may be destroyed in any order.
  if (checks_ && !released_) {
    enter_phase("end of a GatherPlan", site_, "plan " + std::to_string(number_));
  }
  end();
}

void Gather::end() {
  const CallSite site = CallSite::current();
  if (in_progress_) wait(site);
  release(site);
  for (const Outgoing& out : schedule_.outgoing) await_credit(out, round_, site);
  for (const Outgoing& out : schedule_.outgoing) out.sender.wait(site);
  for (const Incoming& in : schedule_.incoming) {
    in.credit.wait(site);
    if (in.hot) in.hot->credit.wait(site);
  }
  for (const FetchSource& source : schedule_.fetch_sources) source.done.wait(site);
  if (in_step_) in_step_->end(site);
  gathers::release_memory(context_, schedule_);
}

// Until the reader has read this many gathers.
void Gather::await_credit(const Outgoing& out, uint64_t rounds, CallSite site) {
  if (!out.credit.is_null() && rounds > 0) context_.wait_signal(out.credit, rounds, site);
}

void Gather::release(CallSite site) {
  if (released_) return;
  released_ = true;
  if (in_progress_) wait(site);
  if (round_ > 0) give_credits(true, site);
}

// What earlier gathers have brought is not read any more. Who is notified by the end of a fetch in
// other gathers waits for a credit after one that was sent, and for the last one.
void Gather::give_credits(bool last, CallSite site) {
  for (Incoming& in : schedule_.incoming) {
    if (last || is_sent(in)) in.credit.give(context_, round_, site);
    if (in.hot) in.hot->credit.give(context_, round_, site);
  }
}

void Gather::check(const GatherShape& shape, CallSite site) const {
  if (shape == shape_) return;
  std::string why = "of an array of " + std::to_string(shape.elements) +
                    " elements; the plan was made for " + std::to_string(shape_.elements);
  if (shape.elements == shape_.elements) {
    why = "of an array that is laid out otherwise than the one that the plan was made for";
  }
  refuse("GatherPlan::start", site, why);
}

void Gather::start(std::span<const std::byte* const> own, CallSite site) {
  life_->check({"GatherPlan::start", site});
  if (in_progress_) {
    refuse("GatherPlan::start", site,
           "while a gather of this plan is in progress; wait() comes first");
  }
  if (own.size() != vectors_) {
    refuse("GatherPlan::start", site,
           "of " + count_text(own.size(), "array") + "; GatherOptions::vectors of the plan is " +
               std::to_string(vectors_));
  }
  if (checks_) check_phase(site);
  was_baseline_ = std::exchange(is_baseline_, in_step_ && in_step_->arm() == decide::kBaseline);
  if (in_step_ && in_step_->decides()) begun_s_ = context_.state().job.fabric().now_s();
  if (is_baseline_) ++schedule_.statistics.as_without_model;
  if (round_ > 0) give_credits(false, site);
  in_progress_ = true;
  released_ = false;
  received_round_ = round_;
  taken_of_ring_ = 0;
  std::ranges::copy(own, values_.begin());
  rma::ArraysInUse& in_use = context_.state().mechanisms.arrays_in_use();
  for (const std::byte* const array : own) {
    in_use.add({this, {"GatherPlan::start", site}, array, own_elements_ * element_bytes_});
  }
  for (size_t i = 0; i < schedule_.incoming.size(); ++i) {
    Incoming& in = schedule_.incoming[i];
    in.here = false;
    in.others_here = false;
    if (in.hot) in.hot->here = false;
    const std::byte* const first = context_.local(in.landing.place(round_));
    for (size_t v = 0; v < vectors_; ++v) {
      values_[(i + 1) * vectors_ + v] = first + v * element_bytes_;
    }
  }
  if (checks_) own_hash_ = hash_of_own();
  waited_s_ = 0;
  for (FetchSource& source : schedule_.fetch_sources) {
    source.left = source.fetches - (is_baseline_ ? source.compared : 0);
  }
  timed([&] {
    for (Outgoing& out : schedule_.outgoing) {
      if (!out.of) send(out, site);
    }
  });
}

// The places of elements that the reader fetches otherwise.
void Gather::take_places(Outgoing& out) const {
  const uint32_t* const places = context_.local(std::exchange(out.listed, nullptr));
  out.places.assign(places, places + out.elements);
}

void Gather::send(Outgoing& out, CallSite site) {
  if (is_fetched(out)) return out.sender.send(context_, round_, nullptr, 0, site);
  if (!out.listed.is_null()) take_places(out);
  // The end of a fetch has said that the reader has begun the gather before.
  const bool was_fetched = out.fetched && !was_baseline_;
  if (round_ >= 2 && !was_fetched) await_credit(out, round_ - 1, site);
  const std::span<const std::byte* const> own = std::span(values_).first(vectors_);
  const size_t bytes = out.elements * vectors_ * element_bytes_;
  // What lies side by side may go from where it lies through a network; wait() then waits until
  // that may change.
  const bool copied = out.copied && !(out.compared && is_baseline_);
  if (out.places.empty() && !copied && vectors_ == 1 && !context_.is_local(out.reader)) {
    return out.sender.send(context_, round_, own.front() + out.first * element_bytes_, bytes, site);
  }
  out.sender.send_packed(
      context_, round_, bytes,
      [&](std::byte* to) {
        gathers::pack(out.selection(), own, element_bytes_, to,
                      context_.state().job.fabric().work());
      },
      site);
}

// What has come from another rank.
void Gather::send_on(Outgoing& out, CallSite site) {
  if (round_ >= 2) await_credit(out, round_ - 1, site);
  const Incoming& in = schedule_.incoming[*out.of];
  const Landing& landing = out.hot ? in.hot->landing : in.landing;
  const std::byte* const here = context_.local(landing.place(round_));
  const size_t bytes = out.elements * vectors_ * element_bytes_;
  if (!context_.is_local(out.reader)) return out.sender.send(context_, round_, here, bytes, site);
  out.sender.send_packed(
      context_, round_, bytes,
      [&](std::byte* to) { context_.state().memory.copy_here(to, here, bytes); }, site);
}

const std::byte* Gather::received() const {
  if (schedule_.received.is_null()) return nullptr;
  return context_.local(schedule_.received) +
         Landing::turn_of(received_round_) * schedule_.turn_bytes;
}

GatherGroup Gather::group(size_t number) const {
  const OwnerReads& reads = schedule_.inspection.owners[number];
  const size_t count = reads.end - reads.begin;
  return {.number = number,
          .reads = std::span(schedule_.inspection.order).subspan(reads.begin, count),
          .slots = std::span(schedule_.inspection.slots).subspan(reads.begin, count),
          .values = std::span(values_).subspan(number * vectors_, vectors_),
          .step = number == 0 ? 1 : vectors_};
}

// Raised when the elements are there, or when they may be fetched.
uint64_t& Gather::flag_of(const Incoming& in) const {
  const Landing& at = in.delivery == Delivery::shared ? in.there : in.landing;
  return *context_.local(at.flag(round_));
}

// Brings the elements to where they are received, or begins to; false: they are in flight.
bool Gather::fetch(Incoming& in, CallSite site) {
  const auto own_offset = [&](size_t vector) {
    return static_cast<uint64_t>(values_[vector] - context_.state().memory.segment().data());
  };
  std::byte* const to = context_.local(in.landing.place(round_));
  Work* const work = context_.state().job.fabric().work();
  if (in.delivery == Delivery::shared) {
    const std::array<const std::byte*, 1> from = {context_.local(in.there.place(round_))};
    gathers::pack(in.selection(), from, element_bytes_ * vectors_, to, work);
    return true;
  }
  // Arrays lie alike on all ranks.
  if (context_.is_local(in.owner)) {
    std::vector<const std::byte*>& from = fetched_from_;
    from.clear();
    for (size_t v = 0; v < vectors_; ++v) {
      from.push_back(context_.local(global_ptr<std::byte>(in.owner, own_offset(v))));
    }
    gathers::pack(in.selection(), from, element_bytes_, to, work);
    return true;
  }
  const uint64_t array = own_offset(0);
  if (!in.list) {
    const uint64_t first = array + in.there_first * element_bytes_;
    in.fetch = context_.rget(global_ptr<std::byte>(in.owner, first), to,
                             in.elements * element_bytes_, site);
  } else {
    const VisIndexed transfer{.local = to,
                              .local_list = &*in.here_list,
                              .target = in.owner,
                              .offset = array,
                              .remote_list = &*in.list,
                              .element_bytes = element_bytes_};
    in.fetch = start_indexed(context_, "gather", VisDirection::get, transfer, {}, site);
  }
  in.fetching = true;
  return false;
}

// The elements are where they are received.
void Gather::arrive(Incoming& in, CallSite site) {
  in.here = true;
  if (!is_sent(in)) {
    FetchSource& source = schedule_.fetch_sources[in.fetch_source];
    if (--source.left == 0) source.done.give(context_, round_ + 1, site);
  }
  pass_on(in, false, site);
}

// What has come of these elements, or of the hot ones among them.
void Gather::pass_on(const Incoming& in, bool hot, CallSite site) {
  if (schedule_.in_order) return;
  const auto number = static_cast<size_t>(&in - schedule_.incoming.data());
  for (Outgoing& out : schedule_.outgoing) {
    if (out.of == number && out.hot == hot) send_on(out, site);
  }
}

bool Gather::is_raised(uint64_t& flag) const {
  const std::atomic_ref<uint64_t> word(flag);
  return word.load(std::memory_order_acquire) >= Landing::value_of(round_);
}

// Until all elements of an owner are here, where nothing is to be done with them before.
void Gather::await(const Incoming& in, CallSite site) {
  const uint64_t value = Landing::value_of(round_);
  context_.wait_signal(in.landing.flag(round_), value, site);
  if (in.hot) context_.wait_signal(in.hot->landing.flag(round_), value, site);
}

std::optional<GatherGroup> Gather::next_of_ring(CallSite site) {
  const size_t owners = schedule_.incoming.size();
  if (taken_of_ring_ == owners) return std::nullopt;
  // Owners ascend; the one before this rank is the first.
  const auto above =
      std::ranges::upper_bound(schedule_.incoming, context_.rank_me(), {}, &Incoming::owner);
  const auto begin = static_cast<size_t>(above - schedule_.incoming.begin());
  const size_t number = (begin + owners - 1 - taken_of_ring_++) % owners;
  Incoming& in = schedule_.incoming[number];
  timed([&] { await(in, site); });
  in.here = true;
  return group(number + 1);
}

std::optional<GatherGroup> Gather::next_to_arrive(CallSite site) {
  for (;;) {
    Incoming* came = nullptr;
    Incoming* fetching = nullptr;
    bool hot_came = false;
    const auto look = [&] {
      bool awaited = false;
      fetching = nullptr;
      for (Incoming& in : schedule_.incoming) {
        if (in.here) continue;
        if (in.fetching) {
          fetching = &in;
          continue;
        }
        awaited = true;
        hot_came =
            in.hot && !in.hot->here && is_raised(*context_.local(in.hot->landing.flag(round_)));
        if (!hot_came && (in.others_here || !is_raised(flag_of(in)))) continue;
        came = &in;
        return true;
      }
      return !awaited || fetching != nullptr;
    };
    timed([&] { context_.wait_until(look, std::numeric_limits<double>::infinity(), site); });
    if (came == nullptr && fetching == nullptr) return std::nullopt;
    if (came == nullptr) {
      timed([&] { fetching->fetch.wait(site); });
      fetching->fetching = false;
      came = fetching;
    } else if (hot_came) {
      context_.wait_signal(came->hot->landing.flag(round_), Landing::value_of(round_), site);
      came->hot->here = true;
      pass_on(*came, true, site);
      if (!came->others_here) continue;
    } else {
      if (came->delivery != Delivery::shared) {
        context_.wait_signal(came->landing.flag(round_), Landing::value_of(round_), site);
      }
      if (!is_sent(*came) && !fetch(*came, site)) continue;
      came->others_here = true;
      if (came->hot && !came->hot->here) continue;
    }
    arrive(*came, site);
    return group(static_cast<size_t>(came - schedule_.incoming.data()) + 1);
  }
}

void Gather::wait(CallSite site) {
  if (!in_progress_) return;
  if (!schedule_.in_order) {
    while (next(site)) {
    }
  }
  timed([&] {
    for (const Incoming& in : schedule_.incoming) {
      if (!in.here) await(in, site);
    }
    for (const Outgoing& out : schedule_.outgoing) out.sender.wait_source(round_, site);
    for (const FetchedBy& reader : schedule_.fetched_by) {
      if (reader.compared && is_baseline_) continue;
      context_.wait_signal(reader.done, round_ + 1, site);
    }
  });
  if (checks_) check_own(site);
  if (watched_ && !schedule_.incoming.empty()) {
    note(*context_.state().mechanisms.instruments().trace, site);
  }
  ++round_;
  in_progress_ = false;
  context_.state().mechanisms.arrays_in_use().remove(this);
  if (!in_step_) return;
  const double seconds = in_step_->decides() ? context_.state().job.fabric().now_s() - begun_s_ : 0;
  in_step_->ended(seconds, site);
}

uint64_t Gather::hash_of_own() const {
  Hash hash;
  const uint64_t bytes = own_elements_ * element_bytes_;
  for (size_t v = 0; v < vectors_; ++v) {
    for (uint64_t at = 0; at < bytes; at += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, values_[v] + at, std::min<uint64_t>(sizeof word, bytes - at));
      hash.add(word);
    }
  }
  return hash.value();
}

// What was stored meanwhile has reached some ranks, and others not.
void Gather::check_own(CallSite site) const {
  if (hash_of_own() == own_hash_) return;
  refuse("GatherPlan::wait", site,
         "finds this rank's elements changed since the gather began; store to them before "
         "start(), or after wait() or for_each()");
}

// Ranks that gather by different plans, or one of them more often than others, would wait for each
// other for ever, or read what belongs to another gather.
void Gather::check_phase(CallSite site) {
  enter_phase("GatherPlan::start", site,
              "gather " + std::to_string(round_ + 1) + " of plan " + std::to_string(number_));
}

void Gather::enter_phase(const char* name, CallSite site, const std::string& phase) {
  ContextState& state = context_.state();
  const auto inside = state.exclusive();
  state.operations.enter(name);
  rma::CollectiveScope scope(state, name, site, phase.c_str());
  scope.returns_early();
  sync::Group& all = state.mechanisms.groups().world();
  all.order.enter(all, {.kind = sync::Collective::phase});
}

// What is predicted is when an owner's elements are here; what is measured, how long the rank has
// not computed meanwhile. They are not to be compared.
void Gather::note(decide::Trace& trace, CallSite site) const {
  const gathers::OwnerChoice& largest = *schedule_.largest;
  const GatherStatistics& all = schedule_.statistics;
  const uint64_t pays_after = all.pays_after();
  const std::string paid =
      pays_after == 0 ? "" : ", inspection paid after " + std::to_string(pays_after);
  const plan::GatherDecision& decision =
      largest.baseline && is_baseline_ ? *largest.baseline : largest.decision;
  const decide::Choice choice = decide::choice_of<plan::GatherMechanism>(
      largest.request, decision,
      {.predicted_s = 0,
       .detail = "of " + count_text(all.owners, "rank") + ", " +
                 exact_bytes_text(all.bytes_received) + paid});
  trace.note(site, stripline::hash_of(all.reads, all.bytes_received), choice, waited_s_, "gather",
             [&] {
               return largest.by_planner
                          ? explain_command<plan::GatherMechanism>(
                                context_.state(), largest.request, decision.reason, largest.path)
                          : std::string();
             });
}

}  // namespace

Result<std::unique_ptr<GatherCore>> GatherCore::create(Context& context,
                                                       const GatherRequest& request,
                                                       const GatherOptions& options,
                                                       CallSite site) {
  const double begun_s = context.state().job.fabric().now_s();
  STRIPLINE_ASSIGN_OR_RETURN(Schedule schedule, gathers::agree(context, request, options, site));
  auto made = std::make_unique<Gather>(context, request, options, std::move(schedule), site);
  made->statistics().inspection_s = context.state().job.fabric().now_s() - begun_s;
  return std::unique_ptr<GatherCore>(std::move(made));
}

}  // namespace stripline::detail
