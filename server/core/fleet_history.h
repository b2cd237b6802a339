// What ran on which nodes between two times, and what happened to these. It is put together from
// what is stored, so that it outlives the server: attempts at runs, the audit trail, when nodes
// came or were heard of last, their answers to offers. Of what is not stored (earlier sessions,
// quarantines) it has nothing. Include from .cc files of the services.
#pragma once

#include "server/core/coordinator.h"
#include "server/problem.h"
#include "server/store/store.h"
#include "stripline/v1/fleet.pb.h"

namespace stripline::server {

/// The newest, if there is more than an answer holds: bounded in number and bytes. Problems:
/// INVALID_FIELD for what is not a time, and for ranges that are empty or too long; the
/// store's.
Answer<v1::FleetHistory> get_history(Coordinator& coordinator, Store& store,
                                     const v1::GetHistoryRequest& request);

}  // namespace stripline::server
