// The ranks of a node as workers that update shared memory together, for kernels of that.
#pragma once

#include <memory>
#include <string>

#include <stripline/shared_updates.h>
#include <stripline/worker_team.h>

#include "base/result.h"
#include "optimizer/experiment/experiment.h"
#include "suites/session.h"

namespace stripline::suites {

/// Collective over the job. The ranks of rank 0's node; none of either on others.
struct NodeTeam {
  Session* session = nullptr;
  std::unique_ptr<worker_team> team;
};
Result<NodeTeam> join_node_team(Session& session);

/// How they reach each other, always by loads and stores: for who asks what an experiment needs.
experiment::Factor shared_memory_factor();

/// Options of the variants locked, atomic, replicate, hybrid, mirror and boxes, which are forced;
/// free for adaptive.
SharedUpdatesOptions shared_options(const experiment::Point& point);

/// What became of the updates, for the note of a series.
std::string shared_note(const SharedUpdatesState& state);

}  // namespace stripline::suites
