// OfiRank::post(), for the files that issue.
#pragma once

#include <rdma/fi_errno.h>

#include "runtime/fabric/ofi/ofi_rank.h"

namespace stripline::fabric::ofi {

/// Hands something to the provider: the only place that knows -FI_EAGAIN. A full queue is drained
/// and tried again as `patience` says; attend() inside ends the job when a peer has died or nothing
/// moves for the peer timeout. `attempt` returns 0 or a negative fi_errno. Returns whether the
/// provider accepted.
template <typename Attempt>
bool OfiRank::post(const OperationName& what, Patience patience, const Attempt& attempt) {
  ssize_t code = attempt();
  if (code == 0) [[likely]] {
    return true;
  }
  uint64_t rounds = 0;
  while (code == -FI_EAGAIN) {
    if (patience == Patience::none || (patience == Patience::brief && rounds > 0)) return false;
    drain();
    if (patience == Patience::until_accepted) {
      blocked_ = &what;
      if (rounds % 256 == 255) attend();
      rest(rounds);
    }
    ++rounds;
    code = attempt();
  }
  blocked_ = nullptr;
  if (code == 0) return true;
  // While closing, or when it has left, the peer is nobody's loss.
  if (closing_ || (what.kind == OperationKind::send && peers_[what.peer].left)) return false;
  fail(Error(ErrorCode::aborted,
             describe(what) + " failed: " + endpoint_.library().error_text(code)));
  return false;
}

}  // namespace stripline::fabric::ofi
