// A server under load: as many agents as are asked for, over TLS, from this one process; runs at
// once, samples at a steady pace, and in the middle a server that is killed and started again.
// Prints what it took, of the server and of the agents here, which share its host; ends with 1 if a
// sample or a run was lost. With --soak the server is left alone instead, and browsers and
// attackers call it, too: ends with 1 if a figure of soak.h is not met.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>
#include <grpcpp/grpcpp.h>

#include "agent/description.h"
#include "base/clock.h"
#include "base/command_line.h"
#include "base/descriptors.h"
#include "base/exit_codes.h"
#include "base/pki/certificate.h"
#include "base/pki/secret_file.h"
#include "base/pki/token.h"
#include "base/process_state.h"
#include "base/subprocess.h"
#include "base/testing/processes.h"
#include "base/whole_file.h"
#include "optimizer/experiment/json.h"
#include "server/clock.h"
#include "server/process/initialise.h"
#include "server/security/authority.h"
#include "stripline/v1/access.grpc.pb.h"
#include "stripline/v1/campaigns.grpc.pb.h"
#include "stripline/v1/fleet.grpc.pb.h"
#include "tests/load/agent_time.h"
#include "tests/load/campaign_request.h"
#include "tests/load/campaign_source.h"
#include "tests/load/load_agent.h"
#include "tests/load/server_under_test.h"
#include "tests/load/soak.h"
#include "tests/load/visitors.h"

