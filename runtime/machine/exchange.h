// Whether two ranks of this host can really communicate, found out by doing it.
#pragma once

#include <string>

#include "base/result.h"

namespace stripline::machine {

/// Starts two ranks of `fabric` as processes, which connect, write 1 KiB into each other's segment,
/// read it back, compare, and send a message. To be called before this process has threads or has
/// opened a fabric. Takes at most `timeout_s`; both processes are gone afterwards. Returns the
/// seconds from connected to verified. Errors: those of the ranks; deadline_exceeded.
Result<double> exchange_between_processes(const std::string& fabric, double timeout_s);

}  // namespace stripline::machine
