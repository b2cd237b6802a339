// The signals by which a user cancels or suspends a command.
#pragma once

#include "base/subprocess.h"

namespace stripline {

/// A descriptor that is readable once SIGINT, SIGTERM or SIGHUP has come; they no longer kill. A
/// SIGHUP that the process was started to ignore (nohup) stays ignored. Call it before the process
/// has threads: they inherit what is blocked, as child processes do (Subprocess resets it).
UniqueFd catch_cancel_signals();

/// A descriptor that is readable once a terminal has asked the process to stop (ctrl-Z, SIGTSTP),
/// which then has no effect until suspend_process(). -1 if the process was started to ignore that.
/// When to call it: as catch_cancel_signals().
UniqueFd catch_suspend_signal();

/// Stops this process as the terminal has asked; returns when it is continued (fg, SIGCONT).
/// `suspend` is what catch_suspend_signal() gave. For the thread that called that.
void suspend_process(int suspend);

}  // namespace stripline
