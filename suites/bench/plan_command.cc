// `stripline-bench run-plan`: a campaign's plan, carried out where no server is reached.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "base/atomic_file.h"
#include "base/cut_text.h"
#include "base/exit_codes.h"
#include "base/quantity.h"
#include "base/whole_file.h"
#include "optimizer/campaign/bundle_json.h"
#include "optimizer/campaign/left_out.h"
#include "optimizer/campaign/offline_results.h"
#include "suites/bench/commands.h"
#include "suites/bench/failure.h"
#include "suites/bench/offline_run.h"
#include "suites/bench/progress.h"
#include "suites/registry.h"

namespace stripline::suites::bench {
namespace {

// As a server's.
constexpr uint32_t kMostAttempts = 3;
constexpr double kLongestRunS = 1e6;  // where there is no budget
constexpr size_t kLongestReasonBytes = 1024;

void print_note(const std::string& text) {
  std::fprintf(stderr, "stripline-bench: %s\n", text.c_str());
}

Status check_experiments(const campaign::PlanBundle& plan) {
  for (const auto& [name, version] : plan.requirements) {
    const Benchmark* const known = find_benchmark(name);
    if (known != nullptr && known->declaration.version == version) continue;
    return Error(ErrorCode::failed_precondition,
                 "the plan asks for version " + std::to_string(version) + " of '" + name + "', " +
                     (known == nullptr ? "which this release does not have"
                                       : "and this release has version " +
                                             std::to_string(known->declaration.version)) +
                     "; export the plan from a server whose agents are of this release");
  }
  return {};
}

// What was measured before, if the file is there and of this plan.
Result<campaign::OfflineResults> begun(const std::string& file, campaign::PlanBundle plan) {
  campaign::OfflineResults results;
  if (!std::filesystem::exists(file)) {
    results.plan = std::move(plan);
    return results;
  }
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text,
                             read_whole_file(file, campaign::kMaxResultsBytes));
  STRIPLINE_ASSIGN_OR_RETURN(auto before, campaign::read_results(text, "'" + file + "'"));
  // As JSON: files may write the same number in two forms.
  STRIPLINE_ASSIGN_OR_RETURN(const Json is, campaign::to_json(before.plan));
  STRIPLINE_ASSIGN_OR_RETURN(const Json asked, campaign::to_json(plan));
  if (is == asked) return before;
  return Error(ErrorCode::already_exists,
               "'" + file + "' holds results of another plan; name another file");
}

Status write(const std::string& file, const campaign::OfflineResults& results) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, campaign::results_text(results));
  return write_atomically(file, text);
}

Result<OfflineGroup> group_of(const PlanOptions& options, const campaign::PlanBundle& plan) {
  OfflineGroup group;
  group.nodes = plan.rule.nodes;
  group.worker = options.worker;
  group.cancel_fd = options.cancel_fd;
  if (!options.hosts.given()) return group;
  if (plan.assignment.fabric.starts_with("emulated:")) {
    return Error(ErrorCode::invalid_argument,
                 "emulated networks exist within one host; leave --hosts out");
  }
  STRIPLINE_ASSIGN_OR_RETURN(group.elsewhere, bootstrap::hosts_options(options.hosts, {}));
  group.elsewhere.warn = print_note;
  for (const bootstrap::HostRanks& share : group.elsewhere.shares)
    group.hosts.push_back(share.host);
  if (group.hosts.size() < group.nodes) {
    return Error(ErrorCode::invalid_argument, "the plan is for " + count_text(group.nodes, "node") +
                                                  ", and --hosts names " +
                                                  std::to_string(group.hosts.size()));
  }
  group.worker = bootstrap::program_for_hosts(group.worker, group.elsewhere.folder);
  STRIPLINE_RETURN_IF_ERROR(
      bootstrap::add_environment_for_hosts(options.hosts.exported, group.environment));
  return group;
}

// Measures until next_run() has nothing more. The file is whole after each run, so that whatever
// ends this process, what was measured is there, and is gone on with.
class Campaign {
 public:
  Campaign(const PlanOptions& options, OfflineGroup group, campaign::OfflineResults results)
      : options_(options),
        group_(std::move(group)),
        results_(std::move(results)),
        table_(campaign::table_of(results_)) {}

  Status measure() {
    while (true) {
      const campaign::Next next = campaign::next_of(results_, table_);
      if (next.done) return end(next);
      STRIPLINE_RETURN_IF_ERROR(run(next));
    }
  }

  const campaign::OfflineResults& results() const { return results_; }

