// Orders to nodes: what the ranks of a run are to do.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/unguessable.h"
#include "server/core/sessions/run_group.h"
#include "server/core/sessions/session_table.h"
#include "server/store/store.h"

namespace stripline::server {

/// Text that all nodes of a run get.
using Order = std::shared_ptr<const std::string>;

/// Thread-safe.
class RunOrders {
 public:
  /// `store` must outlive it.
  RunOrders(Store& store, double lease_s, double join_timeout_s)
      : store_(store), lease_s_(lease_s), join_timeout_s_(join_timeout_s) {}

  /// The stored order. Errors: the store's; data_loss.
  Result<Order> order_of(const RunKey& run, uint64_t fence, uint32_t points) const;
  /// The session holds the run from now on.
  void send(Session& session, const RunGroup& group, const Order& order) const;

 private:
  std::string job_id(const RunGroup& group) const;

  Store& store_;
  const double lease_s_;
  const double join_timeout_s_;
  const std::string secret_ = unguessable_text();  // of this start
};

}  // namespace stripline::server
