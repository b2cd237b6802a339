// MPICH 4.0: the descriptor, and its settings as environment variables. Pure.
#pragma once

#include <optional>
#include <vector>

#include "optimizer/targets/target.h"

namespace stripline::targets::mpich {

const Target& target();

/// The default, and each algorithm of the variable MPIR_CVAR_COLLECTIVE_INTRA_ALGORITHM. It holds
/// for all communicators and sizes; where an algorithm does not apply, MPICH takes another one.
std::vector<Candidate> candidates(Collective collective);

/// The setting that makes MPICH take a candidate; nullopt for the default.
std::optional<Setting> setting_of(Collective collective, const Candidate& candidate);

}  // namespace stripline::targets::mpich