 private:
  Status end(const campaign::Next& next) {
    results_.reason = *next.done;
    STRIPLINE_RETURN_IF_ERROR(write(options_.results_file, results_));
    if (next.usable) return {};
    return Error(ErrorCode::deadline_exceeded,
                 std::string(to_string(*next.done)) + ": " + std::to_string(results_.runs.size()) +
                     " of " + count_text(results_.plan.rule.runs, "run") +
                     " are measured, and a result needs " +
                     std::to_string(results_.plan.rule.fewest_runs) +
                     "; plan fewer experiments or a larger time budget");
  }

  Status run(const campaign::Next& next) {
    const auto number = static_cast<uint32_t>(results_.runs.size() + 1);
    const double left_s = campaign::budget_s(results_.plan.rule) - results_.spent_s;
    OfflineOrder order{campaign::assignment_of(results_.plan, table_, next, number),
                       results_.left_out,
                       std::min(left_s, kLongestRunS),
                       {}};
    const std::string name =
        "run " + std::to_string(number) + " of " + std::to_string(results_.plan.rule.runs) + ": ";
    const std::string all = count_text(order.assignment.points.size(), "point");
    order.tell = [&](uint32_t points, const std::string& news) {
      if (!news.empty()) return progress_.say(name + news);
      progress_.keep_showing(name + std::to_string(points) + " of " + all);
    };
    const double began_s = progress_.elapsed_s();
    std::string failed_at;
    auto measured = measure_offline(group_, order, failed_at);
    if (!measured.ok()) return lost(measured.error(), failed_at, progress_.elapsed_s() - began_s);
    attempts_ = 0;
    measured->grid = next.grid;
    measured->added = next.added;
    results_.spent_s += measured->duration_s;
    results_.runs.push_back(*std::move(measured));
    table_ = campaign::table_of(results_);
    return write(options_.results_file, results_);
  }

  // It is measured again, if need be without the experiment that it failed at, unless that is of no
  // use.
  Status lost(const Error& why, const std::string& failed_at, double seconds) {
    if (why.code() == ErrorCode::cancelled) return why;
    results_.spent_s += seconds;
    ++results_.lost_runs;
    const bool left_out =
        campaign::leave_out(failed_at, cut_text(why.message(), kLongestReasonBytes), false,
                            results_.plan.requirements, failures_, results_.left_out);
    STRIPLINE_RETURN_IF_ERROR(write(options_.results_file, results_));
    if (left_out) {
      attempts_ = 0;
      progress_.say("a run was lost: " + why.message() + "; " + failed_at +
                    " is left out from now on, and the others are measured");
      return {};
    }
    if (campaign::next_of(results_, table_).done) {
      progress_.say("a run was lost: " + why.message());
      return {};
    }
    const bool accident = !failed_at.empty() || why.code() == ErrorCode::aborted ||
                          why.code() == ErrorCode::unavailable ||
                          why.code() == ErrorCode::internal ||
                          why.code() == ErrorCode::deadline_exceeded;
    if (!accident || ++attempts_ >= kMostAttempts) return why;
    progress_.say("a run was lost, and is measured again: " + why.message());
    return {};
  }

  const PlanOptions& options_;
  const OfflineGroup group_;
  campaign::OfflineResults results_;
  campaign::PointTable table_;
  Progress progress_;
  uint32_t attempts_ = 0;
  std::map<std::string, uint32_t> failures_;  // by experiment
};

Result<campaign::OfflineResults> carry_out(const PlanOptions& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text,
                             read_whole_file(options.plan_file, campaign::kMaxBundleBytes));
  STRIPLINE_ASSIGN_OR_RETURN(auto plan, campaign::read_bundle(text, "'" + options.plan_file + "'"));
  STRIPLINE_RETURN_IF_ERROR(check_experiments(plan));
  STRIPLINE_RETURN_IF_ERROR(check_offline(plan.assignment));
  STRIPLINE_ASSIGN_OR_RETURN(auto group, group_of(options, plan));
  STRIPLINE_ASSIGN_OR_RETURN(auto results, begun(options.results_file, std::move(plan)));
  Campaign campaign(options, std::move(group), std::move(results));
  STRIPLINE_RETURN_IF_ERROR(campaign.measure());
  return campaign.results();
}

}  // namespace

int plan_command(const PlanOptions& options) {
  const auto results = carry_out(options);
  if (!results.ok()) return bench::report(results.error());
  std::printf("%s: %s in %s, %s%s; take them to the server:\n  stripline campaign import %s\n",
              std::string(to_string(results->reason)).c_str(),
              count_text(results->runs.size(), "run").c_str(),
              duration_text(results->spent_s).c_str(), options.results_file.c_str(),
              campaign::left_out_text(results->left_out).c_str(), options.results_file.c_str());
  return kExitOk;
}

}  // namespace stripline::suites::bench
