#include "server/security/call_limits.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <utility>

#include "base/address_key.h"

namespace stripline::server {
namespace {

double thread_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

std::string payer_of(const Caller& caller, const std::string& address) {
  const bool is_known = caller.is_agent || !caller.token_sha256.empty();
  return is_known ? caller.name : caller.name + " at " + address_key(address);
}

std::optional<Problem> CallLimits::refusal(const std::string& payer) {
  const std::lock_guard lock(mutex_);
  const double wait_s = allowances_.wait_s(payer, clock_());
  if (wait_s <= 0) return std::nullopt;
  const std::string seconds = std::to_string(static_cast<int64_t>(std::ceil(wait_s)));
  return Problem{ErrorCode::resource_exhausted,
                 "TOO_MANY_CALLS",
                 "the calls of " + payer +
                     " have taken more of the server's time than one caller "
                     "may; try again in " +
                     seconds + " s",
                 {{"retry_after_s", seconds}}};
}

void CallLimits::charge(const std::string& payer, double seconds) {
  const std::lock_guard lock(mutex_);
  allowances_.take(payer, seconds, clock_());
}

MeteredCall::MeteredCall(CallLimits& limits, std::string payer, double least_s)
    : limits_(limits), payer_(std::move(payer)), least_s_(least_s), began_s_(thread_seconds()) {}

MeteredCall::~MeteredCall() {
  limits_.charge(payer_, std::max(least_s_, thread_seconds() - began_s_));
}

}  // namespace stripline::server
