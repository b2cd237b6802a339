#include "suites/bench/failure.h"

#include <cstdio>

#include "base/exit_codes.h"

namespace stripline::suites::bench {

Failure failure_of(const Error& error) { return {exit_code_for(error.code()), error.message()}; }

ErrorCode error_code_of(int exit_code) {
  switch (exit_code) {
    case kExitUsage:
      return ErrorCode::invalid_argument;
    case kExitBadInput:
    case kExitVerification:
      return ErrorCode::failed_precondition;
    case kExitUnavailable:
      return ErrorCode::unavailable;
    case kExitRankDied:
      return ErrorCode::aborted;
    case kExitTimeout:
      return ErrorCode::deadline_exceeded;
    case kExitCancelled:
      return ErrorCode::cancelled;
    case kExitConflict:
      return ErrorCode::already_exists;
    default:
      return ErrorCode::internal;
  }
}

Error error_of(const Failure& failure) {
  return {error_code_of(failure.exit_code), failure.message};
}

int report(const Failure& failure) {
  std::fprintf(stderr, "stripline-bench: %s\n", failure.message.c_str());
  return failure.exit_code;
}

int report(const Error& error) { return report(failure_of(error)); }

}  // namespace stripline::suites::bench
