// OfiRank::post() and transfer(), for the files that issue.
#pragma once

#include <algorithm>
#include <optional>

#include <rdma/fi_errno.h>

#include "runtime/fabric/ofi/ofi_rank.h"

namespace stripline::fabric::ofi {

/// Hands something to the provider: the only place that knows -FI_EAGAIN. A full queue is drained
/// and tried again as `patience` says; check_on_peers() inside ends the job when a peer has died or
/// nothing moves for the peer timeout. `attempt` returns 0 or a negative fi_errno. Returns whether
/// the provider accepted.
template <typename Attempt>
bool OfiRank::post(const OperationName& what, Patience patience, const Attempt& attempt) {
  end_absence();
  ssize_t code = attempt();
  if (code == 0) [[likely]] {
    return true;
  }
  uint64_t rounds = 0;
  std::optional<Waiting> waiting;
  while (code == -FI_EAGAIN) {
    if (patience == Patience::none || (patience == Patience::brief && rounds > 0)) return false;
    drain();
    if (patience == Patience::until_accepted) {
      blocked_ = &what;
      if (!waiting) waiting.emplace(wait_count());
      if (rounds % 256 == 255) check_on_peers();
      rest(rounds);
    }
    ++rounds;
    code = attempt();
  }
  blocked_ = nullptr;
  if (code == 0) return true;
  // While closing, or when the peer has left, losing it is not a failure.
  if (closing_ || (what.kind == OperationKind::send && peers_[what.peer].left)) return false;
  std::string reason = endpoint_.library().error_text(code);
  if (code == -FI_ENOSYS || code == -FI_EOPNOTSUPP) {
    reason += "; provider " + endpoint_.provider() +
              " says that it offers this and does not; use another --fabric, which 'stripline "
              "doctor' finds";
  }
  fail(Error(ErrorCode::aborted, describe(what) + " failed: " + reason));
  return false;
}

/// The common part of gets and puts: counting and splitting. `issue` posts
/// one piece: (operation, offset within the transfer).
template <typename Issue>
void OfiRank::transfer(const OperationName& what, Counter& counter, const Issue& issue) {
  ++counter.pending;
  if (what.bytes <= max_transfer_bytes_) [[likely]] {
    Operation* operation = acquire_operation(what, operations_);
    operation->counter = &counter;
    issue(operation, 0);
    return;
  }
  Operation* group = acquire_operation(what, groups_);
  group->kind = OperationKind::group;
  group->counter = &counter;
  group->pieces = 1;  // held until all are issued: early ones complete meanwhile
  for (size_t offset = 0; offset < what.bytes; offset += max_transfer_bytes_) {
    OperationName piece = what;
    piece.bytes = std::min(max_transfer_bytes_, what.bytes - offset);
    Operation* operation = acquire_operation(piece, operations_);
    operation->group = group;
    ++group->pieces;
    issue(operation, offset);
  }
  complete(group);
}

}  // namespace stripline::fabric::ofi
