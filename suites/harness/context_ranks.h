// The ranks of a program of the runtime that is timed beside others (timed.h).
#pragma once

#include <cstddef>
#include <cstdlib>
#include <span>
#include <utility>

#include <stripline/context.h>
#include <stripline/team.h>

#include "base/exit_codes.h"
#include "base/result.h"

namespace stripline::suites::harness {

/// All ranks of a context, as the functions of timed.h ask for them.
class ContextRanks {
 public:
  explicit ContextRanks(Context& context) : context_(context), all_(team::world(context)) {}

  size_t rank() const { return all_.rank_me(); }
  size_t ranks() const { return all_.rank_n(); }
  double now_s() { return context_.now_s(); }
  void barrier() { context_.barrier(); }
  void longest(std::span<double> times) { all_.reduce(times, times, op_max{}, 0); }

 protected:
  Context& context_;
  team all_;
};

/// The value, or the end of the program, with a message, where there is none.
template <typename T>
T or_exit(Result<T> result) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  if (!result.ok()) std::exit(report(result.error()));
  return std::move(*result);
}

}  // namespace stripline::suites::harness
