#include "suites/kernels/shared_team.h"

#include "base/quantity.h"
#include "optimizer/plan/score_map.h"
#include "suites/registry.h"

namespace stripline::suites {
namespace {
constexpr const char* kMapped = "mapped";
}  // namespace

Result<NodeTeam> join_node_team(Session& session) {
  NodeTeam joined;
  STRIPLINE_ASSIGN_OR_RETURN(joined.session, session.on_node(kMapped));
  if (joined.session == nullptr) return joined;
  STRIPLINE_ASSIGN_OR_RETURN(joined.team, node_workers(joined.session->context()));
  return joined;
}

experiment::Factor shared_memory_factor() {
  experiment::Factor path;
  path.name = factor::kSameNode;
  path.description = "How the ranks reach each other: by loads and stores of mapped memory.";
  path.values = {std::string(kMapped)};
  return path;
}

SharedUpdatesOptions shared_options(const experiment::Point& point) {
  SharedUpdatesOptions options;
  options.force =
      plan::method_named<plan::SharedStrategy>(point.variant, plan::kSharedStrategyNames);
  return options;
}

std::string shared_note(const SharedUpdatesState& state) {
  std::string note(plan::to_string(state.strategy));
  if (state.strategy == plan::SharedStrategy::hybrid) {
    note += " of " + std::to_string(state.replicated.count) + " from " +
            std::to_string(state.replicated.first);
  }
  if (state.boxes > 0) note += ", " + std::to_string(state.boxes) + " boxes";
  if (state.sorts > 0) {
    note += ", sorted in " + seconds_text(state.sort_s) + ", then every " +
            std::to_string(state.sort_interval) + " times";
  }
  if (state.replica_bytes > 0) note += ", " + exact_bytes_text(state.replica_bytes);
  return note;
}

}  // namespace stripline::suites
