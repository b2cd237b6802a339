// What the programs of scripts/check_programs.sh have in common: they take a number of steps, and
// say how long these took.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <stripline/context.h>

namespace stripline::programs {

/// The number in place `place` of the arguments, or what is usual.
inline size_t argument(int argc, char** argv, int place, size_t usual) {
  return argc > place ? std::strtoull(argv[place], nullptr, 10) : usual;
}

/// What the body of a loop computes, for clocks that go by declared work.
inline void computed(Context& ctx, double flops, double bytes) {
  if (Work* const work = ctx.work()) work->compute(flops, bytes);
}

/// Collective: rank 0 prints "NAME: right, STEPS steps, SECONDS s". `own_s`: what all steps took
/// this rank. Returns the program's exit code.
inline int report_steps(Context& ctx, const char* name, size_t steps, double own_s, bool right) {
  const double took_s = ctx.reduce_all(own_s, Context::ReduceOp::max);
  const bool all_right = ctx.reduce_all(right ? 0.0 : 1.0, Context::ReduceOp::sum) == 0;
  if (ctx.rank_me() == 0) {
    std::printf("%s: %s, %zu steps, %.9f s\n", name, all_right ? "right" : "WRONG", steps, took_s);
  }
  return all_right ? 0 : 8;
}

}  // namespace stripline::programs
