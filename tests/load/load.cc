// A server under load: as many agents as are asked for, over TLS, from this one process; runs at
// once, samples at a steady pace, and in the middle a server that is killed and started again.
// Prints what it took, of the server and of the agents here, which share its host; ends with 1 if a
// sample or a run was lost. With --soak (soak_run.h) the server is left alone instead, and browsers
// and attackers call it, too: ends with 1 if a figure of soak.h is not met.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <string>
#include <sys/stat.h>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/clock.h"
#include "base/command_line.h"
#include "base/descriptors.h"
#include "base/exit_codes.h"
#include "stripline/v1/campaigns.grpc.pb.h"
#include "tests/load/agent_time.h"
#include "tests/load/campaign_request.h"
#include "tests/load/give_up.h"
#include "tests/load/loaded_server.h"
#include "tests/load/percentile.h"
#include "tests/load/soak_run.h"

namespace stripline::load {
namespace {

class Load {
 public:
  explicit Load(const LoadOptions& options)
      : options_(options),
        all_(options, {.server_options = {"--log-level", "warning"}, .run_s = options.seconds}) {}

  int run() {
    std::printf("%u agents, %u runs at once, %.0f samples/s in batches of %u, for %.0f s\n",
                options_.agents, options_.runs, options_.samples_per_s,
                options_.pace.samples_per_point, options_.seconds);
    LoadedServer::Spent begin = all_.spent();
    wait_for_all(1, "not all agents connected");
    all_.print("all connected", begin);
    create_campaigns();
    be_steady(options_.seconds / 2);
    killed_s_ = steady_seconds();
    all_.server().kill();
    all_.server().start(all_.server().address());
    begin = all_.spent();
    wait_for_all(2, "not all agents came back");
    back_s_ = steady_seconds();
    all_.print("all back, from the restart on", begin);
    be_steady(std::max(1.0, options_.seconds / 2 - (back_s_ - killed_s_)));
    const Seen& seen = all_.seen();
    const bool ended =
        all_.cluster().turn_until([&] { return seen.runs_finished >= options_.runs; }, kPatience_s);
    const uint64_t stored = wait_for_end();
    report(stored);
    const uint64_t expected =
        uint64_t{options_.runs} * all_.points_of_run() * options_.pace.samples_per_point;
    if (ended && stored == expected && seen.samples == expected && seen.runs_lost == 0) {
      return kExitOk;
    }
    std::cerr << "stripline-load: error: something was lost; the server's log:\n"
              << all_.server().log();
    return kExitFailure;
  }

 private:
  void wait_for_all(uint64_t sessions, const char* failure) {
    Cluster& cluster = all_.cluster();
    if (!cluster.turn_until([&] { return cluster.all_live(sessions); }, kPatience_s)) {
      give_up(failure);
    }
  }

  // Agents have their turns meanwhile.
  void create_campaigns() {
    const Administrator& administrator = all_.administrator();
    const auto stub = administrator.stub<v1::Campaigns>();
    const v1::CreateCampaignRequest request = campaign_request(kSteadyExperiment);
    for (uint32_t i = 0; i < options_.runs; ++i) {
      names_.push_back(
          administrator.ask(*stub, &v1::Campaigns::Stub::CreateCampaign, request).name());
      all_.cluster().turn_until([] { return false; }, 0.01);
    }
  }

  // Lets everybody work for this long.
  void be_steady(double seconds) {
    const LoadedServer::Spent begin = all_.spent();
    const uint64_t samples = all_.seen().samples;
    all_.cluster().turn_until([&] { return steady_seconds() >= begin.at_s + seconds; },
                              seconds + kPatience_s);
    steady_server_s_ += all_.spent().server_s - begin.server_s;
    steady_samples_ += all_.seen().samples - samples;
    all_.print("samples for", begin);
  }

  // How many samples the server has when all campaigns have ended.
  uint64_t wait_for_end() {
    const Administrator& administrator = all_.administrator();
    const auto stub = administrator.stub<v1::Campaigns>();
    uint64_t samples = 0;
    for (const std::string& name : names_) {
      v1::Campaign campaign;
      v1::GetCampaignRequest request;
      request.set_name(name);
      all_.cluster().look_until([&] {
        campaign = administrator.ask(*stub, &v1::Campaigns::Stub::GetCampaign, request);
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

  // Batches that had to wait for a server to be there say nothing of the server's pace.
  void report(uint64_t stored) {
    const Seen& seen = all_.seen();
    std::vector<double> steady_s;
    std::vector<double> delayed_s;
    for (const Acknowledged& one : seen.acknowledged) {
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
    std::printf("server's memory at most         %8.1f MiB resident\n", all_.server().peak_mib());
    std::printf(
        "a million samples               %8.2f s of the server's processor time, %.2f s of an "
        "agent's\n",
        1e6 * steady_server_s_ / static_cast<double>(std::max<uint64_t>(1, steady_samples_)),
        agent_s_per_million({kSteadyExperiment, "only", {{"n", int64_t{1}}}},
                            options_.pace.samples_per_point));
    const auto bytes = static_cast<double>(all_.stored_bytes());
    std::printf("bytes in the store              %8.1f MiB, %.1f for each sample\n",
                bytes / (1 << 20), bytes / static_cast<double>(std::max<uint64_t>(1, stored)));
    std::printf("batches %zu, samples stored %llu, acknowledged %llu, runs lost %llu\n",
                seen.acknowledged.size(), static_cast<unsigned long long>(stored),
                static_cast<unsigned long long>(seen.samples),
                static_cast<unsigned long long>(seen.runs_lost));
  }

  const LoadOptions options_;
  LoadedServer all_;
  std::vector<std::string> names_;
  double killed_s_ = 0;
  double back_s_ = 0;            // when all agents had come back
  double steady_server_s_ = 0;   // its processor time while samples were sent, for heartbeats, too
  uint64_t steady_samples_ = 0;  // acknowledged meanwhile
};

}  // namespace
}  // namespace stripline::load

int main(int argc, char** argv) {
  using namespace stripline;
  prepare_descriptors();
  std::signal(SIGPIPE, SIG_IGN);
  ::umask(077);  // Secrets that others can read are refused.
  load::LoadOptions options;
  bool soak = false;
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
      "--soak", soak,
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
  return soak ? load::run_soak(options) : load::Load(options).run();
}
