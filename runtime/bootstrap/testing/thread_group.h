// A job whose ranks are threads of this process, for tests and sanitizers: real fabrics, no
// launcher. A failure that would end a rank's process ends this one.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <stripline/context.h>

#include "base/result.h"
#include "runtime/am/active_messages.h"

namespace stripline::bootstrap {

struct ThreadGroupOptions {
  rank_t ranks = 2;
  Options context;       ///< for every rank
  am::Config am_config;  ///< e.g. few credits, to test flow control
};

/// Runs `body` once per rank, each in a thread with a Context of its own, and waits for all.
/// Errors: the first one by rank of those that joining gave; when one rank cannot join, none runs.
Status run_ranks(const ThreadGroupOptions& options, const std::function<void(Context&)>& body);

/// The same, with one result per rank, in rank order.
template <typename T>
Result<std::vector<T>> run_ranks_returning(const ThreadGroupOptions& options,
                                           const std::function<T(Context&)>& body) {
  std::vector<std::optional<T>> results(options.ranks);  // each written by its own thread only
  STRIPLINE_RETURN_IF_ERROR(
      run_ranks(options, [&](Context& context) { results[context.rank_me()] = body(context); }));
  std::vector<T> values;
  for (std::optional<T>& result : results) values.push_back(std::move(*result));
  return values;
}

}  // namespace stripline::bootstrap
