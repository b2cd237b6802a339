// The algorithms of Open MPI 4.1's component coll/tuned, by collective, with what each needs. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/targets/candidate.h"

namespace stripline::targets::openmpi {

/// The number of a collective in rules files; 4.1 has those of all collectives of ours.
int collective_id(Collective collective);
/// The collective of a number; nullopt for those that are not tuned here (alltoallw, gatherv,
/// scatterv, the neighbourhood collectives) and for numbers without a meaning.
std::optional<Collective> collective_of(int id);

/// Numbers in rules files go from 0 to this.
inline constexpr int kLargestCollectiveId = 21;

/// The default, and each algorithm with the segments that are worth trying, in the order of their
/// numbers.
std::vector<Candidate> candidates(Collective collective);

/// The algorithm of a number with what it needs and its fan, without segments; nullopt if 4.1 has
/// none.
std::optional<Candidate> algorithm(Collective collective, int id);

/// What the sizes of rules count (coll_tuned_decision_dynamic.c of 4.1.4).
enum class SizeMeaning : uint8_t {
  message,  ///< the buffer, type times count: allreduce, bcast, reduce
  average,  ///< what a rank sends on average: allgatherv
  total,    ///< type times count times ranks: allgather, alltoall, reduce_scatter(_block)
  none,     ///< nothing that tells calls apart: alltoallv, barrier, scan, exscan; or something that
            ///< ranks may see differently: gather, scatter
};
SizeMeaning size_meaning(Collective collective);

/// Bytes of a cell as a rules file counts them; saturates.
uint64_t rule_bytes(Collective collective, uint32_t ranks, uint64_t cell_bytes);

/// The bytes of a cell that a rule's size means, rounded down.
uint64_t cell_bytes(Collective collective, uint32_t ranks, uint64_t rule_bytes);

/// Why a rule from this size on may not name an algorithm of 4.1 for communicators of these ranks,
/// as part of a sentence; empty: it may.
std::string rule_refusal(Collective collective, uint32_t ranks, uint64_t rule_bytes, int id,
                         const Safety& safety);

}  // namespace stripline::targets::openmpi
