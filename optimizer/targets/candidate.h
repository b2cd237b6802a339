// An alternative of a collective operation, and when it may be used. Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "optimizer/targets/collectives.h"

namespace stripline::targets {

struct Candidate {
  /// What the target calls it, with what else is chosen: "ring", "pipeline, segments of 8 KiB".
  /// That of the default is "default".
  std::string name;
  int id = 0;                  ///< the target's number for it; 0: its own decision
  uint64_t segment_bytes = 0;  ///< 0: whole messages
  uint32_t fan = 0;            ///< chains that leave the root; 0: it has no chains
  /// Control variables (MPI_T) that choose it, with numbers as values, where a driver selects it
  /// within a launch.
  std::vector<std::pair<std::string, int64_t>> select;
  uint32_t least_ranks = 1;
  uint32_t most_ranks = std::numeric_limits<uint32_t>::max();
  bool power_of_two_ranks = false;
  bool even_ranks = false;
  /// It reorders operands: wrong results with an operation that is not commutative.
  bool commutative_only = false;
  /// It falls back to another algorithm unless there are that many elements for each rank. The size
  /// of an element is not known to a rule, which counts bytes.
  uint32_t elements_per_rank = 0;
};

/// True if both are the same algorithm with the same segments and the same fan.
bool same(const Candidate& a, const Candidate& b);

/// Control variables of candidates in another version than that whose numbers candidates have.
struct Renumbering {
  /// From a variable and a candidate's number to the version's, where they differ.
  std::map<std::pair<std::string, int64_t>, int64_t> numbers;
  /// Variables that the version lacks, or that lack a word of a candidate.
  std::set<std::string> unknown;
};

/// What users and the installed version allow.
struct Safety {
  /// No program here uses operations that are not commutative.
  bool commutative_only = false;
  /// Control variables that this version does not let a driver set: what they select cannot be
  /// measured.
  std::set<std::string> unsettable;
};

/// The largest type whose elements rules must hold for: a complex number of two doubles.
inline constexpr uint64_t kLargestElementBytes = 16;

/// Why a candidate may not be chosen in a cell, as part of a sentence; empty: it may.
std::string refusal(const Candidate& candidate, const Cell& cell, const Safety& safety);

}  // namespace stripline::targets
