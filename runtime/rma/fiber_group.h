// A job whose ranks are fibers of one thread, for the virtual clock, on which one rank runs at a
// time anyway: to pass the turn costs a fraction of a microsecond then, where processes sleep and
// wake, so that jobs of many ranks are simulated ten to a hundred times faster. Nothing that a rank
// measures of itself may depend on that: CPU times do (docs/emulated-fabric.md).
#pragma once

#include <cstdint>
#include <functional>

#include <stripline/context.h>

#include "base/result.h"

namespace stripline::bootstrap {

class Bootstrap;

struct FiberGroupOptions {
  uint32_t ranks = 2;
  Options context;  ///< for every rank; an emulated fabric on the virtual clock
  /// Notified of a failure that ends this process, as if it were its rank's, and whose job this is;
  /// null: no one is notified, and the job is one of its own.
  Bootstrap* process = nullptr;
};

/// Runs `body` once per rank, each in a fiber with a Context of its own, until all have returned.
/// Bodies throw nothing. Errors: the first one by rank of those that joining gave; invalid_argument
/// on other clocks; resource_exhausted without memory for stacks.
Status run_fibers(const FiberGroupOptions& options, const std::function<void(Context&)>& body);

}  // namespace stripline::bootstrap
