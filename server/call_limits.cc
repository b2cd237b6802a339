#include "server/call_limits.h"

#include <algorithm>
#include <string>

#include "server/clock.h"

namespace stripline::server {

std::optional<Problem> CallLimits::refusal(const grpc::ServerContextBase& context, double cost) {
  std::string peer = context.peer();  // "ipv4:192.0.2.1:40000"
  peer.erase(std::min(peer.size(), peer.rfind(':')));
  return refusal(peer, cost);
}

std::optional<Problem> CallLimits::refusal(const std::string& peer, double cost) {
  const std::lock_guard lock(mutex_);
  if (allowances_.try_take(peer, cost, steady_seconds())) return std::nullopt;
  return Problem{ErrorCode::resource_exhausted,
                 "TOO_MANY_CALLS",
                 "too many calls have come from this address; try again in a moment",
                 {}};
}

}  // namespace stripline::server
