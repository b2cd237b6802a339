// What the server does about versions that make runs slower.
#pragma once

#include "server/core/coordinator.h"
#include "server/problem.h"
#include "server/store/store.h"

namespace stripline::server {

/// Called once a report about the version is stored. Where reports since it has its label say that
/// it loses (measured_loss.h), takes the label from it: where only some groups of nodes have seen
/// that, the label names it for the others from then on; else it goes back to the version of
/// before, or to nothing, and the version is marked STALE. The version counts as one that is to be
/// replaced (sentinels.h). True if something was done. Problems: the store's.
Answer<bool> heed_losses(Coordinator& coordinator, Store& store, const VersionKey& key);

}  // namespace stripline::server
