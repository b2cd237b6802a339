#include "server/core/sessions/run_orders.h"

#include <utility>

#include "base/sha256.h"
#include "server/core/sessions/run_order.h"

namespace stripline::server {
namespace {

// The part of a job's name that cannot be guessed; a name has 64 characters at most.
constexpr size_t kJobSecretDigits = 16;

}  // namespace

// It names shared memory on hosts that others use, too: its end cannot be guessed from what ran
// there before. All orders of an attempt are sent by the same start of the server.
std::string RunOrders::job_id(const RunGroup& group) const {
  return "s" + store_.installation_id() + "-c" + std::to_string(group.run().campaign) + "-r" +
         std::to_string(group.run().run) + "-f" + std::to_string(group.fence()) + "-" +
         sha256_hex(secret_ + run_name(group.run()) + ":" + std::to_string(group.fence()))
             .substr(0, kJobSecretDigits);
}

Result<Order> RunOrders::order_of(const RunKey& run, uint64_t fence, uint32_t points) const {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string plan, store_.run_plan(run));
  STRIPLINE_ASSIGN_OR_RETURN(const auto campaign, store_.campaign(run.campaign));
  if (!campaign) return Error(ErrorCode::internal, campaign_name(run.campaign) + " is not stored");
  STRIPLINE_ASSIGN_OR_RETURN(
      std::string text,
      order_text(plan, fence, points, campaign->spec.time_budget_s, campaign->spec.left_out));
  return std::make_shared<const std::string>(std::move(text));
}

void RunOrders::send(Session& session, const RunGroup& group, const Order& order) const {
  session.holding = Holding{group.run(), group.fence()};
  session.link->send(Assignment{{run_name(group.run()), group.fence()},
                                lease_s_,
                                order,
                                group.ranks_of(session.record.name),
                                group.rank_nodes(),
                                join_timeout_s_,
                                job_id(group)});
}

}  // namespace stripline::server
