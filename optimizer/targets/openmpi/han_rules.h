// The rules file of Open MPI 5's component coll/han: which component carries out a collective at
// each level of a communicator over several nodes. A strict reader, a writer, what may be wrong,
// and the file that goes with classic rules. Source of the grammar: coll_han_dynamic_file.c of
// 5.0. Pure.
//
//   file          = number of collectives, collectives
//   collective    = its name or number, number of levels, levels
//   level         = 0 (ranks of a node), 1 (one rank of each node) or 2 (all), number of
//                   configurations, configurations
//   configuration = size, number of message sizes, messages      for this size and more
//   message       = bytes, component, maybe [segment bytes...]     from these bytes on
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimizer/targets/openmpi/rules_file.h"

namespace stripline::targets::openmpi {

/// In the order of their numbers.
enum class HanLevel : uint8_t { node, between_nodes, all };
enum class HanComponent : uint8_t { self, basic, libnbc, tuned, sm, adapt, han };

struct HanMessage {
  uint64_t bytes = 0;
  HanComponent component = HanComponent::tuned;
  std::vector<uint64_t> segment_bytes;
  bool operator==(const HanMessage&) const = default;
};

struct HanConfiguration {
  uint32_t size = 1;  ///< ranks or nodes of the level
  std::vector<HanMessage> messages;
  bool operator==(const HanConfiguration&) const = default;
};

struct HanLevelRules {
  HanLevel level = HanLevel::node;
  std::vector<HanConfiguration> configurations;
  bool operator==(const HanLevelRules&) const = default;
};

struct HanCollective {
  int id = 0;  ///< as in the classic file
  std::vector<HanLevelRules> levels;
  bool operator==(const HanCollective&) const = default;
};

struct HanRules {
  std::vector<HanCollective> collectives;
  bool operator==(const HanRules&) const = default;
};

/// Errors: data_loss, with the line, for what HAN would refuse, skip or not use: other words,
/// numbers with a leading zero (octal there), collectives or levels that come twice, sizes that do
/// not ascend, a first configuration other than 1, a first message size other than 0, and counts
/// that do not fit.
Result<HanRules> read_han_rules(std::string_view text, std::string_view what);

/// True if a rules file has names where a classic one has numbers alone.
bool is_han(std::string_view text);

/// Reads back as the same rules.
std::string write_han_rules(const HanRules& rules, const std::vector<std::string>& comments);

/// What makes such a file unsafe beside classic rules, a sentence each: HAN within itself, and
/// coll/tuned between nodes for a number of them that classic rules were made for within a node.
std::vector<std::string> hazards(const HanRules& rules, const RulesFile& classic);

/// The file that goes with classic rules that were measured within a node: coll/tuned, which reads
/// them, for the ranks of a node; between nodes coll/basic for the numbers that these rules name,
/// as coll/tuned cannot tell such a communicator from one within a node. Empty where HAN has none
/// of their collectives.
HanRules han_rules_of(const RulesFile& classic);

}  // namespace stripline::targets::openmpi
