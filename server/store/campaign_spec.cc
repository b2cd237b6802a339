#include "server/store/campaign_spec.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <variant>

#include "base/network_name.h"
#include "base/quantity.h"
#include "optimizer/experiment/requirements.h"
#include "optimizer/experiment/tuning.h"
#include "server/store/names.h"

namespace stripline::server {
namespace {

constexpr uint32_t kBudgetedRuns = 8;
constexpr uint32_t kFullRuns = 12;
constexpr double kBudgetedWidth = 0.05;
constexpr double kFullWidth = 0.02;

// A burst of other work passes; a campaign whose hosts are in use for good is better refused soon.
constexpr double kPatienceShare = 0.5;
constexpr double kLongestPatienceS = 120;
constexpr double kPatienceToRefuseS = 10;

// Searching, validating and proving take five minutes of it (suites/targets/work_command.cc).
constexpr double kTuneSeconds = 375;
// Validating once more and proving take two minutes of it.
constexpr double kVerifySeconds = 150;
constexpr const char* kTunedRanks = "2,3,4,8";
constexpr uint32_t kFewestTunedRanks = 2;
constexpr uint32_t kMaxTunedRanks = 1024;
constexpr size_t kMaxTunedCounts = 16;

// "2,3,4,8", ascending and each once; nullopt for what is not such a list.
std::optional<std::vector<uint32_t>> parse_ranks(std::string_view text) {
  std::set<uint32_t> ranks;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    uint32_t count = 0;
    const auto [next, error] = std::from_chars(at, end, count);
    if (error != std::errc() || count < kFewestTunedRanks || count > kMaxTunedRanks) {
      return std::nullopt;
    }
    ranks.insert(count);
    if (next == end) break;
    if (*next != ',') return std::nullopt;
    at = next + 1;
  }
  if (ranks.size() > kMaxTunedCounts) return std::nullopt;
  return std::vector<uint32_t>(ranks.begin(), ranks.end());
}

// What only campaigns that tune another runtime take, and what names such a thing without being
// one.
std::optional<Problem> tunes_nothing(const CampaignSpec& spec) {
  if (!experiment::target_of_settings(spec.fabric).empty()) {
    return invalid_field(
        "spec.fabric", "'" + spec.fabric + "' is of what nodes install; name '" +
                           experiment::tuning_fabric(experiment::target_of_settings(spec.fabric)) +
                           "' to tune it");
  }
  if (std::ranges::find(spec.experiments, experiment::kTuneExperiment) != spec.experiments.end()) {
    return invalid_field("spec.experiments", std::string(experiment::kTuneExperiment) +
                                                 " tunes another runtime: name that as the fabric, "
                                                 "'tune:openmpi' for example");
  }
  const bool has_options = !spec.tune_ranks.empty() || !spec.tune_path.empty() ||
                           spec.commutative_only || spec.accept_untried;
  if (!has_options) return std::nullopt;
  return invalid_field("spec.tune_ranks",
                       "what a target is tuned for is said with it alone: 'tune:openmpi' as the "
                       "fabric, for example, not '" +
                           spec.fabric + "'");
}

// "models/tcp", "models/CLUSTER-tcp"
std::string default_model(const CampaignSpec& spec, const std::string& what) {
  const bool named = !spec.cluster.empty() && spec.cluster != kDefaultCluster;
  return model_name(to_segment((named ? spec.cluster + "-" : "") + what));
}

// A campaign that tunes another runtime has one run, of one rank that starts the target's
// processes.
std::optional<Problem> complete_tuning(CampaignSpec& spec, std::string_view target) {
  if (!is_segment(target)) {
    return invalid_field("spec.fabric", "'" + std::string(target) + "' is not a valid target");
  }
  const bool others = !spec.experiments.empty() &&
                      spec.experiments != std::vector<std::string>{experiment::kTuneExperiment};
  if (spec.nodes > 1 || spec.ranks > 1 || spec.runs > 1 || others || !spec.same_node.empty() ||
      spec.race || spec.width > 0) {
    return invalid_field(
        "spec.fabric",
        "a target is tuned on one node, in one run that compares by itself: leave "
        "nodes, ranks, runs, experiments, paths within a node, race and width out; "
        "tune_ranks says for how many of its ranks");
  }
  if (spec.tune_ranks.empty()) spec.tune_ranks = kTunedRanks;
  const auto ranks = parse_ranks(spec.tune_ranks);
  if (!ranks) {
    return invalid_field("spec.tune_ranks", "'" + spec.tune_ranks + "' is not a list of up to " +
                                                std::to_string(kMaxTunedCounts) + " numbers from " +
                                                std::to_string(kFewestTunedRanks) + " to " +
                                                std::to_string(kMaxTunedRanks) +
                                                ", such as 2,3,4,8");
  }
  spec.tune_ranks.clear();
  for (const uint32_t count : *ranks) {
    spec.tune_ranks += (spec.tune_ranks.empty() ? "" : ",") + std::to_string(count);
  }
  if (spec.tune_path.empty()) spec.tune_path = "shm";
  spec.nodes = spec.ranks = spec.runs = 1;
  spec.effort = Effort::full;
  spec.experiments = {experiment::kTuneExperiment};
  const bool verifies = !spec.verifies.empty();
  if (spec.time_budget_s == 0) spec.time_budget_s = verifies ? kVerifySeconds : kTuneSeconds;
  if (spec.model.empty() && !verifies) {
    spec.model = default_model(spec, std::string(target) + "-" + spec.tune_path);
  }
  return std::nullopt;
}

std::optional<Problem> complete_fabric(CampaignSpec& spec) {
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
  const std::string target(experiment::tuned_target(spec.fabric));
  return target.empty() ? tunes_nothing(spec) : complete_tuning(spec, target);
}

// "'tcp', 'shm' or 'any' is accepted"
std::string accepted_words(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 < words.size() ? ", " : " or ";
    text += "'" + words[i] + "'";
  }
  return text + " is accepted";
}

