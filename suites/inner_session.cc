#include "suites/inner_session.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <stripline/team.h>

#include "base/host_name.h"
#include "optimizer/model/paths.h"
#include "runtime/rma/context_state.h"

namespace stripline::suites {
namespace {

// Enough for the largest operations of the experiments, and for grids that ranks of a node share.
constexpr size_t kSegmentBytes = size_t{256} << 20;

// Everybody's bytes, by rank. Collective.
std::vector<std::string> all_gather(const team& members, const std::string& mine) {
  std::vector<uint64_t> sizes(members.rank_n());
  members.allgather(std::vector<uint64_t>{mine.size()}, sizes);
  const uint64_t longest = std::max<uint64_t>(*std::ranges::max_element(sizes), 1);
  std::string padded = mine;
  padded.resize(longest);
  std::string together(longest * sizes.size(), '\0');
  members.allgather(padded, together);
  std::vector<std::string> all;
  for (size_t i = 0; i < sizes.size(); ++i) all.push_back(together.substr(i * longest, sizes[i]));
  return all;
}

struct Joining {
  bool asked = false;    // this rank has taken part in the exchange
  bool swapped = false;  // and it has succeeded, on all ranks
  bool done = false;
};

// Swaps addresses through the outer job. A rank that fails before takes part with an empty one, at
// which all give up.
class InnerBootstrap final : public bootstrap::Bootstrap {
 public:
  InnerBootstrap(detail::ContextState& outer, const team& members, const std::string& path,
                 std::shared_ptr<Joining> joining)
      : outer_(outer),
        members_(members),
        rank_(members.rank_me()),
        ranks_(members.rank_n()),
        job_id_(outer.job.bootstrap().job_id() + "-" + path),
        joining_(std::move(joining)) {}

  uint32_t rank() const override { return rank_; }
  uint32_t ranks() const override { return ranks_; }
  const std::string& job_id() const override { return job_id_; }
  Result<std::vector<std::string>> exchange(const std::string& address) override {
    joining_->asked = true;
    std::vector<std::string> all = all_gather(members_, address);
    if (std::ranges::any_of(all, [](const std::string& one) { return one.empty(); })) {
      return Error(ErrorCode::failed_precondition, "another rank of the node cannot take part");
    }
    joining_->swapped = true;
    return all;
  }
  bool report_failure(const Error& error) override {
    if (joining_->done) return outer_.job.bootstrap().report_failure(error);
    // The others wait for this rank.
    if (!joining_->asked) static_cast<void>(exchange(""));
    return true;
  }
  void left() override {}
  JsonChannel* control() override { return nullptr; }

 private:
  detail::ContextState& outer_;
  const team& members_;  // while joining
  rank_t rank_;
  rank_t ranks_;
  std::string job_id_;
  std::shared_ptr<Joining> joining_;
};

Result<std::unique_ptr<Context>> join(Context& outer, const team& members, const std::string& name,
                                      Options options) {
  detail::ContextState& state = outer.state();
  options.segment_bytes = std::min(options.segment_bytes, kSegmentBytes);
  options.model_path.clear();
  options.verbose = false;
  const auto joining = std::make_shared<Joining>();
  auto context = detail::ContextState::join(
      options, std::make_unique<InnerBootstrap>(state, members, name, joining));
  // The others believe that this rank is there.
  if (!context.ok() && joining->swapped) state.fail(context.error());
  joining->done = true;
  return context;
}

bool reaches_all_by(Context& context, model::Path path) {
  for (rank_t peer = 0; peer < context.rank_n(); ++peer) {
    if (peer != context.rank_me() && context.state().job.path_to(peer) != path) return false;
  }
  return true;
}

}  // namespace

InnerSession::InnerSession(std::unique_ptr<Context> context, uint32_t run)
    : context_(std::move(context)) {
  if (context_ != nullptr) session_ = std::make_unique<Session>(*context_, run);
}

InnerSession::~InnerSession() = default;

Result<std::unique_ptr<InnerSession>> InnerSession::open_on_node(Session& job,
                                                                 const std::string& path) {
  Context& outer = job.context();
  const fabric::Info& info = outer.state().job.fabric().info();
  if (info.provider == "emulated") {
    return Error(ErrorCode::failed_precondition,
                 "the emulated network stands between all ranks, also of one node");
  }
  const team all = team::world(outer);
  const std::vector<std::string> hosts = all_gather(all, host_name());
  if (std::ranges::count(hosts, hosts.front()) < 2) {
    return Error(ErrorCode::failed_precondition,
                 "no rank shares rank 0's node; ask for more ranks than nodes");
  }
  const bool member = hosts[outer.rank_me()] == hosts.front();
  const team members = all.split(member ? 0 : team::no_colour, 0);
  std::unique_ptr<Context> context;
  std::string why_not;
  if (member) {
    Options options = outer.state().job.options();
    options.same_node = path;
    options.progress = "manual";
    auto joined = join(outer, members, path, options);
    if (joined.ok()) {
      context = *std::move(joined);
      if (!reaches_all_by(*context, *model::path_of_same_node(path))) {
        why_not = "ranks of this node do not reach each other by " + path + ": " +
                  context->state().job.fabric().info().same_node;
      }
    } else {
      why_not = joined.error().message();
    }
  }
  const uint64_t good = why_not.empty() ? 1 : 0;
  if (outer.reduce_all(good, Context::ReduceOp::min) == 0) {
    if (why_not.empty()) why_not = "ranks of rank 0's node do not reach each other by " + path;
    return Error(ErrorCode::failed_precondition, why_not);
  }
  return std::unique_ptr<InnerSession>(new InnerSession(std::move(context), job.run()));  // NOLINT
}

Result<std::unique_ptr<InnerSession>> InnerSession::open_served(Session& job,
                                                                const std::string& progress) {
  Context& outer = job.context();
  if (outer.state().job.fabric().info().provider == "emulated") {
    return Error(ErrorCode::failed_precondition, "no thread can serve an emulated network");
  }
  Options options = outer.state().job.options();
  options.same_node = "network";
  options.progress = progress;
  const team all = team::world(outer);
  auto joined = join(outer, all, "served-by-" + progress, options);
  const uint64_t good = joined.ok() ? 1 : 0;
  if (outer.reduce_all(good, Context::ReduceOp::min) == 0) {
    return Error(ErrorCode::failed_precondition,
                 joined.ok() ? "another rank could not join" : joined.error().message());
  }
  return std::unique_ptr<InnerSession>(
      new InnerSession(*std::move(joined), job.run()));  // NOLINT(*-owning-memory)
}

}  // namespace stripline::suites
