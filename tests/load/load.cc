// A server under load: as many agents as are asked for, over TLS, from this one process; runs at
// once, samples at a steady pace, and in the middle a server that is killed and started again.
// Prints what it took, of the server and of the agents here, which share its host; ends with 1 if a
// sample or a run was lost.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <grpcpp/grpcpp.h>

#include "agent/description.h"
#include "base/command_line.h"
#include "base/descriptors.h"
#include "base/exit_codes.h"
#include "base/json.h"
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
#include "stripline/v1/campaigns.grpc.pb.h"
#include "tests/load/load_agent.h"

namespace stripline::load {
namespace {

constexpr double kPatienceS = 120;
constexpr const char* kExperiment = "load.steady";

struct Options {
  uint32_t agents = 100;
  uint32_t runs = 0;  // at once; 0: one for 25 agents
  double seconds = 10;
  double samples_per_s = 0;  // in all; 0: 20 for each agent
  Pace pace;
};

// Ends the program: nothing here goes on without what failed.
[[noreturn]] void give_up(const std::string& why) {
  std::cerr << "stripline-load: error: " << why << "\n";
  std::exit(kExitFailure);  // NOLINT(concurrency-mt-unsafe)
}

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

class ServerUnderTest {
 public:
  explicit ServerUnderTest(const std::filesystem::path& folder)
      : folder_(folder), log_(folder / "server.log") {}

  void start(const std::string& listen) {
    std::filesystem::remove(folder_ / "port");
    SubprocessOptions options;
    options.argv = {executable_folder() + "/stripline-server",
                    "--listen",
                    listen,
                    "--data-dir",
                    folder_ / "data",
                    "--port-file",
                    folder_ / "port",
                    "--log-level",
                    "warning"};
    UniqueFd log(::open(log_.c_str(), O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600));
    options.stdout_fd = log.get();
    options.stderr_fd = log.get();
    process_ = std::make_unique<Subprocess>(need(Subprocess::spawn(options)));
    const double end = now_s() + kPatienceS;
    while (!std::filesystem::exists(folder_ / "port")) {
      if (process_->poll() || now_s() > end) give_up("no server: " + read_file(log_));
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    address_ = first_line(folder_ / "port");
  }
  void kill() {
    peak_mib_ = std::max(peak_mib_, peak_mib());
    process_->signal(SIGKILL);
    need(process_->wait(kPatienceS));
  }
  const std::string& address() const { return address_; }
  pid_t pid() const { return process_->pid(); }
  // The most that was resident of the server, in any of its processes so far.
  double peak_mib() {
    std::istringstream status(read_file("/proc/" + std::to_string(process_->pid()) + "/status"));
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmHWM:"))
        peak_mib_ = std::max(peak_mib_, std::stod(line.substr(6)) / 1024);
    }
    return peak_mib_;
  }
  std::string log() const { return read_file(log_); }

 private:
  std::filesystem::path folder_;
  std::filesystem::path log_;
  std::unique_ptr<Subprocess> process_;
  std::string address_;
  double peak_mib_ = 0;
};

class Load {
 public:
  explicit Load(const Options& options) : options_(options), server_(folder_.path()) {
    const auto made = need(server::initialise(data(), {"localhost"}, server::unix_seconds()));
    admin_secret_ =
        need(pki::parse_token(need(pki::read_secret_line(made.admin_token_file.string())))).secret;
    server_.start("127.0.0.1:0");
    need(server::Authority::open(data(), server::unix_seconds()));
    make_agents();
  }