namespace stripline::load {
namespace {

constexpr double kPatienceS = 120;
constexpr const char* kExperiment = "load.steady";
// Has many points, which are planned and not measured.
constexpr const char* kLargeExperiment = "load.large";
constexpr int64_t kLargeSide = 316;  // points: its square, about 100,000
// How long a run of a soak measures, and how often memory is looked at.
constexpr double kSoakRun_s = 60;
constexpr double kMemoryEvery_s = 5;
// The attacker among the nodes. No campaign of the load is over its fabric.
constexpr const char* kBadNode = "bad-node";
constexpr const char* kBadNodesFabric = "shm";

struct Options {
  uint32_t agents = 100;
  uint32_t runs = 0;  // at once; 0: one for 25 agents
  double seconds = 10;
  double samples_per_s = 0;  // in all; 0: 20 for each agent
  bool soak = false;
  uint32_t browsers = 50;  // of a soak
  Pace pace;
};

template <typename Value>
Value need(Result<Value> result) {
  if (!result.ok()) give_up(result.error().message());
  return std::move(*result);
}

void need(const Status& status) {
  if (!status.ok()) give_up(status.error().message());
}

double cpu_s(pid_t pid) {
  const auto state = process_state(pid);
  if (!state) give_up("cannot read /proc/" + std::to_string(pid) + "/stat");
  return static_cast<double>(state->cpu_ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double percentile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
}

class Load {
 public:
  explicit Load(const Options& options)
      : options_(options), server_(folder_.path(), server_options(options)) {
    const auto made = need(server::initialise(data(), {"localhost"}, server::unix_seconds()));
    admin_secret_ =
        need(pki::parse_token(need(pki::read_secret_line(made.admin_token_file.string())))).secret;
    server_.start("127.0.0.1:0");
    make_agents();
  }

  int run() { return options_.soak ? soak() : load(); }

 private:
  static std::vector<std::string> server_options(const Options& options) {
    if (!options.soak) return {"--log-level", "warning"};
    return {"--http-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"};
  }

  int load() {
    std::printf("%u agents, %u runs at once, %.0f samples/s in batches of %u, for %.0f s\n",
                options_.agents, options_.runs, options_.samples_per_s,
                options_.pace.samples_per_point, options_.seconds);
    Spent begin = spent();
    if (!turn_until([&] { return all_live(1); }, kPatienceS)) give_up("not all agents connected");
    print("all connected", begin);
    create_campaigns();
    be_steady(options_.seconds / 2);
    killed_s_ = steady_seconds();
    server_.kill();
    server_.start(server_.address());
    begin = spent();
    if (!turn_until([&] { return all_live(2); }, kPatienceS)) give_up("not all agents came back");
    back_s_ = steady_seconds();
    print("all back, from the restart on", begin);
    be_steady(std::max(1.0, options_.seconds / 2 - (back_s_ - killed_s_)));
    const bool ended = turn_until([&] { return seen_.runs_finished >= options_.runs; }, kPatienceS);
    const uint64_t stored = wait_for_end();
    report(stored);
    const uint64_t expected =
        uint64_t{options_.runs} * points_of_run() * options_.pace.samples_per_point;
    if (ended && stored == expected && seen_.samples == expected && seen_.runs_lost == 0) {
      return kExitOk;
    }
    std::cerr << "stripline-load: error: something was lost; the server's log:\n" << server_.log();
    return kExitFailure;
  }

  int soak() {
    std::printf(
        "%u agents, %u runs at once, %.0f samples/s in batches of %u, for %.0f s; %u browsers\n",
        options_.agents, options_.runs, options_.samples_per_s, options_.pace.samples_per_point,
        options_.seconds, options_.browsers);
    const Spent begin = spent();
    if (!turn_until([&] { return all_live(1); }, kPatienceS)) give_up("not all agents connected");
    print("all connected", begin);
    Visitors visitors(whom_to_visit());
    CampaignSource source(
        {server_.address(), authority_pem(), admin_secret_, kExperiment, options_.runs});
    visitors.begin_browsers();
    endure("agents and browsers", options_.seconds / 12);
    const double viewer_s = steady_seconds();
    visitors.begin(Attacker::viewer);
    endure("the same beside a viewer", options_.seconds / 12);
    const double everybody_s = steady_seconds();
    for (const Attacker attacker : kAttackers) {
      if (attacker != Attacker::viewer) visitors.begin(attacker);
    }
    endure("the same beside all attackers", options_.seconds * 5 / 6);
    const double end_s = steady_seconds();
    source.end();
    std::atomic<bool> alone = false;
    const std::jthread stopping([&] {
      visitors.stop();
      alone = true;
    });
    if (!turn_until([&] { return alone.load(); }, kPatienceS)) give_up("visitors did not end");
    if (!turn_until([&] { return source.ended(); }, kSoakRun_s + kPatienceS)) {
      std::cerr << "stripline-load: error: campaigns did not end\n";
    }

    SoakFigures figures;
    figures.p99_quiet_s = p99_s(begin.at_s, viewer_s);
    figures.p99_with_viewer_s = p99_s(viewer_s, everybody_s);
    figures.p99_s = p99_s(begin.at_s, end_s);
    std::erase_if(memory_, [&](const Resident& one) { return one.at_s < everybody_s; });
    figures.memory_growth = growth(memory_);
    figures.samples_measured = source.created() * points_of_run() * options_.pace.samples_per_point;
    figures.samples_acknowledged = seen_.samples;
    figures.samples_stored = source.samples();
    figures.runs_lost = seen_.runs_lost;
    const PageLoads& pages = visitors.page_loads();
    figures.pages_answered = pages.answers_s.size();
    figures.pages_deferred = pages.deferred;
    figures.pages_failed = pages.failed;
    figures.events_streamed = pages.streamed;
    for (const Attacker attacker : kAttackers) {
      std::printf("rounds of %-20s %10llu\n", name_of(attacker),
                  static_cast<unsigned long long>(visitors.rounds(attacker)));
      if (visitors.rounds(attacker) == 0) figures.idle_attackers.emplace_back(name_of(attacker));
    }
    report(figures, pages);
    auto found = unmet(figures);
    for (const std::string& failure : source.failures()) found.push_back(failure);
    for (const std::string& one : found) std::cerr << "stripline-load: error: " << one << "\n";
    return found.empty() ? kExitOk : kExitFailure;
  }

  std::filesystem::path data() const { return folder_ / "data"; }

  uint32_t points_of_run() const {
    const double run_s =
        options_.soak ? std::min(kSoakRun_s, options_.seconds / 4) : options_.seconds;
    return static_cast<uint32_t>(run_s * options_.pace.points_per_s);
  }

  std::string authority_pem() const { return read_file(data() / "tls" / "authority.pem"); }

  // One experiment with as many points as a run sends, beside those of a real node.
  Hello description() const {
    const auto real = need(agent::describe_node(executable_folder() + "/stripline-worker", 60));
    experiment::Experiment steady = declared(kExperiment);
    steady.factors = {numbers("n", points_of_run())};
    experiment::Experiment large = declared(kLargeExperiment);
    large.factors = {numbers("n", kLargeSide), numbers("m", kLargeSide)};
    Hello hello;
    hello.agent_version = real.version;
    hello.fingerprint = real.fingerprint;
    hello.fabrics = {"tcp"};
    hello.experiments_json = real.experiments_json;
    hello.experiments_json.push_back(experiment::to_json(steady).dump());
    if (options_.soak) hello.experiments_json.push_back(experiment::to_json(large).dump());
    return hello;
  }

  static experiment::Experiment declared(const std::string& name) {
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
  static experiment::Factor numbers(const std::string& name, int64_t most) {
    experiment::Factor factor;
    factor.name = name;
    factor.unit = "1";
    factor.description = "number of the point";
    for (int64_t n = 1; n <= most; ++n) factor.values.emplace_back(n);
    factor.minimum = 1;
    factor.maximum = 1e9;
    return factor;
  }

  void make_agents() {
    const auto authority = need(server::Authority::open(data(), server::unix_seconds()));
    const HostAndPort address = need(parse_host_and_port(server_.address()));
    const Hello hello = description();
    for (uint32_t i = 0; i < options_.agents; ++i) {
      const Hello one = named(hello, "n" + std::to_string(i));
      agents_.push_back(std::make_unique<LoadAgent>(address, identity_of(authority, one.node), one,
                                                    options_.pace, seen_, i + 1));
    }
  }

  static Hello named(Hello hello, const std::string& node) {
    hello.node = node;
    hello.instance_id = "load-" + node;
    return hello;
  }

  // The file with a new certificate of the node.
  std::filesystem::path identity_of(const server::Authority& authority,
                                    const std::string& node) const {
    const double now = server::unix_seconds();
    const auto key = need(pki::PrivateKey::generate());
    const auto certificate =
        need(authority.certify_node(node, need(pki::make_request(key)), {now - 60, now + 86400}));
    auto file = folder_ / (node + ".pem");
    need(agent::write_identity(
        file, {need(key.pem()), certificate, need(read_whole_file(authority.authority_file()))}));
    return file;
  }

  std::shared_ptr<grpc::Channel> channel() const {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = authority_pem();
    return grpc::CreateChannel(server_.address(), grpc::SslCredentials(options));
  }

  std::unique_ptr<v1::Campaigns::Stub> campaigns() const {
    return v1::Campaigns::NewStub(channel());
  }

  // The answer to a call of the administrator's.
  template <typename Stub, typename Request, typename Answer>
  Answer ask(Stub& stub, grpc::Status (Stub::*call)(grpc::ClientContext*, const Request&, Answer*),
             const Request& request) const {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + admin_secret_);
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    Answer answer;
    if (const auto status = (stub.*call)(&context, request, &answer); !status.ok()) {
      give_up(status.error_message());
    }
    return answer;
  }

  // What a new user of this role shows.
  std::string new_secret(v1::Role role, const std::string& user) const {
    v1::CreateTokenRequest request;
    request.set_role(role);
    request.set_subject(user);
    const auto stub = v1::Admin::NewStub(channel());
    return need(pki::parse_token(ask(*stub, &v1::Admin::Stub::CreateToken, request).text())).secret;
  }

  // The name in URLs, "c1", of a campaign of many points that is cancelled before it is measured:
  // agents have no turn in between.
  std::string large_campaign() {
    const auto stub = campaigns();
    v1::CreateCampaignRequest request = campaign_request(kLargeExperiment);
    for (const char* node : {"nodes/n0", "nodes/n1"}) request.mutable_spec()->add_only_nodes(node);
    const std::string name = ask(*stub, &v1::Campaigns::Stub::CreateCampaign, request).name();
    v1::CancelCampaignRequest cancel;
    cancel.set_name(name);
    ask(*stub, &v1::Campaigns::Stub::CancelCampaign, cancel);
    wait_for_first_nodes();
    return name.substr(name.find('/') + 1);
  }

  // Until both nodes of large campaigns have nothing to do any more: the order that was cancelled
  // has come and gone.
  void wait_for_first_nodes() {
    const auto stub = v1::Fleet::NewStub(channel());
    for (const char* name : {"nodes/n0", "nodes/n1"}) {
      v1::GetNodeRequest request;
      request.set_name(name);
      const bool idle = look_until(
          [&] { return ask(*stub, &v1::Fleet::Stub::GetNode, request).state() == v1::Node::IDLE; });
      if (!idle) give_up(std::string(name) + " does not become idle");
    }
  }

  Visited whom_to_visit() {
    Visited visited;
    visited.agents = need(parse_host_and_port(server_.address()));
    visited.pages_port = server_.port_after("dashboard on https://127.0.0.1:");
    visited.metrics_port = server_.port_after("metrics on http://127.0.0.1:");
    visited.authority_pem = authority_pem();
    for (uint32_t i = 0; i < options_.browsers; ++i) {
      visited.browser_secrets.push_back(new_secret(v1::VIEWER, "reader-" + std::to_string(i)));
    }
    visited.viewer_secret = new_secret(v1::VIEWER, "eve");
    visited.operator_secret = new_secret(v1::OPERATOR, "mallory");
    visited.node_identity =
        identity_of(need(server::Authority::open(data(), server::unix_seconds())), kBadNode);
    visited.hello = named(description(), kBadNode);
    visited.hello.fabrics = {kBadNodesFabric};
    visited.large_campaigns = {large_campaign(), large_campaign()};
    seen_ = {};  // a run of theirs that was given out, and taken away
    visited.large_experiment = kLargeExperiment;
    return visited;
  }

  // Agents have their turns meanwhile.
  void create_campaigns() {
    const auto stub = campaigns();
    const v1::CreateCampaignRequest request = campaign_request(kExperiment);
    for (uint32_t i = 0; i < options_.runs; ++i) {
      names_.push_back(ask(*stub, &v1::Campaigns::Stub::CreateCampaign, request).name());
      turn_until([] { return false; }, 0.01);
    }
  }

  // What has been used up to now; processor time of the server, and of the agents here.
  struct Spent {
    double at_s = 0;
    double server_s = 0;
    double here_s = 0;
  };
  Spent spent() const { return {steady_seconds(), cpu_s(server_.pid()), cpu_s(::getpid())}; }
  void print(const char* what, const Spent& begin) const {
    const Spent end = spent();
    std::printf("%-31s %8.2f s; processor time of the server %.2f s, of the agents %.2f s\n", what,
                end.at_s - begin.at_s, end.server_s - begin.server_s, end.here_s - begin.here_s);
  }

  // Lets everybody work for this long.
  void be_steady(double seconds) {
    const Spent begin = spent();
    const uint64_t samples = seen_.samples;
    turn_until([&] { return steady_seconds() >= begin.at_s + seconds; }, seconds + kPatienceS);
    steady_server_s_ += spent().server_s - begin.server_s;
    steady_samples_ += seen_.samples - samples;
    print("samples for", begin);
  }

  // The database with its log.
  uint64_t stored_bytes() const {
    uint64_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(data())) {
      if (file.path().filename().string().starts_with("stripline.db")) bytes += file.file_size();
    }
    return bytes;
  }

  // Lets everybody work for this long, and looks at the server's memory now and then.
  void endure(const char* what, double seconds) {
    const Spent begin = spent();
    double look_s = begin.at_s;
    turn_until(
        [&] {
          const double now = steady_seconds();
          if (now >= look_s) {
            if (!server_.running()) give_up("the server has ended: " + server_.log());
            memory_.push_back({now, server_.resident_mib()});
            look_s = now + kMemoryEvery_s;
          }
          return now >= begin.at_s + seconds;
        },
        seconds + kPatienceS);
    print(what, begin);
  }

  // From a batch to its acknowledgement, of those that were acknowledged in this time.
  double p99_s(double from_s, double to_s) const {
    std::vector<double> took_s;
    for (const Acknowledged& one : seen_.acknowledged) {
      if (one.at_s >= from_s && one.at_s < to_s) took_s.push_back(one.at_s - one.sent_s);
    }
    std::ranges::sort(took_s);
    return percentile(took_s, 0.99);
  }

  void report(const SoakFigures& figures, const PageLoads& pages) {
    std::printf(
        "batch to acknowledgement, p99   %8.2f ms; quiet %.2f ms, beside a viewer %.2f ms\n",
        1e3 * figures.p99_s, 1e3 * figures.p99_quiet_s, 1e3 * figures.p99_with_viewer_s);
    std::printf(
        "server's memory                 %8.1f MiB at the end, at most %.1f MiB; %.2f times "
        "what it was when all were there\n",
        memory_.empty() ? 0 : memory_.back().mib, server_.peak_mib(), figures.memory_growth);
    std::vector<double> answers_s = pages.answers_s;
    std::ranges::sort(answers_s);
    std::printf("answers to browsers             %8.2f ms (p50) %8.2f ms (p99) %8.2f ms (most)\n",
                1e3 * percentile(answers_s, 0.5), 1e3 * percentile(answers_s, 0.99),
                1e3 * percentile(answers_s, 1));
    std::printf("answered %llu, put off %llu, failed %llu, pieces of streams %llu\n",
                static_cast<unsigned long long>(pages.answers_s.size()),
                static_cast<unsigned long long>(pages.deferred),
                static_cast<unsigned long long>(pages.failed),
                static_cast<unsigned long long>(pages.streamed));
    for (const std::string& failure : pages.failures) std::printf("  %s\n", failure.c_str());
    std::printf("samples measured %llu, acknowledged %llu, stored %llu, runs lost %llu\n",
                static_cast<unsigned long long>(figures.samples_measured),
                static_cast<unsigned long long>(figures.samples_acknowledged),
                static_cast<unsigned long long>(figures.samples_stored),
                static_cast<unsigned long long>(figures.runs_lost));
  }

  // How many samples the server has when all campaigns have ended.
  uint64_t wait_for_end() {
    const auto stub = campaigns();
    uint64_t samples = 0;
    for (const std::string& name : names_) {
      v1::Campaign campaign;
      v1::GetCampaignRequest request;
      request.set_name(name);
      look_until([&] {
        campaign = ask(*stub, &v1::Campaigns::Stub::GetCampaign, request);
        return campaign.state() >= v1::Campaign::SUCCEEDED;
      });
      if (campaign.state() != v1::Campaign::SUCCEEDED) {
        std::cerr << name << " is " << v1::Campaign::State_Name(campaign.state()) << ": "
                  << campaign.message() << "\n";
      }
      samples += campaign.samples();
    }
    return samples;
  }

  // In at least their nth session: that the server has gone they notice later.
  bool all_live(uint64_t n) const {
    return std::ranges::all_of(
        agents_, [&](const auto& agent) { return agent->live() && agent->sessions() >= n; });
  }

  // Asks now and then, while the agents do what is due, until it is true; false after kPatienceS.
  template <typename Look>
  bool look_until(Look look) {
    const double end = steady_seconds() + kPatienceS;
    do {
      turn_until([] { return false; }, 0.05);
      if (look()) return true;
    } while (steady_seconds() < end);
    return false;
  }

  // Lets the agents do what is due until the condition holds; false after the limit.
  template <typename Condition>
  bool turn_until(Condition condition, double limit_s) {
    const double end = steady_seconds() + limit_s;
    std::vector<pollfd> fds(agents_.size());
    while (!condition()) {
      if (steady_seconds() >= end) return false;
      double next = std::min(end, steady_seconds() + 0.05);
      for (size_t i = 0; i < agents_.size(); ++i) {
        agents_[i]->turn();
        fds[i] = agents_[i]->waits_for();
        next = std::min(next, agents_[i]->next_event_s());
      }
      const int wait_ms = std::max(0, static_cast<int>((next - steady_seconds()) * 1e3));
      if (::poll(fds.data(), fds.size(), wait_ms) <= 0) continue;
      for (size_t i = 0; i < agents_.size(); ++i) {
        if (fds[i].revents != 0) agents_[i]->on_ready();
      }
    }
    return true;
  }

  // Batches that had to wait for a server to be there say nothing of the server's pace.
  void report(uint64_t stored) {
    std::vector<double> steady_s;
    std::vector<double> delayed_s;
    for (const Acknowledged& one : seen_.acknowledged) {
      const bool steady = one.at_s <= killed_s_ || one.due_s >= back_s_;
      (steady ? steady_s : delayed_s).push_back(one.at_s - one.sent_s);
    }
    std::ranges::sort(steady_s);
    std::ranges::sort(delayed_s);
    std::printf("batch to acknowledgement        %8.2f ms (p50) %8.2f ms (p99) %8.2f ms (most)\n",
                1e3 * percentile(steady_s, 0.5), 1e3 * percentile(steady_s, 0.99),
                1e3 * percentile(steady_s, 1));
    std::printf("the same across the restart     %8.2f s (most), of %zu batches\n",
                percentile(delayed_s, 1), delayed_s.size());
    std::printf("server's memory at most         %8.1f MiB resident\n", server_.peak_mib());
    std::printf(
        "a million samples               %8.2f s of the server's processor time, %.2f s of an "
        "agent's\n",
        1e6 * steady_server_s_ / static_cast<double>(std::max<uint64_t>(1, steady_samples_)),
        agent_s_per_million({kExperiment, "only", {{"n", int64_t{1}}}},
                            options_.pace.samples_per_point));
    std::printf(
        "bytes in the store              %8.1f MiB, %.1f for each sample\n",
        static_cast<double>(stored_bytes()) / (1 << 20),
        static_cast<double>(stored_bytes()) / static_cast<double>(std::max<uint64_t>(1, stored)));
    std::printf("batches %zu, samples stored %llu, acknowledged %llu, runs lost %llu\n",
                seen_.acknowledged.size(), static_cast<unsigned long long>(stored),
                static_cast<unsigned long long>(seen_.samples),
                static_cast<unsigned long long>(seen_.runs_lost));
  }

  Options options_;
  TempFolder folder_;
  ServerUnderTest server_;
  std::string admin_secret_;
  Seen seen_;
  std::vector<std::unique_ptr<LoadAgent>> agents_;
  std::vector<std::string> names_;
  double killed_s_ = 0;
  double back_s_ = 0;             // when all agents had come back
  double steady_server_s_ = 0;    // its processor time while samples were sent, for heartbeats, too
  uint64_t steady_samples_ = 0;   // acknowledged meanwhile
  std::vector<Resident> memory_;  // of a soak
};

}  // namespace
}  // namespace stripline::load

