// How often to measure: rounds of a run, and runs that a time budget allows. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stripline::suites::bench {

/// In how many rounds a run measures its points, shuffled together, so that a slow drift of the
/// machine meets all of them: three, but one for a single point, and no more than repetitions.
uint32_t rounds_of(size_t points, uint32_t most_reps);

/// How many runs to make in all when `done` (at least one) of `asked` took `spent_s`: as many as
/// `left_s` allows, but not fewer than an exact 95% interval of a median needs (six), and never
/// more than asked.
uint32_t affordable_runs(uint32_t asked, uint32_t done, double spent_s, double left_s);

}  // namespace stripline::suites::bench
