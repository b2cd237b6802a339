// A second job inside of a job: ranks that reach each other, or are served, otherwise than in the
// job itself. So that one run measures the one beside the other.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "suites/session.h"

namespace stripline::suites {

class InnerSession {
 public:
  /// The ranks that share rank 0's node. Collective over all ranks of `job`. `path`: "mapped" or
  /// "cma". Errors, the same on every rank:
  /// failed_precondition where no other rank shares rank 0's node, or the host or network does not
  /// permit this path. Ends the job if the ranks of the node do not reach each other at all.
  static Result<std::unique_ptr<InnerSession>> open_on_node(Session& job, const std::string& path);
  /// All ranks, through the network; they are served by `progress`, "manual" or "thread".
  /// Collective. Errors, the same on every rank: failed_precondition where no thread can serve.
  static Result<std::unique_ptr<InnerSession>> open_served(Session& job,
                                                           const std::string& progress);
  /// Collective over all ranks of the job.
  ~InnerSession();
  InnerSession(const InnerSession&) = delete;
  InnerSession& operator=(const InnerSession&) = delete;

  /// The session of the ranks it has, in their order; null on other ranks.
  Session* session() { return session_.get(); }

 private:
  InnerSession(std::unique_ptr<Context> context, uint32_t run);

  std::unique_ptr<Context> context_;
  std::unique_ptr<Session> session_;
};

}  // namespace stripline::suites
