// The versions of a model that production may be given: states, and the gate of labels. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/fit/judge_decisions.h"
#include "server/core/models/model_verdict.h"
#include "server/store/model_records.h"

namespace stripline::server {

/// The labels that there are: what production uses, and what is tried on a few nodes first.
inline constexpr std::string_view kStableLabel = "stable";
inline constexpr std::string_view kCanaryLabel = "canary";
bool is_label(std::string_view text);

enum class VersionState {
  fitted,      ///< It is there, and nothing has judged it (model_verdict.h).
  failed,      ///< It has failed its validation.
  validated,   ///< It has done well on what it was not fitted to.
  published,   ///< A label names it.
  stale,       ///< It does not hold any more.
  deprecated,  ///< It was withdrawn.
};
VersionState state_of(const ModelVersionRecord& version);

/// By so much more may the mean regret of a version exceed that of the one that it replaces, where
/// the two were judged by different problems; and so much longer, surely, may its decisions take
/// where they were judged by the same ones.
inline constexpr double kGateMargin = 0.02;
inline constexpr double kPairedGateMargin = 0.01;

/// What a version is held against.
struct GateQuestion {
  std::string_view label = {};
  std::optional<ModelVersionRecord> stable = {};  ///< What the label stable names now, if anything.
  /// How the version's decisions do beside that one's on the same problems, if that is known.
  std::optional<fit::Comparison> beside_stable = {};
  /// Why a person lets a version pass that nothing has judged; empty: it does not.
  std::string unjudged_reason = {};
};

/// Why `candidate` does not get the label, with the figures; nullopt: it does. A version that has
/// failed its validation does not, whoever asks.
std::optional<std::string> gate_refusal(const ModelVersionRecord& candidate,
                                        const GateQuestion& question);

/// True if a reading says that the version does not hold: most of its single operations, bursts or
/// transfers of many regions lie outside.
bool is_off(const fit::SentinelReading& reading);

/// Why a version is stale after these checks of it, in the order of their times: the last two were
/// off. Nullopt: it is not. `of_settings`: it holds settings of another runtime, which were
/// validated again.
std::optional<std::string> staleness(const std::vector<CheckRecord>& checks, bool of_settings);

/// What a label names after the moves of it, in order of place; nullptr: nothing.
const LabelRecord* current_of(const std::vector<LabelRecord>& moves, std::string_view label);

/// Moves of `label` that a rollback takes back, so that it names the version of before the last
/// one that neither is withdrawn nor stale. `unfit` says of a version that it is. Empty: there is
/// none.
std::vector<LabelRecord> rolled_back(const std::vector<LabelRecord>& moves, std::string_view label,
                                     const std::vector<VersionKey>& unfit);

}  // namespace stripline::server
