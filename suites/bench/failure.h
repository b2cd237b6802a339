// How the commands end when they have no result.
#pragma once

#include <string>

#include "base/result.h"

namespace stripline::suites::bench {

/// Why a command ends without a result, and with which exit code.
struct Failure {
  int exit_code = 1;
  std::string message;
};

Failure failure_of(const Error& error);

/// The inverse of exit_code_for(), as far as ranks and commands end with these codes. A wrong
/// result (kExitVerification) has no code of its own: failed_precondition. Others are internal.
ErrorCode error_code_of(int exit_code);

/// What failed, for those who return a Result.
Error error_of(const Failure& failure);

/// Prints "stripline-bench: MESSAGE" to standard error and returns the exit code.
int report(const Failure& failure);
int report(const Error& error);

}  // namespace stripline::suites::bench
