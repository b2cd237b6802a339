// How often a peer may make calls that cost the server something. Includes gRPC: for services only.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include <grpcpp/server_context.h>

#include "server/problem.h"
#include "server/rate_limit.h"

namespace stripline::server {

/// What an answer costs that takes as much as ten lists: a table of decisions, a page of what runs
/// tell.
inline constexpr double kTableCost = 10;

/// Thread-safe. A peer is an address: those behind it share an allowance.
class CallLimits {
 public:
  /// `cost`: in calls of the cheapest kind. Problems: TOO_MANY_CALLS.
  std::optional<Problem> refusal(const grpc::ServerContextBase& context, double cost = 1);
  std::optional<Problem> refusal(const std::string& peer, double cost = 1);

 private:
  std::mutex mutex_;
  PeerAllowances allowances_{{.per_s = 100, .burst = 1000}};
};

}  // namespace stripline::server
