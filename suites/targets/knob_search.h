// The search of knobs: launches of a driver with one value beside the default, in turns, until all
// are known, or the time is up.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "optimizer/targets/target.h"
#include "suites/targets/launcher.h"
#include "suites/targets/search.h"

namespace stripline::suites::tune {

/// What a target's knobs are looked at by (Target::operations).
std::vector<DriverCell> knob_cells(const targets::Target& target, uint32_t ranks);

/// Values of knobs on this path beside the default, in turns, by their cells. One knob
/// may depart by one value: that with the largest gain. Where several do, that which gains most
/// departs, and each other one if it gains beside those that do already. What the installed version
/// does not let be set, and what would take too much memory, is not tried. Ends when every value is
/// known well enough, or the time is up; values that there is no time for keep the default. The
/// value that slows an operation down most becomes the probe of settings.
Status search_knobs(Launcher& launcher, const SearchOptions& options, const Tell& tell,
                    SearchReport& report);

}  // namespace stripline::suites::tune
