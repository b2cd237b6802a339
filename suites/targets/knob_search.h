// The search of knobs: launches of a driver with one value beside the default, in turns, until all
// are known, or the time is up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "optimizer/targets/target.h"
#include "suites/targets/launcher.h"
#include "suites/targets/search.h"

namespace stripline::suites::tune {

/// What a target's knobs are looked at by (Target::operations): all of it among the fewest of these
/// ranks, and what more of them change among the most that have a processor each.
std::vector<DriverCell> knob_cells(const targets::Target& target,
                                   const std::vector<uint32_t>& ranks, uint32_t processors);

/// Values of knobs on this path beside the default, in turns, by their cells. One knob
/// may depart by one value: that with the largest gain. Where several do, that which gains most
/// departs, and each other one if it gains beside those that do already. Then values of the few
/// knobs that surely change most are looked for together (search::CoordinateSearch): the best
/// combination departs if it gains beside what did before, whether its values gain alone or not.
/// What the installed version does not let be set, and what would take too much memory, is not
/// tried. Ends when every value is known well enough, or the time is up; values that there is no
/// time for keep the default. The value that slows an operation down most becomes the probe of
/// settings.
Status search_knobs(Launcher& launcher, const SearchOptions& options, const Tell& tell,
                    SearchReport& report);

/// What a search of knobs is judged by, in this number of runs each: the default, every value that
/// a search may try, and `together` (none: nothing else); then the default again and each two of
/// the few values that gain most, of different knobs. Only what fails is not measured again. Takes
/// no time limit. Errors: those of launches; aborted where the default fails.
Result<KnobSweep> sweep_knobs(Launcher& launcher, const SearchOptions& options, size_t runs,
                              const std::vector<targets::Setting>& together, const Tell& tell);

}  // namespace stripline::suites::tune