// What the table of members does not accept of one; nullopt: it is accepted.
std::optional<std::string> refusal_of_member(const CampaignSpec& spec,
                                             const campaign::SpecField& field) {
  const auto refusal_of_word = [&](const std::string& word) -> std::optional<std::string> {
    if (field.choices.empty() || word.empty()) return std::nullopt;
    if (std::ranges::find(field.choices, word) != field.choices.end()) return std::nullopt;
    return accepted_words(field.choices) + ", not '" + word + "'";
  };
  if (const auto* const text = std::get_if<std::string CampaignSpec::*>(&field.member)) {
    return refusal_of_word(spec.**text);
  }
  if (const auto* const list =
          std::get_if<std::vector<std::string> CampaignSpec::*>(&field.member)) {
    for (const std::string& word : spec.**list) {
      if (auto refusal = refusal_of_word(word)) return refusal;
    }
  }
  const auto* const policy = std::get_if<WhenBusy CampaignSpec::*>(&field.member);
  if (policy != nullptr && spec.**policy == WhenBusy::unknown) return accepted_words(field.choices);
  if (field.most == 0) return std::nullopt;
  if (const auto* const whole = std::get_if<uint32_t CampaignSpec::*>(&field.member)) {
    if (spec.**whole <= field.most) return std::nullopt;
    return "at most " + std::to_string(std::lround(field.most)) + " is accepted, not " +
           std::to_string(spec.**whole);
  }
  const double number = spec.*std::get<double CampaignSpec::*>(field.member);
  if (number >= 0 && number <= field.most) return std::nullopt;
  return field.accepted;
}

std::optional<Problem> complete_group(CampaignSpec& spec) {
  const bool emulated = experiment::is_emulated(spec.fabric);
  if (spec.clock.empty()) spec.clock = emulated ? "virtual" : "real";
  if (spec.nodes == 0) spec.nodes = spec.ranks == 1 ? 1 : 2;
  if (spec.ranks == 0) spec.ranks = std::max<uint32_t>(2, spec.nodes);
  for (const campaign::SpecField& field : campaign::spec_fields()) {
    if (const auto refusal = refusal_of_member(spec, field)) {
      return invalid_field("spec." + std::string(field.name), *refusal);
    }
  }
  if (spec.clock == "virtual" && !emulated) {
    return invalid_field(
        "spec.clock", "only emulated fabrics have a virtual clock; '" + spec.fabric + "' has not");
  }
  if (spec.ranks >= spec.nodes) return std::nullopt;
  return invalid_field("spec.ranks", "every node needs a rank: " + std::to_string(spec.ranks) +
                                         " ranks do not cover " + std::to_string(spec.nodes) +
                                         " nodes");
}

