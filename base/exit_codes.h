// The exit codes of every Stripline program. They are part of the interface: scripts may rely on
// them, docs/cli.md lists them.
#pragma once

#include "base/result.h"

namespace stripline {

enum ExitCode : int {
  kExitOk = 0,
  kExitFailure = 1,       ///< A failure without a code of its own below.
  kExitUsage = 2,         ///< Unknown option, command, experiment, provider or profile name.
  kExitBadInput = 3,      ///< A file is malformed, truncated, or does not fit this machine.
  kExitUnavailable = 4,   ///< The server, a peer or a provider cannot be reached or used.
  kExitRankDied = 5,      ///< A rank ended by a signal, or lost its peer.
  kExitTimeout = 6,       ///< A stated time limit passed.
  kExitCancelled = 7,     ///< Stopped on request (SIGINT, SIGTERM, `campaign cancel`).
  kExitVerification = 8,  ///< A kernel ran and its result was wrong.
  kExitConflict = 9,      ///< Port or database in use by another server; state forbids it.
};

/// The exit code a program ends with when `code` is its reason.
constexpr ExitCode exit_code_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::not_found:
    case ErrorCode::unimplemented:
      return kExitUsage;
    case ErrorCode::failed_precondition:
    case ErrorCode::data_loss:
      return kExitBadInput;
    case ErrorCode::unavailable:
    case ErrorCode::resource_exhausted:
      return kExitUnavailable;
    case ErrorCode::aborted:
      return kExitRankDied;
    case ErrorCode::deadline_exceeded:
      return kExitTimeout;
    case ErrorCode::cancelled:
      return kExitCancelled;
    case ErrorCode::already_exists:
      return kExitConflict;
    case ErrorCode::internal:
      return kExitFailure;
  }
  return kExitFailure;
}

}  // namespace stripline
