#include "suites/nodes.h"

#include <utility>

#include "runtime/fabric/fabric.h"
#include "runtime/rma/context_state.h"

namespace stripline::suites {

Nodes nodes_of(Context& context) {
  Nodes nodes;
  for (rank_t rank = 0; rank < context.rank_n(); ++rank) {
    fabric::NetworkPlace place = context.state().job.fabric().place(rank);
    if (place.node < nodes.rank.size()) continue;
    nodes.rank.push_back(rank);
    nodes.place.push_back(std::move(place));
  }
  return nodes;
}

}  // namespace stripline::suites
