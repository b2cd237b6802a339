// The part of a job's launcher that runs on each of several hosts: starts that host's ranks, tells
// the launcher what happens to them and what they print, and does what it says.
#pragma once

#include "base/subprocess.h"

namespace stripline::bootstrap {

/// The argument by which a launcher starts the program for this.
inline constexpr const char* kHostShareArgument = "--share-of-a-job";

/// Speaks with a launcher (docs/worker-protocol.md, "Hosts") until it closes `in`. The ranks are
/// killed when it does, when it has said nothing for the time that it has named, and with this
/// process: nothing is left behind. Returns the exit code of the program. Call it before the
/// process has threads; it blocks SIGPIPE.
int serve_host_share(UniqueFd in, UniqueFd out);

}  // namespace stripline::bootstrap
