// Where nodes are in the network, as far as it is known, and how far they are from each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "optimizer/model/sections/service_levels.h"

namespace stripline::fabric {

/// Constant for the life of a job.
struct NetworkPlace {
  uint32_t node = 0;  ///< numbered in the order of the first rank of each
  /// The switches above the node, from the uppermost down, joined by dots: "core.row3.leaf12". As
  /// many for every node. Empty: not known.
  std::string switches;
  bool operator==(const NetworkPlace&) const = default;
};

/// How far two nodes are from each other, 0 to model::kDistances - 1: levels of switches between
/// them beyond the first one; or, on the scale of numbers, the highest bit in which these differ,
/// from 0. That takes nodes of neighbouring numbers for neighbours, as Iancu et al. do (section
/// 6.2), but as a tree of switches of 2, 4, 8 ... nodes would have them. Nullopt on the scale of
/// switches where those of a node are not known.
std::optional<uint32_t> distance(const NetworkPlace& one, const NetworkPlace& other,
                                 model::DistanceScale scale);

/// The switches of a host in a text with a line for each: its name and, after blanks, its switches
/// as NetworkPlace has them. What follows a #, empty lines and a byte-order mark say nothing. A
/// host of another domain is another one, but for who says none. Empty if there is no line for it.
/// failed_precondition if a line is anything else, or two lines may be meant and differ; `what`
/// names the text.
Result<std::string> switches_of_host(std::string_view text, std::string_view host,
                                     std::string_view what);

/// What tells the switches of this node: STRIPLINE_SWITCHES, else the file that
/// STRIPLINE_SWITCHES_FILE names, else Slurm (SLURM_TOPOLOGY_ADDR without the node's own name).
/// Empty if no one does. Errors: those of switches_of_host(); not_found if the file cannot be read;
/// invalid_argument if the first one is none.
Result<std::string> switches_of_environment();

}  // namespace stripline::fabric
