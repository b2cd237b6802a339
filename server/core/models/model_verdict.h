// What follows from how a version of a model did on problems that it was not fitted to: it passed,
// it failed, or it was not judged, which is not the same as passed. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "server/store/model_records.h"

namespace stripline::server {

enum class Verdict {
  unjudged,  ///< Too little was measured that it speaks of.
  failed,    ///< A figure exceeds its bound, however little was measured.
  passed,
};

struct VersionVerdict {
  Verdict verdict = Verdict::unjudged;
  /// A sentence without an end, with figures: what is missing, or what failed and by how much.
  /// Empty if it passed.
  std::string why;
};

/// A version is judged by this many predicted times, and this many decisions, or more.
inline constexpr std::size_t kFewestPoints = 8;
inline constexpr std::size_t kFewestChoices = 4;

// Bounds above which it has failed.
inline constexpr double kMaxError = 0.2;  ///< Mean error of predicted times, over kinds.
/// Mean error of this many predicted times of one kind, two or more: kMaxError for many of them,
/// twice as much for two, whose mean says less. A depth that is wrong shows in bursts of gets
/// alone, and a switch that is missing in sizes alone: neither must vanish among kinds that are
/// right.
constexpr double most_error_of_kind(std::size_t times) {
  return kMaxError * (1 + 2 / static_cast<double>(times));
}
inline constexpr double kMaxRegret = 0.1;  ///< Mean regret of many decisions.
/// Mean regret of this many decisions, one or more: a single choice that noise made look wrong
/// weighs half of a mean over two.
constexpr double most_regret_of(std::size_t decisions) {
  return kMaxRegret * (1 + 2 / static_cast<double>(decisions));
}
/// Share of times that are off by more than they say (fit::kMiss). It has to be larger beyond the
/// chance of so few: by the lower end of Wilson's interval at 95 %.
inline constexpr double kMaxMisses = 0.05;
inline constexpr double kMaxOfKind = 0.25;  ///< Mean regret of three or more decisions of one kind.
/// Share of decisions that surely lose against no model; a single one is not counted.
inline constexpr double kMaxLosses = 0.1;
/// What its decisions surely take longer than no model's, in the mean.
inline constexpr double kMaxOverUntuned = 0.01;

/// Nullopt: there was nothing to judge it by.
VersionVerdict verdict_on(const std::optional<fit::Judgement>& judgement);
/// `validation`: the version's last one, if it has any.
VersionVerdict verdict_of(const std::optional<ValidationRecord>& validation);

/// "1.2 %".
std::string share_text(double share);

/// "mean error 1.2 % of 16 points, mean regret 0.4 % of 80 choices, 7.0 % less time than without a
/// model".
std::string figures_text(const fit::Judgement& judgement);

}  // namespace stripline::server
