// How much of the server's time a caller may take: seconds of work, which refill. One for all
// doors, so that whoever calls by gRPC and by HTTP has one allowance.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "server/clock.h"
#include "server/problem.h"
#include "server/security/access.h"
#include "server/security/rate_limit.h"

namespace stripline::server {

/// What a call is charged at least, in seconds: what gRPC and HTTP do for it is not measured.
inline constexpr double kCallCost_s = 0.002;
/// The same for one that answers a single record, by gRPC: clients ask for it again and again.
inline constexpr double kReadCost_s = 0.0002;
/// The same for one that answers a table of decisions, or a page of what runs tell.
inline constexpr double kTableCost_s = 0.05;
/// The same for one that plans a campaign.
inline constexpr double kPlanCost_s = 0.02;
/// The same for one that compares two campaigns.
inline constexpr double kCompareCost_s = 0.1;

/// The caller whose allowance a call takes from: a person or a node, by name; those who have shown
/// nothing, or need not, are known by their address, without its port; of IPv6, by its network.
std::string payer_of(const Caller& caller, const std::string& address);

/// Thread-safe.
class CallLimits {
 public:
  /// `clock`: seconds that never go back.
  explicit CallLimits(std::function<double()> clock = steady_seconds) : clock_(std::move(clock)) {}

  /// Why a call may not begin; nullopt: it may, whatever it will take. Problems: TOO_MANY_CALLS,
  /// with the seconds to wait as `retry_after_s`.
  std::optional<Problem> refusal(const std::string& payer);
  /// It has taken this long: at once more than is left, which is waited for.
  void charge(const std::string& payer, double seconds);

 private:
  const std::function<double()> clock_;
  std::mutex mutex_;
  PeerAllowances allowances_{{.per_s = 0.5, .burst = 10}};
};

/// Charges what the processor does on this thread from its beginning to its end, but at least
/// `least_s`.
class MeteredCall {
 public:
  MeteredCall(CallLimits& limits, std::string payer, double least_s = kCallCost_s);
  ~MeteredCall();
  MeteredCall(const MeteredCall&) = delete;
  MeteredCall& operator=(const MeteredCall&) = delete;

 private:
  CallLimits& limits_;
  const std::string payer_;
  const double least_s_;
  const double began_s_;
};

}  // namespace stripline::server
