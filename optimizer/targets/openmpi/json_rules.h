// The JSON rules file of coll/tuned of Open MPI 6: a strict reader, a writer, and how a classic
// file becomes one. Of a collective the first entry that has the communicator counts, and of that
// entry the first rule that has the size; where there is none, the built-in decision does. Sources
// of the grammar: docs/tuning-apps/collectives/tuned.rst and coll_tuned_dynamic_file.c of its main
// branch; no run has confirmed it. Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimizer/targets/openmpi/rules_file.h"

namespace stripline::targets::openmpi {

/// Both ends of a range are included.
struct SizeRule {
  uint64_t least_bytes = 0;
  uint64_t most_bytes = std::numeric_limits<uint64_t>::max();  ///< the largest number: no end
  int algorithm = 0;                                           ///< 0: the built-in decision
  uint32_t fan = 0;
  uint64_t segment_bytes = 0;
  uint32_t requests = 0;  ///< messages in flight at a time; 0: the algorithm's own number
  bool operator==(const SizeRule&) const = default;
};

/// How the ranks of a communicator have to be spread over nodes.
enum class Distribution : uint8_t { any, single_node, one_per_node };

struct CommunicatorEntry {
  uint32_t least_ranks = 0;
  uint32_t most_ranks = std::numeric_limits<int>::max();  ///< the largest number: no end
  Distribution distribution = Distribution::any;
  std::vector<SizeRule> rules;
  bool operator==(const CommunicatorEntry&) const = default;
};

struct CollectiveEntries {
  Collective collective = Collective::allreduce;
  std::vector<CommunicatorEntry> entries;
  bool operator==(const CollectiveEntries&) const = default;
};

struct JsonRulesFile {
  std::vector<CollectiveEntries> collectives;
  bool operator==(const JsonRulesFile&) const = default;
};

/// True for a text that can only be of this format.
bool is_json(std::string_view text);

/// Commas behind a last element are accepted, as Open MPI accepts them and its documentation has
/// them. Errors: data_loss, with the place, for what Open MPI 6 would refuse, ignore or read as
/// something else: unknown fields and collectives (the spelling "reducescatter" of its schema and
/// converter included), algorithms that there are not, ranges that hold nothing, another module or
/// version of the format.
Result<JsonRulesFile> read_json_rules(std::string_view text, std::string_view what);

/// Reads back as the same rules. Algorithms have names, so that a version that lacks one ignores
/// the rule.
std::string write_json_rules(const JsonRulesFile& file);

/// The same rules, for communicators of this distribution. Where the number of an algorithm means
/// another one in Open MPI 6, calls get the built-in decision, and a sentence is added to
/// `left_out`.
JsonRulesFile json_rules_of(const RulesFile& file, Distribution distribution,
                            std::vector<std::string>& left_out);

/// What makes a file unsafe, a sentence each, as hazards() of a classic file.
std::vector<std::string> hazards(const JsonRulesFile& file, const Safety& safety);

/// What Open MPI 6 takes from a file for a call of `bytes` as the file counts them; nullopt: the
/// built-in decision.
std::optional<SizeRule> rule_for(const JsonRulesFile& file, Collective collective, uint32_t ranks,
                                 uint64_t bytes, Distribution distribution);

}  // namespace stripline::targets::openmpi
