#include "tests/load/soak_run.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/exit_codes.h"
#include "stripline/v1/access.pb.h"
#include "tests/load/campaign_source.h"
#include "tests/load/give_up.h"
#include "tests/load/measured_history.h"
#include "tests/load/percentile.h"
#include "tests/load/soak.h"
#include "tests/load/visitors.h"

namespace stripline::load {
namespace {

// How long a run measures, and how often memory is looked at.
constexpr double kRun_s = 60;
constexpr double kMemoryEvery_s = 5;
// What the campaigns have that the viewer reads, which are there from the beginning.
constexpr uint32_t kLargePoints = 100'000;
// The attacker among the nodes. No campaign of the load is over its fabric.
constexpr const char* kBadNode = "bad-node";
constexpr const char* kBadNodesFabric = "shm";

// A time between two moments.
struct Window {
  double from_s = 0;
  double to_s = 0;
  bool has(double at_s) const { return at_s >= from_s && at_s < to_s; }
};

double p99(std::vector<double> values) {
  std::ranges::sort(values);
  return percentile(values, 0.99);
}

// From a batch to its acknowledgement, of those that were acknowledged in this time.
double p99_of_batches_s(const Seen& seen, const Window& window) {
  std::vector<double> took_s;
  for (const Acknowledged& one : seen.acknowledged) {
    if (window.has(one.at_s)) took_s.push_back(one.at_s - one.sent_s);
  }
  return p99(std::move(took_s));
}

// From a browser's request to its answer, of those that came in this time.
double p99_of_pages_s(const PageLoads& pages, const Window& window) {
  std::vector<double> took_s;
  for (const PageAnswer& one : pages.answers) {
    if (window.has(one.at_s)) took_s.push_back(one.took_s);
  }
  return p99(std::move(took_s));
}

class Soak {
 public:
  explicit Soak(const LoadOptions& options)
      : options_(options),
        all_(options,
             {.server_options = {"--http-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"},
              .run_s = std::min(kRun_s, options.seconds / 4),
              .fill = [](const std::filesystem::path& database) {
                return fill_with_history(database, 2, kLargePoints);
              }}) {}

  int run() {
    std::printf(
        "%u agents, %u runs at once, %.0f samples/s in batches of %u, for %.0f s; %u browsers\n",
        options_.agents, options_.runs, options_.samples_per_s, options_.pace.samples_per_point,
        options_.seconds, options_.browsers);
    Cluster& cluster = all_.cluster();
    const LoadedServer::Spent begin = all_.spent();
    if (!cluster.turn_until([&] { return cluster.all_live(1); }, kPatience_s)) {
      give_up("not all agents connected");
    }
    all_.print("all connected", begin);
    Visitors visitors(whom_to_visit());
    const Administrator& administrator = all_.administrator();
    CampaignSource source({all_.server().address(), administrator.authority_pem(),
                           administrator.secret(), kSteadyExperiment, options_.runs});
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
    end(visitors);
    if (!cluster.turn_until([&] { return source.ended(); }, kRun_s + kPatience_s)) {
      std::cerr << "stripline-load: error: campaigns did not end\n";
    }

    SoakFigures figures = figures_of(visitors, source);
    const Window quiet{begin.at_s, viewer_s};
    const Window with_viewer{viewer_s, everybody_s};
    figures.p99_quiet_s = p99_of_batches_s(all_.seen(), quiet);
    figures.p99_with_viewer_s = p99_of_batches_s(all_.seen(), with_viewer);
    figures.p99_s = p99_of_batches_s(all_.seen(), {begin.at_s, end_s});
    figures.pages_p99_quiet_s = p99_of_pages_s(visitors.page_loads(), quiet);
    figures.pages_p99_with_viewer_s = p99_of_pages_s(visitors.page_loads(), with_viewer);
    std::erase_if(memory_, [&](const Resident& one) { return one.at_s < everybody_s; });
    figures.memory_growth = growth(memory_);
    report(figures, visitors.page_loads());
    auto found = unmet(figures);
    for (const std::string& failure : source.failures()) found.push_back(failure);
    for (const std::string& one : found) std::cerr << "stripline-load: error: " << one << "\n";
    return found.empty() ? kExitOk : kExitFailure;
  }

