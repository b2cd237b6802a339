// MPICH's selection of algorithms (CSEL) of 4.0 to 4.3: a JSON object whose keys are conditions,
// tried in order, down to an algorithm. MPICH aborts on a key that it does not know and on a
// collective that is missing, and checks nothing that an algorithm needs; so a file is made of the
// one that the installed library was built with, in which parts are replaced. Source of the
// grammar: src/mpi/coll/src/csel.c of 4.0.2. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "optimizer/targets/rules.h"
#include "optimizer/targets/version.h"

namespace stripline::targets::mpich {

/// Keeps the order of keys, which is that of the conditions.
using Selection = nlohmann::ordered_json;

/// 4.1 to 4.3 have more conditions and parameters of algorithms than 4.0, which aborts on them.
enum class Grammar : uint8_t { v4_0, v4_1 };
/// Errors: unimplemented for a version whose selections are not known here.
Result<Grammar> grammar_of(const Version& version);

/// The collectives that a selection must have, in MPICH's spelling.
std::span<const std::string_view> all_collectives();

/// Errors: data_loss for what MPICH would abort on, or read as something else: no JSON, a
/// collective that is missing or twice, a condition or an algorithm that the version does not have,
/// one where it is not allowed (sizes), conditions that leave a call without an algorithm, and a
/// file of a multiple of 4096 bytes, beyond whose end MPICH reads.
Result<Selection> read_selection(std::string_view text, std::string_view what,
                                 Grammar grammar = Grammar::v4_0);

/// The selection of MPIR algorithms within the bytes of the library (libmpich.so). Errors:
/// not_found.
Result<std::string> own_selection(std::string_view library, Grammar grammar = Grammar::v4_0);

/// The library's own selection with rules for communicators of exactly their numbers of ranks, on
/// one node or one rank on each. Where an algorithm needs something of a call that a condition can
/// tell (a built-in or commutative operation, enough elements, a buffer for each direction), other
/// calls keep what they had. Errors: those of read_selection() for `own`; invalid_argument for an
/// algorithm that a rule cannot name.
Result<Selection> selection_with(const Selection& own, const std::vector<CollectiveRules>& rules,
                                 Grammar grammar = Grammar::v4_0);

/// The text of a file, padded where its length would be a multiple of 4096.
std::string write_selection(const Selection& selection);

/// What conditions look at.
struct Call {
  Collective collective = Collective::allreduce;
  uint32_t ranks = 2;
  uint32_t ranks_per_node = 0;  ///< 0: all
  uint64_t average_bytes = 8;
  uint64_t total_bytes = 8;
  uint64_t count = 1;
  bool commutative = true;
  bool built_in = true;
  bool in_place = false;
};

/// The algorithm that MPICH takes for a call among ranks of one thread, as many on each node; empty
/// where the conditions leave it without one.
std::string algorithm_for(const Selection& selection, const Call& call);

/// True if sizes of a collective can be distinguished: by what goes between two ranks, or the
/// buffer (avg_msg_size), or by a total that all ranks agree about (total_msg_size).
bool has_size(Collective collective);

}  // namespace stripline::targets::mpich
