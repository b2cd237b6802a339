#include "runtime/sync/collective_order.h"

#include <string>
#include <utility>

namespace stripline::sync {

std::string_view to_string(Collective kind) {
  switch (kind) {
    case Collective::none:
      return "nothing";
    case Collective::barrier:
      return "barrier";
    case Collective::leave:
      return "the end of its Context";
    case Collective::broadcast:
      return "broadcast";
    case Collective::reduce:
      return "reduce_all";
  }
  return "nothing";
}

CollectiveOrder::CollectiveOrder(Rank me, fabric::FailureHandler fail)
    : me_(me), fail_(std::move(fail)) {}

uint64_t CollectiveOrder::enter(Collective kind) {
  current_ = kind;
  const Early& early = early_[++sequence_ % early_.size()];
  if (early.sequence == sequence_ && early.kind != kind) disagree(early.kind, early.source);
  return sequence_;
}

void CollectiveOrder::saw(Collective kind, uint64_t sequence, Rank source) {
  if (sequence == sequence_ && kind != current_) disagree(kind, source);
  if (sequence > sequence_) {
    early_[sequence % early_.size()] = Early{.sequence = sequence, .kind = kind, .source = source};
  }
}

void CollectiveOrder::malformed(Rank source) const {
  fail_(Error(ErrorCode::data_loss,
              "rank " + std::to_string(source) + " sent rank " + std::to_string(me_) +
                  " a malformed message of a collective operation; all ranks must run the same "
                  "version"));
}

void CollectiveOrder::disagree(Collective theirs, Rank source) {
  fail_(Error(ErrorCode::invalid_argument,
              "the ranks disagree on collective operation " + std::to_string(sequence_) +
                  ": rank " + std::to_string(me_) + " is in " + std::string(to_string(current_)) +
                  ", rank " + std::to_string(source) + " in " + std::string(to_string(theirs)) +
                  "; every rank must make the same collective calls in the same order"));
}

}  // namespace stripline::sync
