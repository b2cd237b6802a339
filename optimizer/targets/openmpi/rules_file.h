// The classic rules file of Open MPI 4.1's component coll/tuned: a strict reader, a writer, what
// may be wrong with one that reads well, and how rules become one. Release builds of Open MPI
// ignore a bad file without a word. Source of the grammar: coll_tuned_dynamic_file.c of 4.1.4.
// Pure.
//
//   file       = number of collectives, collectives
//   collective = its number, number of communicator sizes, communicators
//   communicator = ranks, number of message sizes, messages      for these ranks and more
//   message    = bytes, algorithm, fan in and out, segment bytes   from these bytes on
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimizer/targets/candidate.h"
#include "optimizer/targets/rules.h"

namespace stripline::targets::openmpi {

struct MessageRule {
  uint64_t bytes = 0;
  int algorithm = 0;  ///< 0: the built-in decision
  uint32_t fan = 0;
  uint64_t segment_bytes = 0;
  bool operator==(const MessageRule&) const = default;
};

struct CommunicatorRule {
  uint32_t ranks = 0;
  std::vector<MessageRule> messages;
  bool operator==(const CommunicatorRule&) const = default;
};

struct CollectiveRule {
  int id = 0;
  std::vector<CommunicatorRule> communicators;
  bool operator==(const CollectiveRule&) const = default;
};

struct RulesFile {
  std::vector<CollectiveRule> collectives;
  bool operator==(const RulesFile&) const = default;
};

/// Errors: data_loss, with the line, for what Open MPI 4.1.4 would skip, refuse or read as
/// something else: other characters than digits, blanks and comments, numbers with a leading zero
/// (octal there), counts that do not fit, a collective twice, sizes that do not ascend or do not
/// begin at 0, algorithms that there are not, and the format of later versions
/// ("rule-file-version-2").
Result<RulesFile> read_rules(std::string_view text, std::string_view what);

/// Reads back as the same rules. Each rule is followed by what it says, as a comment.
std::string write_rules(const RulesFile& file, const std::vector<std::string>& comments);

/// What makes a file unsafe, a sentence each: rules that reach numbers of ranks or sizes that they
/// were not made for, algorithms that abort, hang, give wrong results or mean another one there.
std::vector<std::string> hazards(const RulesFile& file, const Safety& safety);

/// The file of rules, closed as they are: smaller and larger communicators, and other sizes, have
/// the built-in decision. Errors: failed_precondition where the result has hazards.
Result<RulesFile> rules_file(const std::vector<CollectiveRules>& rules, const Safety& safety);

/// The same rules with one more, for all sizes of a communicator of exactly `ranks`, in place of
/// what they say of it.
RulesFile with_probe(const RulesFile& file, Collective collective, uint32_t ranks,
                     const Candidate& probe);

/// What Open MPI 4.1 takes from a file for a call of `bytes` as the file counts them; algorithm 0
/// is the built-in decision.
MessageRule rule_for(const RulesFile& file, Collective collective, uint32_t ranks, uint64_t bytes);

}  // namespace stripline::targets::openmpi
