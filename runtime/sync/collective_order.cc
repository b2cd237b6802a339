#include "runtime/sync/collective_order.h"

#include <algorithm>
#include <utility>

#include "runtime/sync/collective_check.h"

namespace stripline::sync {

std::string_view to_string(Collective kind) {
  constexpr std::array<std::string_view, 20> names = {
      "nothing",         "barrier",        "the end of its Context",
      "broadcast",       "reduce",         "allreduce",
      "gather",          "allgather",      "all_to_all",
      "all_to_allv",     "inclusive_scan", "exclusive_scan",
      "gather_v",        "scatter",        "scatter_v",
      "allgather_v",     "reduce_scatter", "broadcast_async",
      "allreduce_async", "a phase"};
  const auto index = static_cast<size_t>(kind);
  return index < names.size() ? names[index] : "an unknown operation";
}

CollectiveOrder::CollectiveOrder(Rank me, uint32_t team, fabric::FailureHandler fail)
    : me_(me), team_(team), fail_(std::move(fail)) {}

uint64_t CollectiveOrder::enter(Group& group, const Call& call) {
  entered_[++sequence_ % kRemembered] = call;
  const Early& early = early_[sequence_ % kRemembered];
  const bool differs = early.sequence == sequence_ && early.call != call;
  if (check_ != nullptr) {
    check_->entered(group, sequence_, call);
    if (differs) check_->stop_for(team_, sequence_, early.source);
  } else if (differs) {
    disagree(sequence_, early.call, early.source);
  }
  return sequence_;
}

bool CollectiveOrder::saw(const Call& call, uint64_t sequence, Rank source) {
  if (sequence > sequence_) {
    early_[sequence % kRemembered] = Early{.sequence = sequence, .call = call, .source = source};
  } else if (sequence_ - sequence < kRemembered && call != entered_[sequence % kRemembered]) {
    if (check_ != nullptr) {
      check_->disagrees(team_, sequence, source);
    } else {
      disagree(sequence, call, source);
    }
    return false;
  }
  return true;
}

void CollectiveOrder::disagree(uint64_t sequence, const Call& theirs, Rank source) const {
  // The lower rank first, so that the message does not depend on who finds out.
  const Call& mine = entered_[sequence % kRemembered];
  const bool i_am_low = me_ < source;
  const Rank low_rank = i_am_low ? me_ : source;
  const Rank high_rank = i_am_low ? source : me_;
  const Call& low = i_am_low ? mine : theirs;
  const Call& high = i_am_low ? theirs : mine;
  const auto sides = [&](const auto& describe) {
    return "rank " + std::to_string(low_rank) + " " + describe(low) + ", rank " +
           std::to_string(high_rank) + " " + describe(high);
  };
  const std::string kind(to_string(mine.kind));
  std::string what;
  if (mine.kind != theirs.kind) {
    what = sides([](const Call& call) { return "is in " + std::string(to_string(call.kind)); }) +
           "; every rank must make the same collective calls in the same order";
  } else if (mine.bytes != theirs.bytes) {
    what = kind + " of different lengths: " + sides([](const Call& call) {
             return "has " + std::to_string(call.bytes) + " bytes";
           });
  } else if (mine.root != theirs.root) {
    what = kind + " with different roots: " + sides([](const Call& call) {
             return "names " + std::to_string(call.root);
           });
  } else {
    what = kind + " by different algorithms: " +
           sides([](const Call& call) { return "has chosen " + std::to_string(call.algorithm); }) +
           "; every rank must force the same one and load the same model";
  }
  fail_(Error(ErrorCode::invalid_argument,
              "the ranks disagree on collective operation " + std::to_string(sequence) +
                  (team_ == 0 ? std::string() : " of team " + std::to_string(team_)) + ": " +
                  what));
}

void fail_malformed(const fabric::FailureHandler& fail, Rank source, Rank me) {
  fail(Error(ErrorCode::data_loss,
             "rank " + std::to_string(source) + " sent rank " + std::to_string(me) +
                 " a malformed message of a collective operation; all ranks must run the same "
                 "version"));
}

}  // namespace stripline::sync
