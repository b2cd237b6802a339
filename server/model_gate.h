// Which versions of a model production may be given: states, and the gate in front of labels. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/records.h"

namespace stripline::server {

/// The labels that there are: what production uses, and what is tried on a few nodes first.
inline constexpr std::string_view kStableLabel = "stable";
inline constexpr std::string_view kCanaryLabel = "canary";
bool is_label(std::string_view text);

enum class VersionState {
  fitted,      ///< It is there, and has not done well on points that it was not fitted to.
  validated,   ///< It has.
  published,   ///< A label names it.
  stale,       ///< It does not hold any more.
  deprecated,  ///< It was withdrawn.
};
VersionState state_of(const ModelVersionRecord& version);

/// Mean error of predicted times and mean regret of choices, above which a version has failed its
/// validation.
inline constexpr double kMostError = 0.25;
inline constexpr double kMostRegret = 0.1;

/// The mean regret of a version may exceed that of the one that it replaces by so much.
inline constexpr double kGateMargin = 0.02;

/// True if a judgement says that a version does well: it was asked something, and neither figure
/// exceeds its bound.
bool does_well(const fit::Judgement& judgement);

/// "mean error 1.2 % of 16 points, mean regret 0.4 % of 80 choices".
std::string figures_text(const fit::Judgement& judgement);

/// Why `candidate` does not get the label, with the figures; nullopt: it does. `stable` is what
/// that label names now, if anything.
std::optional<std::string> gate_refusal(const ModelVersionRecord& candidate, std::string_view label,
                                        const std::optional<ModelVersionRecord>& stable);

/// True if a reading says that the version does not hold: most of its points lie outside.
bool is_off(const fit::SentinelReading& reading);

/// Why a version is stale after these checks of it, in the order of their times: the last two were
/// off. Nullopt: it is not.
std::optional<std::string> staleness(const std::vector<CheckRecord>& checks);

/// What a label names after the moves of it, in order of place; nullptr: nothing.
const LabelRecord* current_of(const std::vector<LabelRecord>& moves, std::string_view label);

/// Moves of `label` that a rollback takes back, so that it names the version of before the last
/// one that neither is withdrawn nor stale. `unfit` says of a version that it is. Empty: there is
/// none.
std::vector<LabelRecord> rolled_back(const std::vector<LabelRecord>& moves, std::string_view label,
                                     const std::vector<VersionKey>& unfit);

}  // namespace stripline::server
