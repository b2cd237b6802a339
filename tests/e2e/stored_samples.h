// What is stored against what was acknowledged to agents of the test.
#pragma once

#include <map>
#include <string>

#include "server/store/store.h"
#include "server/testing/agent_client.h"

namespace stripline::e2e {

/// Batches that were acknowledged, and what was in them.
using Ledger = std::map<server::AutoAgent::Batch, std::string>;

/// Expects that all campaigns have succeeded, that each point of each run has been measured once in
/// the attempt that counts, and that each batch of the ledger is stored as it was sent.
void expect_all_is_stored(server::Store& store, const Ledger& ledger);

}  // namespace stripline::e2e
