#include "optimizer/campaign/spec.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/enum_names.h"

namespace stripline::campaign {
namespace {

constexpr std::array<std::string_view, 3> kWhenBusy = {"wait", "measure", "refuse"};
// Far above what a campaign can use, low enough that a typing error cannot ask for a plan that
// exhausts the server.
constexpr uint32_t kMaxRanks = 4096;
constexpr uint32_t kMaxRuns = 1000;
constexpr double kMaxTimeBudget_s = 86400;
constexpr double kBudgetedTime_s = 60;
constexpr double kFullTime_s = 300;
constexpr double kNodeTime_s = 1800;  // thirty node-minutes for a fabric

}  // namespace

std::string_view to_string(Effort effort) { return effort == Effort::full ? "full" : "budgeted"; }

std::string_view to_string(WhenBusy policy) {
  const auto index = static_cast<size_t>(policy);
  return index < kWhenBusy.size() ? kWhenBusy[index] : "unknown";
}

std::optional<WhenBusy> when_busy_from_string(std::string_view name) {
  if (name.empty()) return WhenBusy::wait;
  return enum_named<WhenBusy>(kWhenBusy, name);
}

std::span<const SpecField> spec_fields() {
  static const std::vector<SpecField> kFields = {
      {.name = "fabric",
       .option = "--fabric",
       .value = "FABRIC",
       .help = "The fabric to measure, e.g. tcp, shm, emulated:cloud-ethernet; may be repeated: a "
               "campaign of each, one after the other",
       .member = &Spec::fabric,
       .stored_always = true},
      {.name = "clock",
       .option = "--clock",
       .value = "CLOCK",
       .help = "Clock of an emulated fabric (default virtual)",
       .member = &Spec::clock,
       .stored_always = true,
       .choices = {"real", "virtual"}},
      {.name = "nodes",
       .option = "--nodes",
       .value = "N",
       .help = "Nodes in the group (default 2)",
       .member = &Spec::nodes,
       .stored_always = true,
       .most = kMaxNodes,
       .form = {"Nodes", "2", "Number of nodes that measure together."}},
      {.name = "ranks",
       .option = "--ranks",
       .value = "N",
       .help = "Ranks in all, dealt to the nodes in turn (default 2)",
       .member = &Spec::ranks,
       .stored_always = true,
       .most = kMaxRanks,
       .form = {"Ranks", "2", "Total number, distributed round-robin over the nodes."}},
      {.name = "effort",
       .option = "--effort",
       .value = "EFFORT",
       .help = "budgeted: pruned grids, about a minute; full: all of them, 12 runs",
       .member = &Spec::effort,
       .stored_always = true,
       .choices = {"budgeted", "full"}},
      {.name = "runs",
       .option = "--runs",
       .value = "N",
       .help = "Runs of fresh processes, at least 6 (default: 8 budgeted, 12 full)",
       .member = &Spec::runs,
       .stored_always = true,
       .most = kMaxRuns,
       .form = {"Runs", "8 budgeted, 12 full",
                "Each with fresh processes; intervals need at least 6."}},
      {.name = "time_budget_s",
       .option = "--time-budget",
       .value = "TIME",
       .help = "Limit of the measuring, e.g. 90, 1:30 (default: 60 budgeted, 300 full)",
       .member = &Spec::time_budget_s,
       .stored_always = true,
       .quantity = Quantity::seconds,
       .most = kMaxTimeBudget_s,
       .accepted = "a number of seconds from 0 to 86400 is accepted",
       .form = {"Time budget (s)", "60 budgeted, 300 full", "Maximum time of the measurements."},
       .retry_help = "Limit of the measuring, what it has used included (default: as it was)"},
      {.name = "node_budget_s",
       .option = "--node-budget",
       .value = "TIME",
       .help = "Limit of the measuring by the nodes of a group, e.g. 1h (default: 30m, or none "
               "with --time-budget)",
       .member = &Spec::node_budget_s,
       .quantity = Quantity::seconds,
       .most = kMaxTimeBudget_s * kMaxNodes,
       .accepted = "a number of node-seconds from 0 on is accepted",
       .form = {"Node budget (node-seconds)", "none",
                "Maximum node time: time multiplied by the number of nodes."},
       .retry_help = "The same by the nodes of a group (default: as it was)"},
      {.name = "width",
       .option = "--width",
       .value = "SHARE",
       .help = "Measure until medians are known within this, e.g. 2% (default: 5% budgeted, 2% "
               "full; with --runs or --experiment as many runs as they say)",
       .member = &Spec::width,
       .quantity = Quantity::share,
       .most = 1,
       .accepted = "a share from 0 to 1 is accepted, 0.05 for 5 %",
       .form = {"Width (%)", "5 budgeted, 2 full",
                "Measure until the intervals of the medians are this narrow."}},
      {.name = "experiments",
       .option = "--experiment",
       .value = "NAME",
       .help = "Measure only this experiment; may be repeated (default: all that feed the model)",
       .member = &Spec::experiments,
       .stored_always = true,
       .form = {"Experiments", "all that feed the model", "Names, separated by commas."}},
      {.name = "same_node",
       .option = "--same-node",
       .value = "PATH",
       .help = "Measure this path between ranks of one node, too; may be repeated (default: only "
               "the fabric)",
       .member = &Spec::same_node,
       .stored_always = true,
       .choices = {"mapped", "cma"}},
      {.name = "cluster",
       .option = "--cluster",
       .value = "NAME",
       .help = "Cluster whose nodes form the groups (default: that of the nodes there are)",
       .member = &Spec::cluster},
      {.name = "only_nodes",
       .option = "--node",
       .value = "NAME",
       .help = "Use only this node; may be repeated (default: any)",
       .member = &Spec::only_nodes,
       .stored_always = true},
      {.name = "model",
       .option = "--model",
       .value = "NAME",
       .help = "The model to publish (default: named after the fabric; none with --experiment)",
       .member = &Spec::model,
       .stored_always = true},
      {.name = "race",
       .option = "--race",
       .help = "Only find out which alternatives are the fastest; fit no model",
       .member = &Spec::race},
      {.name = "prior",
       .option = "--prior",
       .value = "NAME",
       .help = "Campaign whose near-best candidates a race begins with, or none (default: nearest, "
               "of the machine most like these)",
       .member = &Spec::prior},
      {.name = "when_busy",
       .option = "--when-busy",
       .value = "POLICY",
       .help = "While other work keeps hosts busy (real clock): wait for a quiet moment, half of "
               "the time budget at most, then measure; measure at once; refuse after 10 s "
               "(default: wait)",
       .member = &Spec::when_busy,
       .choices = {kWhenBusy.begin(), kWhenBusy.end()}},
      {.name = "tune_ranks",
       .option = "--tune-ranks",
       .value = "N,...",
       .help = "With --target: ranks of its programs that are tuned for (default: 2,3,4,8)",
       .member = &Spec::tune_ranks,
       .form = {"Ranks of the programs", "2,3,4,8",
                "Numbers of ranks to tune for, separated by commas."}},
      {.name = "tune_path",
       .option = "--tune-path",
       .value = "PATH",
       .help = "With --target: the path between them: shm, tcp, or any (what it chooses; default: "
               "shm)",
       .member = &Spec::tune_path,
       .choices = {"shm", "tcp", "any"},
       .form = {"Path between the ranks", "shm",
                "shm, tcp, or any: the one that the target chooses."}},
      {.name = "commutative_only",
       .option = "--commutative-only",
       .help = "With --target: all programs use operations that commute",
       .member = &Spec::commutative_only,
       .form = {"Commutative operations only", "", "The programs use no other operations."}},
      {.name = "accept_untried",
       .option = "--accept-untried",
       .help = "With --target: also a version of it that was not tried",
       .member = &Spec::accept_untried,
       .form = {"Any version of the target", "", "Also one that has not been tested."}},
      {.name = "seed",
       .option = "--seed",
       .value = "N",
       .help = "Order of the points, and jitter of an emulated fabric",
       .member = &Spec::seed,
       .stored_always = true}};
  return kFields;
}

std::vector<double Spec::*> spec_budgets() {
  std::vector<double Spec::*> budgets;
  for (const SpecField& field : spec_fields()) {
    if (field.retry_help != nullptr) budgets.push_back(std::get<double Spec::*>(field.member));
  }
  return budgets;
}

void change_budgets(Spec& spec, const Spec& asked) {
  for (const auto budget : spec_budgets()) {
    if (asked.*budget != 0) spec.*budget = asked.*budget;
  }
}

double budget_s(const Spec& spec) {
  if (spec.node_budget_s == 0) return spec.time_budget_s;
  return std::min(spec.time_budget_s, spec.node_budget_s / spec.nodes);
}

void choose_budgets(Spec& spec) {
  // Whatever the number of nodes: pairs of them are sampled.
  if (spec.node_budget_s == 0 && spec.time_budget_s == 0) spec.node_budget_s = kNodeTime_s;
  if (spec.time_budget_s == 0) {
    spec.time_budget_s = spec.effort == Effort::full ? kFullTime_s : kBudgetedTime_s;
  }
}

NeededBudgets needed_budgets(const Spec& spec, double running_s) {
  const double node_s = running_s * spec.nodes;
  NeededBudgets needed;
  if (spec.time_budget_s < running_s) needed.time_s = running_s;
  if (spec.node_budget_s > 0 && spec.node_budget_s < node_s) needed.node_s = node_s;
  return needed;
}

std::string budget_options(const Spec& spec, double running_s) {
  const NeededBudgets needed = needed_budgets(spec, running_s);
  std::string options;
  if (needed.time_s > 0) options = "--time-budget " + std::to_string(std::lround(needed.time_s));
  if (needed.node_s > 0) {
    options += (options.empty() ? "--node-budget " : " --node-budget ") +
               std::to_string(std::lround(needed.node_s));
  }
  return options;
}

std::string charged_text(const Spec& spec, double node_s) {
  std::string text = std::to_string(std::llround(node_s)) + " node-seconds";
  if (spec.node_budget_s > 0) text += " of " + std::to_string(std::llround(spec.node_budget_s));
  return text;
}

}  // namespace stripline::campaign
