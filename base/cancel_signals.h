// The signals by which a user cancels a command.
#pragma once

#include "base/subprocess.h"

namespace stripline {

/// A descriptor that is readable once SIGINT, SIGTERM or SIGHUP has come; they no longer kill. A
/// SIGHUP that the process was started to ignore (nohup) stays ignored. Call it before the process
/// has threads: they inherit what is blocked, as child processes do (Subprocess resets it).
UniqueFd catch_cancel_signals();

}  // namespace stripline
