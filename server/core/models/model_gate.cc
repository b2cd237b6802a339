#include "server/core/models/model_gate.h"

#include <algorithm>

#include "base/quantity.h"

namespace stripline::server {
bool is_label(std::string_view text) { return text == kStableLabel || text == kCanaryLabel; }

VersionState state_of(const ModelVersionRecord& version) {
  if (!version.withdrawn.empty()) return VersionState::deprecated;
  if (!version.stale.empty()) return VersionState::stale;
  if (!version.labels.empty()) return VersionState::published;
  switch (verdict_of(version.validation).verdict) {
    case Verdict::unjudged:
      return VersionState::fitted;
    case Verdict::failed:
      return VersionState::failed;
    case Verdict::passed:
      return VersionState::validated;
  }
  return VersionState::fitted;
}

std::optional<std::string> gate_refusal(const ModelVersionRecord& candidate,
                                        const GateQuestion& question) {
  if (!candidate.withdrawn.empty()) return "it was withdrawn: " + candidate.withdrawn;
  if (!candidate.stale.empty()) return "it is stale: " + candidate.stale;
  if (question.label == kStableLabel && !candidate.provisional.empty()) {
    return "it is provisional: " + candidate.provisional;
  }
  const VersionVerdict verdict = verdict_of(candidate.validation);
  if (verdict.verdict == Verdict::failed) return "it failed its validation: " + verdict.why;
  const bool of_settings = candidate.validation && candidate.validation->judgement.settings;
  // What other people's programs read is not taken on trust.
  if (verdict.verdict == Verdict::unjudged && of_settings) {
    return verdict.why + "; tune again, with more numbers of ranks or more time";
  }
  if (verdict.verdict == Verdict::unjudged && question.unjudged_reason.empty()) {
    return "it was not judged, which is not the same as passed: " + verdict.why +
           "; a larger campaign measures more, 'stripline model validate' judges it by another "
           "campaign, and --unjudged REASON lets it pass nevertheless";
  }
  const auto& stable = question.stable;
  if (!stable || stable->key == candidate.key) return std::nullopt;
  if (question.beside_stable && question.beside_stable->choices > 0) {
    const fit::Comparison& beside = *question.beside_stable;
    if (!(beside.low > 1 + kPairedGateMargin)) return std::nullopt;
    return "its decisions take " + share_text(beside.ratio - 1) + " longer than those of " +
           version_name(stable->key) + ", which is stable, surely more than " +
           share_text(beside.low - 1) + ", on the same " + std::to_string(beside.choices) +
           " problems; at most " + share_text(kPairedGateMargin) + " more is allowed";
  }
  if (!stable->validation || !candidate.validation) return std::nullopt;
  const double incumbent = stable->validation->judgement.mean_regret;
  const double regret = candidate.validation->judgement.mean_regret;
  if (regret <= incumbent + kGateMargin) return std::nullopt;
  return "its mean regret is " + share_text(regret) + ", that of " + version_name(stable->key) +
         ", which is stable, " + share_text(incumbent) + "; at most " + share_text(kGateMargin) +
         " more are allowed";
}

bool is_off(const fit::SentinelReading& reading) {
  const auto most = [](std::size_t outside, std::size_t points) { return 2 * outside > points; };
  return most(reading.outside, reading.points) || most(reading.bursts_outside, reading.bursts) ||
         most(reading.shapes_outside, reading.shapes);
}

std::optional<std::string> staleness(const std::vector<CheckRecord>& checks, bool of_settings) {
  if (checks.size() < 2 || !is_off(checks.back().reading) ||
      !is_off(checks[checks.size() - 2].reading)) {
    return std::nullopt;
  }
  if (of_settings) {
    return "twice in a row it was tried again and did not hold: something is slower with it, or "
           "not shown to be as fast, or the target does not read it; the last time by " +
           checks.back().campaign;
  }
  const fit::SentinelReading& last = checks.back().reading;
  std::string text =
      "twice in a row most sentinels lay outside its intervals: " + std::to_string(last.outside) +
      " of " + std::to_string(last.points);
  if (last.bursts > 0) {
    text += ", " + std::to_string(last.bursts_outside) + " of " +
            count_text(last.bursts, "burst", "bursts");
  }
  if (last.shapes > 0) {
    text += ", " + std::to_string(last.shapes_outside) + " of " +
            count_text(last.shapes, "transfer of many regions", "transfers of many regions");
  }
  return text + " by " + checks.back().campaign + ", whose times are " + share_text(last.ratio) +
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
