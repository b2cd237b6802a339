// How well a model does on points that it was not fitted to: what it predicts against what was
// measured, and what its choices take against the fastest of the measured alternatives. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/experiment/experiment.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::fit {

struct Judgement {
  /// Sizes of blocking gets and puts between nodes whose times were predicted.
  std::size_t points = 0;
  double mean_error = 0;     ///< Mean of |predicted - measured| / measured.
  double largest_error = 0;  ///< The largest of these.
  /// Transfers of many regions and collective operations of which at least two ways were measured,
  /// the chosen one among them.
  std::size_t choices = 0;
  double mean_regret = 0;   ///< Geometric mean of chosen over fastest time, less 1; at least 0.
  double worst_regret = 0;  ///< The worst of one choice.

  bool operator==(const Judgement&) const = default;
};

/// Judges a valid model on verified series, by medians over runs. `ranks` took part in collective
/// operations. Series of experiments that it predicts nothing of are ignored.
Judgement judge_model(const model::TunedModel& model,
                      std::span<const experiment::SampleSeries> series, uint32_t ranks);

/// How points that were measured again lie to what a model says.
struct SentinelReading {
  std::size_t points = 0;   ///< Sizes of blocking gets and puts between nodes that it predicts.
  std::size_t outside = 0;  ///< Those farther from its interval than kSentinelTolerance.
  double ratio = 1;         ///< Median of measured over predicted time.

  bool operator==(const SentinelReading&) const = default;
};

/// A day's difference of a network that is as it was, beyond the interval of the parameters.
inline constexpr double kSentinelTolerance = 0.1;

/// Compares medians over runs of verified series with the ends of the model's intervals.
SentinelReading read_sentinels(const model::TunedModel& model,
                               std::span<const experiment::SampleSeries> series);

/// Series in two parts.
struct HeldOut {
  std::vector<experiment::SampleSeries> fitted;    ///< to fit a model to
  std::vector<experiment::SampleSeries> held_out;  ///< to judge it by
};

/// Holds out about every fourth of the places that judge_model() looks at, whole: a transfer with
/// all of its ways and classes of computation. The smallest and the largest of each kind are never
/// held out: a model is judged between what it knows, where programs use it. The same points give
/// the same parts, in whatever order they come.
HeldOut hold_out(std::span<const experiment::SampleSeries> series);

}  // namespace stripline::fit
