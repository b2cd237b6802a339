// How well a model does on points that it was not fitted to: what it predicts against what was
// measured, and what its choices take against the fastest of the measured alternatives. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "optimizer/experiment/experiment.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::fit {

/// Decisions of one kind.
struct KindJudgement {
  std::string kind = {};  ///< experiment::HeldOutKind
  std::size_t choices = 0;
  double mean_regret = 0;   ///< As Judgement's.
  double worst_regret = 0;  ///< The same.

  bool operator==(const KindJudgement&) const = default;
};

/// Predicted times of one kind: what is predicted by the same parameters.
struct TimesJudgement {
  std::string kind = {};  ///< "size of get", "burst of put"
  std::size_t points = 0;
  double mean_error = 0;  ///< Mean of |predicted - measured| / measured.

  bool operator==(const TimesJudgement&) const = default;
};

/// How settings of another runtime did in it: nothing is predicted there.
struct SettingsJudgement {
  bool validated = false;  ///< All stages of their validation passed.
  /// By what factor a probe slowed the runtime down, which shows that it reads them; 0: none has.
  double probe_factor = 0;
  /// Comparisons with the default settings that show neither that they are as fast, nor that they
  /// are slower.
  std::size_t inconclusive = 0;

  bool operator==(const SettingsJudgement&) const = default;
};

struct Judgement {
  /// Sizes of blocking gets and puts between nodes, and bursts of them, whose times were predicted.
  std::size_t points = 0;
  double mean_error = 0;     ///< Mean over `times`, in which kinds weigh alike.
  double largest_error = 0;  ///< The largest error of a single predicted time.
  /// Decisions of which at least two alternatives were measured, the chosen one among them.
  std::size_t choices = 0;
  double mean_regret = 0;   ///< Geometric mean of chosen over fastest time, less 1; at least 0.
  double worst_regret = 0;  ///< The worst of one choice.
  std::vector<TimesJudgement> times = {};  ///< The predicted times, by kind.

  // What follows counts only problems that were held out for judging (judge_decisions.h).
  std::size_t missed = 0;                 ///< Predictions that were off by more than they say.
  std::vector<KindJudgement> kinds = {};  ///< The choices, by kind.
  /// Choices that were held against what is done without a model: the geometric mean of what they
  /// take more than that, as a share (below zero: less), and its one-sided lower bound at 95 %.
  std::size_t compared = 0;
  double over_untuned = 0;
  double over_untuned_low = 0;
  /// Choices that surely take longer than without a model, and the worst of them.
  std::size_t losses = 0;
  std::string worst_loss = {};
  double worst_loss_share = 0;
  /// Set where settings are judged: `compared` counts comparisons with the default ones then.
  std::optional<SettingsJudgement> settings = {};

  bool operator==(const Judgement&) const = default;
};

/// Sets `times`, and `mean_error` to their mean, from errors by kind.
void set_errors(const std::map<std::string, std::vector<double>>& errors, Judgement& judgement);

/// Both together: means weigh by what they are of, but those of kinds of times, which weigh alike.
Judgement joined(const Judgement& one, const Judgement& other);

/// Judges a valid model on verified series, by medians over runs. `ranks` took part in collective
/// operations. Series of experiments that it predicts nothing of are ignored.
Judgement judge_model(const model::TunedModel& model,
                      std::span<const experiment::SampleSeries> series, uint32_t ranks);

/// How points that were measured again lie to what a model says.
struct SentinelReading {
  std::size_t points = 0;   ///< Sizes of blocking gets and puts between nodes that it predicts.
  std::size_t outside = 0;  ///< Those farther from its interval than kSentinelTolerance.
  double ratio = 1;         ///< Median of measured over predicted time, of these.
  // The same of bursts of gets and puts, and of transfers of many regions; by kDeedTolerance.
  std::size_t bursts = 0;
  std::size_t bursts_outside = 0;
  std::size_t shapes = 0;
  std::size_t shapes_outside = 0;

  bool operator==(const SentinelReading&) const = default;
};

/// A day's difference of a network that is as it was, beyond the interval of the parameters.
inline constexpr double kSentinelTolerance = 0.1;
/// The same of what takes many operations: their times say more of depths, windows and packing than
/// the parameters' intervals do.
inline constexpr double kDeedTolerance = 0.25;

/// Compares medians over runs of verified series with the ends of the model's intervals.
SentinelReading read_sentinels(const model::TunedModel& model,
                               std::span<const experiment::SampleSeries> series);

/// Series in two parts.
struct HeldOut {
  std::vector<experiment::SampleSeries> fitted;    ///< to fit a model to
  std::vector<experiment::SampleSeries> held_out;  ///< to judge it by
};

/// Holds out about every fourth of the places that judge_model() looks at, whole: a transfer with
/// all of its methods and classes of computation. The smallest and the largest of each kind are
/// never held out: a model is judged between what it knows, where programs use it. The same points
/// give the same parts, in whatever order they come.
HeldOut hold_out(std::span<const experiment::SampleSeries> series);

}  // namespace stripline::fit
