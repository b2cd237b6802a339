#include "runtime/gather/in_step.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "runtime/rma/context_state.h"

namespace stripline::gathers {
namespace {

// Announcing a block takes as many messages as there are ranks, and a report of each: turns become
// long enough to make that one message for this many gathers.
constexpr uint64_t kGathersOfMessage = 4;
// The first turns of a plan are few: what the model says may be wrong.
constexpr uint64_t kFirstTurns = 2;

}  // namespace

InStep::InStep(Context& context, Compared compared, CallSite site)
    : context_(context),
      compared_(std::move(compared)),
      decides_(compared_.decider == context.rank_me()) {
  block_.rest = compared_.first;
  if (!decides_) {
    begun_ = rma::TurnCredit(word(compared_.decider, kOwnWords + context.rank_me()));
    return;
  }
  others_.reserve(context.rank_n());
  for (rank_t rank = 0; rank < context.rank_n(); ++rank) others_.emplace_back(news_of(rank));
  place_ = GatherState::of(context).site_at(site);
  claim_place();
}

InStep::~InStep() {
  if (takes_place_) place_->taken = false;
}

// Unless another plan of the place compares. What was found out about the same request holds for
// this one, too.
void InStep::claim_place() {
  if (takes_place_ || place_->taken) return;
  takes_place_ = place_->taken = true;
  const OwnerChoice& largest = *compared_.largest;
  if (place_->is_for(largest.request)) return;
  place_->request.emplace(largest.request);
  place_->decide(decide::Arm{1}, largest.decision, kArms, decide::Race::Of::turns);
  place_->race().expect_times(
      std::array{largest.decision.baseline_s, largest.decision.predicted_s});
}

plan::GatherDecision InStep::make(decide::Arm arm, double /*compute_s*/) const {
  const OwnerChoice& largest = *compared_.largest;
  return arm == decide::kBaseline ? *largest.baseline : largest.decision;
}

rma::Landing InStep::news_of(rank_t rank) const {
  return {.first = word(rank, 0).reinterpret<std::byte>(),
          .turn_bytes = sizeof(uint64_t),
          .flags = word(rank, 2)};
}

void InStep::ended(double seconds, CallSite site) {
  const bool timed = gathers_ < block_.executions();
  ++gathers_;
  if (decides_) {
    if (timed) {
      seconds_ += seconds;
      if (block_.turn_of(gathers_) != block_.turn_of(gathers_ - 1)) {
        turns_.ended(std::exchange(seconds_, 0));
      }
    }
    if (!announced_ && is_announced()) announce(site);
  }
  if (gathers_ == block_.executions() + kUntimed) take(site);
}

// True if the rank that decides has announced the next block when it has carried out this number of
// gathers.
bool InStep::is_announced() const { return gathers_ >= std::max<uint64_t>(block_.executions(), 1); }

// Decides on the next block. Of the one before, which used the same words, all ranks have reported
// that they have begun it.
void InStep::announce(CallSite site) {
  decide::finish(turns_, block_);
  claim_place();
  const decide::Instruments instruments = context_.state().mechanisms.instruments();
  const uint64_t number = number_ + 1;
  const uint64_t most = std::min<uint64_t>(decide::kMostAhead, kFirstTurns * number);
  if (takes_place_) {
    turns_.begin(instruments, *place_);
    const auto joins = [](const plan::GatherDecision&) { return true; };
    while (turns_.count() < most && turns_.is_open()) turns_.add(*this, joins);
  } else {
    given_.emplace(make(in_use(), 0));
    turns_.begin(instruments, *given_, static_cast<uint32_t>(most));
  }
  const uint64_t messages = 2 * uint64_t{context_.rank_n()};
  const auto longest =
      static_cast<uint64_t>(std::bit_width(messages * kGathersOfMessage / decide::kMostAhead));
  next_ = decide::block_of(turns_, static_cast<uint32_t>(std::min(longest, number_)), in_use());
  announced_ = true;
  const uint64_t word_of_next = next_.word();
  for (rank_t rank = 0; rank < context_.rank_n(); ++rank) {
    if (rank == context_.rank_me()) continue;
    if (number > 2) {
      context_.wait_signal(word(context_.rank_me(), kOwnWords + rank), number - 2, site);
    }
    others_[rank].send_packed(
        context_, number, sizeof word_of_next,
        [&](std::byte* to) { std::memcpy(to, &word_of_next, sizeof word_of_next); }, site);
  }
}

void InStep::take(CallSite site) {
  ++number_;
  gathers_ = 0;
  if (decides_) {
    block_ = next_;
    announced_ = false;
    turns_.restart_clock();
    return;
  }
  const rma::Landing news = news_of(context_.rank_me());
  context_.wait_signal(news.flag(number_), rma::Landing::value_of(number_), site);
  uint64_t announced = 0;
  std::memcpy(&announced, context_.local(news.place(number_)), sizeof announced);
  block_ = decide::TurnBlock::of(announced);
  begun_.give(context_, number_, site);
}

void InStep::end(CallSite site) {
  if (std::exchange(ended_, true)) return;
  if (!decides_) {
    if (is_announced()) {
      const uint64_t next = number_ + 1;
      context_.wait_signal(news_of(context_.rank_me()).flag(next), rma::Landing::value_of(next),
                           site);
    }
    begun_.wait(site);
    return;
  }
  for (rank_t rank = 0; rank < context_.rank_n(); ++rank) {
    if (rank == context_.rank_me()) continue;
    if (number_ > 0) {
      context_.wait_signal(word(context_.rank_me(), kOwnWords + rank), number_, site);
    }
    others_[rank].wait(site);
  }
}

}  // namespace stripline::gathers