std::optional<Problem> complete_race(CampaignSpec& spec) {
  if (!spec.race) {
    if (spec.prior.empty()) return std::nullopt;
    return invalid_field("spec.prior", "only a race begins with what was fast elsewhere");
  }
  if (spec.prior.empty()) spec.prior = kNearestPrior;
  if (spec.prior != kNearestPrior && spec.prior != kNoPrior && !parse_campaign_name(spec.prior)) {
    return invalid_field("spec.prior", "'" + spec.prior +
                                           "' is neither 'nearest' nor 'none', nor of the form "
                                           "campaigns/cNUMBER");
  }
  if (spec.model.empty() && spec.width == 0) return std::nullopt;
  return invalid_field(spec.model.empty() ? "spec.width" : "spec.model",
                       "a race ends when it is settled what is the fastest, and leaves points "
                       "without the runs that a model needs; leave it out");
}

// A user who asks for a number of runs gets them. Samples that feed no model have no such target.
std::optional<Problem> complete_runs(CampaignSpec& spec) {
  if (spec.effort == Effort::unspecified) spec.effort = Effort::budgeted;
  const bool full = spec.effort == Effort::full;
  if (spec.runs == 0 && spec.width == 0 && spec.experiments.empty() && !spec.race) {
    spec.width = full ? kFullWidth : kBudgetedWidth;
  }
  if (spec.runs == 0) spec.runs = full ? kFullRuns : kBudgetedRuns;
  choose_budgets(spec);
  return std::nullopt;
}

// A few experiments make a poorer model than the fabric has already: only where a model is named.
std::optional<Problem> complete_model(CampaignSpec& spec) {
  if (spec.model.empty() && spec.experiments.empty() && !spec.race) {
    spec.model = default_model(spec, network_name(spec.fabric));
  }
  if (spec.model.empty() || parse_model_name(spec.model)) return std::nullopt;
  return invalid_field("spec.model", "'" + spec.model +
                                         "' is not of the form models/NAME with NAME matching "
                                         "[a-z0-9][a-z0-9._-]{0,62}");
}

// The first that is there twice.
std::optional<std::string> repeated_in(const std::vector<std::string>& names) {
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) return name;
  }
  return std::nullopt;
}

std::optional<Problem> check_lists(CampaignSpec& spec) {
  for (const std::string& name : spec.experiments) {
    if (name.empty()) return invalid_field("spec.experiments", "a name is empty");
  }
  for (const std::string& name : spec.only_nodes) {
    if (!parse_node_name(name)) {
      return invalid_field("spec.only_nodes", "'" + name + "' is not of the form nodes/NAME");
    }
  }
  for (const campaign::SpecField& field : campaign::spec_fields()) {
    const auto* const list = std::get_if<std::vector<std::string> CampaignSpec::*>(&field.member);
    const auto repeated = list == nullptr ? std::nullopt : repeated_in(spec.**list);
    if (repeated) {
      return invalid_field("spec." + std::string(field.name), "'" + *repeated + "' is named twice");
    }
  }
  return std::nullopt;
}

std::optional<Problem> check_places(CampaignSpec& spec) {
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
  if (spec.same_node.empty() || !experiment::is_emulated(spec.fabric)) return std::nullopt;
  return invalid_field("spec.same_node", "'" + spec.fabric +
                                             "' stands between all ranks, also of one node; ask "
                                             "for 'tcp', for example");
}

}  // namespace

Answer<CampaignSpec> complete_spec(CampaignSpec spec) {
  for (auto* const step : {complete_fabric, complete_group, complete_race, complete_runs,
                           complete_model, check_lists, check_places}) {
    if (auto problem = step(spec)) return std::move(*problem);
  }
  return spec;
}

std::vector<uint32_t> tuned_ranks(const CampaignSpec& spec) {
  if (experiment::tuned_target(spec.fabric).empty()) return {};
  return parse_ranks(spec.tune_ranks).value_or(std::vector<uint32_t>());
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

}  // namespace stripline::server
