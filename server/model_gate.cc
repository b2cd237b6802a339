#include "server/model_gate.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/quantity.h"

namespace stripline::server {
namespace {

std::string percent(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", 100 * share);
  return text.data();
}

}  // namespace

bool is_label(std::string_view text) { return text == kStableLabel || text == kCanaryLabel; }

bool does_well(const fit::Judgement& judgement) {
  return judgement.points + judgement.choices > 0 && judgement.mean_error <= kMostError &&
         judgement.mean_regret <= kMostRegret;
}

VersionState state_of(const ModelVersionRecord& version) {
  if (!version.withdrawn.empty()) return VersionState::deprecated;
  if (!version.stale.empty()) return VersionState::stale;
  if (!version.labels.empty()) return VersionState::published;
  if (version.validation && does_well(version.validation->judgement)) {
    return VersionState::validated;
  }
  return VersionState::fitted;
}

std::string figures_text(const fit::Judgement& judgement) {
  std::string text;
  if (judgement.points > 0) {
    text = "mean error " + percent(judgement.mean_error) + " of " +
           count_text(judgement.points, "point", "points");
  }
  if (judgement.choices > 0) {
    text += (text.empty() ? "" : ", ") + std::string("mean regret ") +
            percent(judgement.mean_regret) + " of " +
            count_text(judgement.choices, "choice", "choices");
  }
  return text.empty() ? "nothing that it predicts was measured" : text;
}

std::optional<std::string> gate_refusal(const ModelVersionRecord& candidate, std::string_view label,
                                        const std::optional<ModelVersionRecord>& stable) {
  if (!candidate.withdrawn.empty()) return "it was withdrawn: " + candidate.withdrawn;
  if (!candidate.stale.empty()) return "it is stale: " + candidate.stale;
  if (label == kStableLabel && !candidate.provisional.empty()) {
    return "it is provisional: " + candidate.provisional;
  }
  if (!candidate.validation) return "it was not validated; 'stripline model validate' does that";
  const fit::Judgement& judgement = candidate.validation->judgement;
  if (!does_well(judgement)) {
    return "it did not do well on points that it was not fitted to: " + figures_text(judgement) +
           " (at most " + percent(kMostError) + " and " + percent(kMostRegret) + " are allowed)";
  }
  if (!stable || stable->key == candidate.key || !stable->validation) return std::nullopt;
  const double incumbent = stable->validation->judgement.mean_regret;
  if (judgement.mean_regret <= incumbent + kGateMargin) return std::nullopt;
  return "its mean regret is " + percent(judgement.mean_regret) + ", that of " +
         version_name(stable->key) + ", which is stable, " + percent(incumbent) + "; at most " +
         percent(kGateMargin) + " more are allowed";
}

bool is_off(const fit::SentinelReading& reading) { return 2 * reading.outside > reading.points; }

std::optional<std::string> staleness(const std::vector<CheckRecord>& checks) {
  if (checks.size() < 2 || !is_off(checks.back().reading) ||
      !is_off(checks[checks.size() - 2].reading)) {
    return std::nullopt;
  }
  const fit::SentinelReading& last = checks.back().reading;
  return "twice in a row most sentinels lay outside its intervals: " +
         std::to_string(last.outside) + " of " + std::to_string(last.points) + " by " +
         checks.back().campaign + ", whose times are " + percent(last.ratio) +
         " of what it predicts";
}

const LabelRecord* current_of(const std::vector<LabelRecord>& moves, std::string_view label) {
  const LabelRecord* current = nullptr;
  for (const LabelRecord& move : moves) {
    if (move.label == label) current = &move;
  }
  return current;
}

std::vector<LabelRecord> rolled_back(const std::vector<LabelRecord>& moves, std::string_view label,
                                     const std::vector<VersionKey>& unfit) {
  std::vector<LabelRecord> of_label;
  for (const LabelRecord& move : moves) {
    if (move.label == label) of_label.push_back(move);
  }
  std::vector<LabelRecord> back;
  if (of_label.empty()) return back;
  const VersionKey last = of_label.back().key;
  while (!of_label.empty()) {
    const VersionKey& key = of_label.back().key;
    if (!(key == last) && std::ranges::find(unfit, key) == unfit.end()) return back;
    back.push_back(of_label.back());
    of_label.pop_back();
  }
  return {};
}

}  // namespace stripline::server
