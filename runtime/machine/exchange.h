// Tells whether two ranks of this host can really communicate, found out by doing it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/machine/provider_trial.h"

namespace stripline::machine {

/// Starts two ranks of `fabric` as processes, which connect and try every kind of operation that
/// the runtime uses with each other (provider_trial.h). To be called before this process has
/// threads or has opened a fabric. Takes at most `timeout_s`; both processes are gone afterwards.
/// Returns what was verified and the seconds from connected to verified. Errors: those of the
/// ranks, which name the operation; deadline_exceeded; aborted if a rank died.
Result<Trial> exchange_between_processes(const std::string& fabric, double timeout_s);

/// The fabrics of libfabric that this host offers and that say to have what the runtime needs,
/// found out in a process of its own. When to call it, and errors, as above; unavailable without
/// libfabric.
Result<std::vector<std::string>> usable_fabrics(double timeout_s);

}  // namespace stripline::machine
