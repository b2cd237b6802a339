#include "tests/load/cluster.h"

#include <utility>

#include "agent/credentials.h"
#include "agent/description.h"
#include "base/pki/certificate.h"
#include "base/testing/processes.h"
#include "base/whole_file.h"
#include "optimizer/experiment/json.h"
#include "server/clock.h"
#include "server/security/authority.h"
#include "tests/load/give_up.h"

namespace stripline::load {
namespace {

constexpr int64_t kLargeSide = 316;  // points: its square, about 100,000

experiment::Experiment declared(const std::string& name) {
  experiment::Experiment made;
  made.name = name;
  made.title = "load";
  made.description = "what a run sends";
  made.metric = {"time", "s", true};
  made.min_ranks = 2;
  made.max_ranks = 2;
  made.variants = {"only"};
  made.verification = "none";
  return made;
}

// 1 to `most`.
experiment::Factor numbers(const std::string& name, int64_t most) {
  experiment::Factor factor;
  factor.name = name;
  factor.unit = "1";
  factor.description = "number of the point";
  for (int64_t n = 1; n <= most; ++n) factor.values.emplace_back(n);
  factor.minimum = 1;
  factor.maximum = 1e9;
  return factor;
}

}  // namespace

Hello node_description(uint32_t points_of_run) {
  const auto real = need(agent::describe_node(executable_folder() + "/stripline-worker", 60));
  experiment::Experiment steady = declared(kSteadyExperiment);
  steady.factors = {numbers("n", points_of_run)};
  experiment::Experiment large = declared(kLargeExperiment);
  large.factors = {numbers("n", kLargeSide), numbers("m", kLargeSide)};
  Hello hello;
  hello.agent_version = real.version;
  hello.fingerprint = real.fingerprint;
  hello.fabrics = {"tcp"};
  hello.experiments_json = real.experiments_json;
  for (const experiment::Experiment& one : {steady, large}) {
    hello.experiments_json.push_back(experiment::to_json(one).dump());
  }
  return hello;
}

Hello named(Hello hello, const std::string& node) {
  hello.node = node;
  hello.instance_id = "load-" + node;
  return hello;
}

std::filesystem::path new_identity(const server::Authority& authority,
                                   const std::filesystem::path& folder, const std::string& node) {
  const double now_unix_s = server::unix_seconds();
  const auto key = need(pki::PrivateKey::generate());
  const auto certificate = need(authority.certify_node(node, need(pki::make_request(key)),
                                                       {now_unix_s - 60, now_unix_s + 86400}));
  auto file = folder / (node + ".pem");
  need(agent::write_identity(
      file, {need(key.pem()), certificate, need(read_whole_file(authority.authority_file()))}));
  return file;
}

Cluster::Cluster(const HostAndPort& server, const server::Authority& authority,
                 const std::filesystem::path& folder, const Hello& hello, uint32_t agents,
                 const Pace& pace)
    : waiting_(agents) {
  for (uint32_t i = 0; i < agents; ++i) {
    const Hello one = named(hello, "n" + std::to_string(i));
    agents_.push_back(std::make_unique<LoadAgent>(server, new_identity(authority, folder, one.node),
                                                  one, pace, seen_, i + 1));
  }
}

bool Cluster::all_live(uint64_t n) const {
  return std::ranges::all_of(
      agents_, [&](const auto& agent) { return agent->live() && agent->sessions() >= n; });
}

void Cluster::turn(double end_s) {
  double next_s = std::min(end_s, steady_seconds() + 0.05);
  for (size_t i = 0; i < agents_.size(); ++i) {
    agents_[i]->turn();
    waiting_[i] = agents_[i]->waits_for();
    next_s = std::min(next_s, agents_[i]->next_event_s());
  }
  const int wait_ms = std::max(0, static_cast<int>((next_s - steady_seconds()) * 1e3));
  if (::poll(waiting_.data(), waiting_.size(), wait_ms) <= 0) return;
  for (size_t i = 0; i < agents_.size(); ++i) {
    if (waiting_[i].revents != 0) agents_[i]->on_ready();
  }
}

}  // namespace stripline::load