 private:
  Visited whom_to_visit() {
    ServerUnderTest& server = all_.server();
    const Administrator& administrator = all_.administrator();
    Visited visited;
    visited.agents = need(parse_host_and_port(server.address()));
    visited.pages_port = server.port_after("dashboard on https://127.0.0.1:");
    visited.metrics_port = server.port_after("metrics on http://127.0.0.1:");
    visited.authority_pem = administrator.authority_pem();
    for (uint32_t i = 0; i < options_.browsers; ++i) {
      visited.browser_secrets.push_back(
          administrator.new_secret(v1::VIEWER, "reader-" + std::to_string(i)));
    }
    visited.viewer_secret = administrator.new_secret(v1::VIEWER, "eve");
    visited.operator_secret = administrator.new_secret(v1::OPERATOR, "mallory");
    visited.node_identity = all_.identity_of(kBadNode);
    visited.hello = named(all_.description(), kBadNode);
    visited.hello.fabrics = {kBadNodesFabric};
    visited.large_campaigns = {"c1", "c2"};  // of the history
    visited.measured_experiment = kHistoryExperiment;
    visited.large_experiment = kLargeExperiment;
    return visited;
  }

  // Lets everybody work for this long, and looks at the server's memory now and then.
  void endure(const char* what, double seconds) {
    const LoadedServer::Spent begin = all_.spent();
    double look_s = begin.at_s;
    all_.cluster().turn_until(
        [&] {
          const double now = steady_seconds();
          if (now >= look_s) {
            ServerUnderTest& server = all_.server();
            if (!server.running()) give_up("the server has ended: " + server.log());
            memory_.push_back({now, server.resident_mib()});
            look_s = now + kMemoryEvery_s;
          }
          return now >= begin.at_s + seconds;
        },
        seconds + kPatience_s);
    all_.print(what, begin);
  }

  // Agents have their turns meanwhile.
  void end(Visitors& visitors) {
    std::atomic<bool> alone = false;
    const std::jthread stopping([&] {
      visitors.stop();
      alone = true;
    });
    if (!all_.cluster().turn_until([&] { return alone.load(); }, kPatience_s)) {
      give_up("visitors did not end");
    }
  }

  // What was counted.
  SoakFigures figures_of(const Visitors& visitors, const CampaignSource& source) {
    const Seen& seen = all_.seen();
    SoakFigures figures;
    figures.samples_measured =
        source.created() * all_.points_of_run() * options_.pace.samples_per_point;
    figures.samples_acknowledged = seen.samples;
    figures.samples_stored = source.samples();
    figures.runs_lost = seen.runs_lost;
    const PageLoads& pages = visitors.page_loads();
    figures.pages_answered = pages.answers.size();
    figures.pages_deferred = pages.deferred;
    figures.pages_failed = pages.failed;
    figures.events_streamed = pages.streamed;
    for (const Attacker attacker : kAttackers) {
      std::printf("rounds of %-20s %10llu\n", name_of(attacker),
                  static_cast<unsigned long long>(visitors.rounds(attacker)));
      if (visitors.rounds(attacker) == 0) figures.idle_attackers.emplace_back(name_of(attacker));
    }
    return figures;
  }

  void report(const SoakFigures& figures, const PageLoads& pages) {
    std::printf(
        "batch to acknowledgement, p99   %8.2f ms; quiet %.2f ms, beside a viewer %.2f ms\n",
        1e3 * figures.p99_s, 1e3 * figures.p99_quiet_s, 1e3 * figures.p99_with_viewer_s);
    std::printf(
        "server's memory                 %8.1f MiB at the end, at most %.1f MiB; %.2f times "
        "what it was when all were there\n",
        memory_.empty() ? 0 : memory_.back().mib, all_.server().peak_mib(), figures.memory_growth);
    std::vector<double> took_s;
    for (const PageAnswer& one : pages.answers) took_s.push_back(one.took_s);
    std::ranges::sort(took_s);
    std::printf("answers to browsers             %8.2f ms (p50) %8.2f ms (p99) %8.2f ms (most)\n",
                1e3 * percentile(took_s, 0.5), 1e3 * percentile(took_s, 0.99),
                1e3 * percentile(took_s, 1));
    std::printf("the same, p99                   quiet %.2f ms, beside a viewer %.2f ms\n",
                1e3 * figures.pages_p99_quiet_s, 1e3 * figures.pages_p99_with_viewer_s);
    std::printf("answered %llu, put off %llu, failed %llu, pieces of streams %llu\n",
                static_cast<unsigned long long>(pages.answers.size()),
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

  const LoadOptions options_;
  LoadedServer all_;
  std::vector<Resident> memory_;
};

}  // namespace

int run_soak(const LoadOptions& options) { return Soak(options).run(); }

}  // namespace stripline::load
