// MPICH 4.0: the descriptor, and its settings as environment variables. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "optimizer/targets/candidate.h"
#include "optimizer/targets/target.h"

namespace stripline::targets::mpich {

const Target& target();

/// The default, and each algorithm of the variable MPIR_CVAR_COLLECTIVE_INTRA_ALGORITHM, by which
/// drivers select it: where an algorithm does not apply, MPICH takes another one then. A selection
/// checks nothing: selection_with() guards what an algorithm needs.
std::vector<Candidate> candidates(Collective collective);

/// Numbers of algorithms follow the order in which a version's descriptions of its variables list
/// their words. What `mpivars` prints says which they are in the installed version; those of
/// candidates() are of 4.0.
Renumbering renumbering(std::string_view mpivars);

/// The variable that names a file of selections (selection_file.h).
inline constexpr const char* kSelectionVariable = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE";

}  // namespace stripline::targets::mpich