int main(int argc, char** argv) {
  using namespace stripline;
  prepare_descriptors();
  std::signal(SIGPIPE, SIG_IGN);
  ::umask(077);  // Secrets that others can read are refused.
  load::Options options;
  CLI::App app("A tuning server under the load of many agents.", "stripline-load");
  app.add_option("--agents", options.agents, "How many")
      ->transform(whole_number(2, 10'000))
      ->capture_default_str();
  app.add_option("--runs", options.runs, "Measured at once (default: one for 25 agents)")
      ->transform(whole_number(1, 5000));
  app.add_option("--seconds", options.seconds, "Of samples")
      ->transform(time_within({.least_s = 1, .most_s = 3600}))
      ->capture_default_str();
  app.add_option("--samples", options.samples_per_s,
                 "A second, of all runs (default: 20 for each agent)")
      ->transform(whole_number(1, 10'000'000));
  app.add_flag(
      "--soak", options.soak,
      "Leave the server alone, and let browsers and attackers call it: ends with 1 unless all "
      "figures that are asked for are met");
  app.add_option("--browsers", options.browsers, "Of a soak")
      ->transform(whole_number(1, 200))
      ->capture_default_str();
  if (const auto end = read_command_line(app, argc, argv)) return *end;
  if (options.runs == 0) options.runs = std::max(1U, options.agents / 25);
  if (2 * options.runs > options.agents) load::give_up("each run takes two agents; ask for more");
  if (options.samples_per_s == 0) options.samples_per_s = 20.0 * options.agents;
  options.pace.samples_per_point = std::max(
      1U, static_cast<uint32_t>(options.samples_per_s / options.runs / options.pace.points_per_s));
  return load::Load(options).run();
}
