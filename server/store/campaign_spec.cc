#include "server/store/campaign_spec.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <variant>

#include "base/network_name.h"
#include "base/quantity.h"
#include "optimizer/experiment/requirements.h"
#include "server/store/names.h"

namespace stripline::server {
namespace {

// Far above what a campaign of ours can use, low enough that a typing error cannot ask for a plan
// that exhausts the server.
constexpr uint32_t kMaxRanks = 4096;
constexpr uint32_t kMaxRuns = 1000;

constexpr uint32_t kBudgetedRuns = 8;
constexpr uint32_t kFullRuns = 12;
constexpr double kBudgetedWidth = 0.05;
constexpr double kFullWidth = 0.02;

// A burst of other work passes; a campaign whose hosts are in use for good is better refused soon.
constexpr double kPatienceShare = 0.5;
constexpr double kLongestPatienceS = 120;
constexpr double kPatienceToRefuseS = 10;

std::string at_most(uint32_t limit, uint32_t value) {
  return "at most " + std::to_string(limit) + " is accepted, not " + std::to_string(value);
}

}  // namespace

Answer<CampaignSpec> complete_spec(CampaignSpec spec) {
  if (spec.fabric.empty()) {
    return invalid_field("spec.fabric",
                         "name a fabric, for example 'tcp' or 'emulated:opteron-vapi'");
  }
  if (!has_options_of_campaigns_only(spec.fabric)) {
    return invalid_field("spec.fabric",
                         "of an emulated fabric's options a campaign takes compute=measured|none|"
                         "declared|SCALE and jitter=on|off; leave the others of '" +
                             spec.fabric + "' out");
  }
  if (spec.clock.empty()) spec.clock = experiment::is_emulated(spec.fabric) ? "virtual" : "real";
  if (spec.clock != "real" && spec.clock != "virtual") {
    return invalid_field("spec.clock", "'real' or 'virtual' is accepted, not '" + spec.clock + "'");
  }
  if (spec.clock == "virtual" && !experiment::is_emulated(spec.fabric)) {
    return invalid_field(
        "spec.clock", "only emulated fabrics have a virtual clock; '" + spec.fabric + "' has not");
  }
  if (spec.when_busy == WhenBusy::unknown) {
    return invalid_field("spec.when_busy", "'wait', 'measure' or 'refuse' is accepted");
  }
  if (spec.nodes == 0) spec.nodes = spec.ranks == 1 ? 1 : 2;
  if (spec.ranks == 0) spec.ranks = std::max<uint32_t>(2, spec.nodes);
  if (spec.nodes > campaign::kMaxNodes) {
    return invalid_field("spec.nodes", at_most(campaign::kMaxNodes, spec.nodes));
  }
  if (spec.ranks > kMaxRanks) return invalid_field("spec.ranks", at_most(kMaxRanks, spec.ranks));
  if (spec.ranks < spec.nodes) {
    return invalid_field("spec.ranks", "every node needs a rank: " + std::to_string(spec.ranks) +
                                           " ranks do not cover " + std::to_string(spec.nodes) +
                                           " nodes");
  }
  if (spec.effort == Effort::unspecified) spec.effort = Effort::budgeted;
  const bool full = spec.effort == Effort::full;
  for (const campaign::SpecField& field : campaign::spec_fields()) {
    if (field.most == 0) continue;
    const double value = spec.*std::get<double CampaignSpec::*>(field.member);
    if (!(value >= 0 && value <= field.most)) {
      return invalid_field("spec." + std::string(field.name), field.accepted);
    }
  }
  if (spec.race && spec.prior.empty()) spec.prior = kNearestPrior;
  if (!spec.race && !spec.prior.empty()) {
    return invalid_field("spec.prior", "only a race begins with what was fast elsewhere");
  }
  if (spec.race && spec.prior != kNearestPrior && spec.prior != kNoPrior &&
      !parse_campaign_name(spec.prior)) {
    return invalid_field("spec.prior", "'" + spec.prior +
                                           "' is neither 'nearest' nor 'none', nor of the form "
                                           "campaigns/cNUMBER");
  }
  if (spec.race && (!spec.model.empty() || spec.width > 0)) {
    return invalid_field(spec.model.empty() ? "spec.width" : "spec.model",
                         "a race ends when it is settled what is the fastest, and leaves points "
                         "without the runs that a model needs; leave it out");
  }
  // A user who asks for a number of runs gets them. Samples that feed no model have no such target.
  if (spec.runs == 0 && spec.width == 0 && spec.experiments.empty() && !spec.race) {
    spec.width = full ? kFullWidth : kBudgetedWidth;
  }
  if (spec.runs == 0) spec.runs = full ? kFullRuns : kBudgetedRuns;
  if (spec.runs > kMaxRuns) return invalid_field("spec.runs", at_most(kMaxRuns, spec.runs));
  choose_budgets(spec);
  std::set<std::string_view> seen;
  for (const std::string& name : spec.experiments) {
    if (name.empty() || !seen.insert(name).second) {
      return invalid_field("spec.experiments", "'" + name + "' is empty or named twice");
    }
  }
  // A few experiments make a poorer model than the fabric has already: only where a model is named.
  if (spec.model.empty() && spec.experiments.empty() && !spec.race) {
    const bool named = !spec.cluster.empty() && spec.cluster != kDefaultCluster;
    spec.model =
        model_name(to_segment((named ? spec.cluster + "-" : "") + network_name(spec.fabric)));
  }
  if (!spec.model.empty() && !parse_model_name(spec.model)) {
    return invalid_field("spec.model", "'" + spec.model +
                                           "' is not of the form models/NAME with NAME matching "
                                           "[a-z0-9][a-z0-9._-]{0,62}");
  }
  std::set<std::string_view> nodes;
  for (const std::string& name : spec.only_nodes) {
    if (!parse_node_name(name)) {
      return invalid_field("spec.only_nodes", "'" + name + "' is not of the form nodes/NAME");
    }
    if (!nodes.insert(name).second) {
      return invalid_field("spec.only_nodes", "'" + name + "' is named twice");
    }
  }
  if (!spec.only_nodes.empty() && spec.only_nodes.size() < spec.nodes) {
    return invalid_field("spec.only_nodes", std::to_string(spec.only_nodes.size()) +
                                                (spec.only_nodes.size() == 1 ? " is" : " are") +
                                                " named, but a group has " +
                                                std::to_string(spec.nodes) +
                                                " nodes; name more, or none, or ask for fewer");
  }
  if (!spec.cluster.empty() && !is_segment(spec.cluster)) {
    return invalid_field(
        "spec.cluster",
        "'" + spec.cluster + "' is not a valid name; it must match [a-z0-9][a-z0-9._-]{0,62}");
  }
  std::set<std::string_view> ways;
  for (const std::string& way : spec.same_node) {
    if (way != "mapped" && way != "cma") {
      return invalid_field("spec.same_node", "'mapped' or 'cma' is accepted, not '" + way + "'");
    }
    if (!ways.insert(way).second) {
      return invalid_field("spec.same_node", "'" + way + "' is named twice");
    }
  }
  if (!spec.same_node.empty() && experiment::is_emulated(spec.fabric)) {
    return invalid_field("spec.same_node", "'" + spec.fabric +
                                               "' stands between all ranks, also of one node; ask "
                                               "for 'tcp', for example");
  }
  return spec;
}

std::string budget_text(const CampaignSpec& spec, double running_s) {
  const campaign::NeededBudgets needed = needed_budgets(spec, running_s);
  const std::string of_time = "a time budget of " + exact_seconds_text(running_s);
  if (needed.node_s == 0) return of_time;
  const std::string of_nodes = "a node budget of " + exact_seconds_text(needed.node_s);
  return needed.time_s == 0 ? of_nodes : of_time + " and " + of_nodes;
}

double quiet_patience_s(const CampaignSpec& spec) {
  // The virtual clock goes by what ranks compute, not by when they do.
  if (spec.clock == "virtual" || spec.when_busy == WhenBusy::measure) return 0;
  const double share_s = std::min(kPatienceShare * budget_s(spec), kLongestPatienceS);
  return spec.when_busy == WhenBusy::refuse ? std::min(share_s, kPatienceToRefuseS) : share_s;
}

std::string left_out_text(const CampaignSpec& spec) {
  std::string text;
  for (const auto& [experiment, why] : spec.left_out) {
    text += "; without " + experiment + ", which was left out after " + why;
  }
  return text;
}

}  // namespace stripline::server
