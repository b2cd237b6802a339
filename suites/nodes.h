// The nodes that the ranks of a job are on, as experiments between nodes need them.
#pragma once

#include <vector>

#include <stripline/context.h>

#include "runtime/fabric/network_place.h"

namespace stripline::suites {

/// The first rank of each node, and where it is; by the nodes' numbers.
struct Nodes {
  std::vector<rank_t> rank;
  std::vector<fabric::NetworkPlace> place;
};

Nodes nodes_of(Context& context);

}  // namespace stripline::suites
