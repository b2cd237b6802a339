// A second job inside of a job: the ranks that share rank 0's node, reached otherwise than in the
// job itself. So that one run measures the network and what a node has beside it.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "suites/session.h"

namespace stripline::suites {

class NodeSession {
 public:
  /// Collective over all ranks of `job`. `way`: "mapped" or "cma". Errors, the same on every rank:
  /// failed_precondition where no other rank shares rank 0's node, or the host or network does not
  /// permit the way. Ends the job if the ranks of the node do not reach each other at all.
  static Result<std::unique_ptr<NodeSession>> open(Session& job, const std::string& way);
  /// Collective over all ranks of the job.
  ~NodeSession();
  NodeSession(const NodeSession&) = delete;
  NodeSession& operator=(const NodeSession&) = delete;

  /// Of the ranks on rank 0's node, in their order; null on other ranks.
  Session* session() { return session_.get(); }

 private:
  NodeSession(std::unique_ptr<Context> context, uint32_t run);

  std::unique_ptr<Context> context_;
  std::unique_ptr<Session> session_;
};

}  // namespace stripline::suites