  int run() {
    std::printf("%u agents, %u runs at once, %.0f samples/s in batches of %u, for %.0f s\n",
                options_.agents, options_.runs, options_.samples_per_s,
                options_.pace.samples_per_point, options_.seconds);
    Spent begin = spent();
    if (!turn_until([&] { return all_live(1); }, kPatienceS)) give_up("not all agents connected");
    print("all connected", begin);
    create_campaigns();
    be_steady(options_.seconds / 2);
    killed_s_ = now_s();
    server_.kill();
    server_.start(server_.address());
    begin = spent();
    if (!turn_until([&] { return all_live(2); }, kPatienceS)) give_up("not all agents came back");
    back_s_ = now_s();
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

 private:
  std::filesystem::path data() const { return folder_ / "data"; }

  uint32_t points_of_run() const {
    return static_cast<uint32_t>(options_.seconds * options_.pace.points_per_s);
  }

  // One experiment with as many points as a run sends, beside those of a real node.
  agent::Hello description() const {
    const auto real = need(agent::describe_node(executable_folder() + "/stripline-worker", 60));
    experiment::Experiment steady;
    steady.name = kExperiment;
    steady.title = "load";
    steady.description = "what a run sends";
    steady.metric = {"time", "s", true};
    steady.min_ranks = 2;
    steady.max_ranks = 2;
    steady.variants = {"only"};
    steady.verification = "none";
    experiment::Factor factor;
    factor.name = "n";
    factor.unit = "1";
    factor.description = "number of the point";
    for (int64_t n = 1; n <= points_of_run(); ++n) factor.values.emplace_back(n);
    factor.minimum = 1;
    factor.maximum = 1e9;
    steady.factors = {factor};
    agent::Hello hello;
    hello.agent_version = real.version;
    hello.fingerprint = real.fingerprint;
    hello.fabrics = {"tcp"};
    hello.experiments_json = real.experiments_json;
    hello.experiments_json.push_back(experiment::to_json(steady).dump());
    return hello;
  }

  void make_agents() {
    const auto authority = need(server::Authority::open(data(), server::unix_seconds()));
    const std::string authority_pem = need(read_whole_file(authority.authority_file()));
    const HostAndPort address = need(parse_host_and_port(server_.address()));
    const agent::Hello hello = description();
    const double now = server::unix_seconds();
    for (uint32_t i = 0; i < options_.agents; ++i) {
      agent::Hello one = hello;
      one.node = "n" + std::to_string(i);
      one.instance_id = "load-" + one.node;
      const auto key = need(pki::PrivateKey::generate());
      const auto certificate = need(
          authority.certify_node(one.node, need(pki::make_request(key)), {now - 60, now + 86400}));
      const auto identity = folder_ / (one.node + ".pem");
      need(agent::write_identity(identity, {need(key.pem()), certificate, authority_pem}));
      agents_.push_back(
          std::make_unique<LoadAgent>(address, identity, one, options_.pace, seen_, i + 1));
    }
  }

  std::unique_ptr<v1::Campaigns::Stub> campaigns() const {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = read_file(data() / "tls" / "authority.pem");
    return v1::Campaigns::NewStub(
        grpc::CreateChannel(server_.address(), grpc::SslCredentials(options)));
  }

  void show(grpc::ClientContext& context) const {
    context.AddMetadata("authorization", "Bearer " + admin_secret_);
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  }

  // Agents have their turns meanwhile.
  void create_campaigns() {
    const auto stub = campaigns();
    for (uint32_t i = 0; i < options_.runs; ++i) {
      v1::CreateCampaignRequest request;
      request.mutable_spec()->set_fabric("tcp");
      request.mutable_spec()->add_experiments(kExperiment);
      request.mutable_spec()->set_runs(1);
      request.mutable_spec()->set_time_budget_s(86400);
      request.mutable_spec()->set_effort(v1::CampaignSpec::FULL);
      grpc::ClientContext context;
      show(context);
      v1::Campaign campaign;
      const grpc::Status status = stub->CreateCampaign(&context, request, &campaign);
      if (!status.ok()) give_up(status.error_message());
      names_.push_back(campaign.name());
      turn_until([] { return false; }, 0.01);
    }
  }

  // What has been used up to now; processor time of the server, and of the agents here.
  struct Spent {
    double at_s = 0;
    double server_s = 0;
    double here_s = 0;
  };
  Spent spent() const { return {now_s(), cpu_s(server_.pid()), cpu_s(::getpid())}; }
  void print(const char* what, const Spent& begin) const {
    const Spent end = spent();
    std::printf("%-31s %8.2f s; processor time of the server %.2f s, of the agents %.2f s\n", what,
                end.at_s - begin.at_s, end.server_s - begin.server_s, end.here_s - begin.here_s);
  }

  // Lets everybody work for this long.
  void be_steady(double seconds) {
    const Spent begin = spent();
    turn_until([&] { return now_s() >= begin.at_s + seconds; }, seconds + kPatienceS);
    print("samples for", begin);
  }

  // How many samples the server has when all campaigns have ended.
  uint64_t wait_for_end() {
    const auto stub = campaigns();
    uint64_t samples = 0;
    for (const std::string& name : names_) {
      v1::Campaign campaign;
      for (const double end = now_s() + kPatienceS; now_s() < end;) {
        v1::GetCampaignRequest request;
        request.set_name(name);
        grpc::ClientContext context;
        show(context);
        if (const auto status = stub->GetCampaign(&context, request, &campaign); !status.ok()) {
          give_up(status.error_message());
        }
        if (campaign.state() >= v1::Campaign::SUCCEEDED) break;
        turn_until([] { return false; }, 0.05);
      }
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

  // Lets the agents do what is due until the condition holds; false after the limit.
  template <typename Condition>
  bool turn_until(Condition condition, double limit_s) {
    const double end = now_s() + limit_s;
    std::vector<pollfd> fds(agents_.size());
    while (!condition()) {
      if (now_s() >= end) return false;
      double next = std::min(end, now_s() + 0.05);
      for (size_t i = 0; i < agents_.size(); ++i) {
        agents_[i]->turn();
        fds[i] = agents_[i]->waits_for();
        next = std::min(next, agents_[i]->next_event_s());
      }
      const int wait_ms = std::max(0, static_cast<int>((next - now_s()) * 1e3));
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
  double back_s_ = 0;  // when all agents had come back
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
  if (const auto end = read_command_line(app, argc, argv)) return *end;
  if (options.runs == 0) options.runs = std::max(1U, options.agents / 25);
  if (2 * options.runs > options.agents) load::give_up("each run takes two agents; ask for more");
  if (options.samples_per_s == 0) options.samples_per_s = 20.0 * options.agents;
  options.pace.samples_per_point = std::max(
      1U, static_cast<uint32_t>(options.samples_per_s / options.runs / options.pace.points_per_s));
  return load::Load(options).run();
}
