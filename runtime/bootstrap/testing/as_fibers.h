// A job of run_ranks() in fibers of one thread, which pass turns ten to a hundred times faster than
// threads: on the virtual clock, for bodies that compute little and meet in calls of the Context
// alone.
#pragma once

#include <functional>

#include "runtime/bootstrap/testing/thread_group.h"
#include "runtime/rma/fiber_group.h"

namespace stripline::bootstrap {

/// Without the options of active messages.
inline Status run_as_fibers(const ThreadGroupOptions& options,
                            const std::function<void(Context&)>& body) {
  return run_fibers({.ranks = options.ranks, .context = options.context, .process = nullptr}, body);
}

}  // namespace stripline::bootstrap
