// What planners learn of the surroundings of a transfer: the one place where facts of the
// fabric become plan::Surroundings.
#pragma once

#include "optimizer/model/paths.h"
#include "optimizer/plan/surroundings.h"
#include "runtime/fabric/fabric.h"

namespace stripline::decide {

/// What is about to be done.
struct Operations {
  /// To the ranks that the data are of; where some are reached through the network, that.
  model::Path path = model::Path::network;
  bool gets = false;
  bool puts = false;
  bool signals = true;  ///< the puts raise flags
  /// The other ranks do not do the same at the time: they are idle, or in calls.
  bool alone = false;
};

/// The facts a planner looks at which the fabric tells: without service delays, which
/// were seen of single ranks, and load, which depends on how far they are. `info` is that of a
/// connected fabric.
plan::Surroundings surroundings_of(const fabric::Info& info, plan::Fact facts,
                                   const Operations& operations);

}  // namespace stripline::decide
