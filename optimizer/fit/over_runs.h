// From estimates of single runs to what is published.
//
// Parameters are estimated in every run by itself; their spread over the runs is what they would
// show when measured again. The published interval is the t interval of these estimates: in
// simulations a percentile bootstrap over six runs covers only 86% where 95% are asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "optimizer/fit/run_lines.h"
#include "optimizer/fit/sample_table.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::fit {

struct OverRunsOptions {
  double confidence = 0.95;
  /// The interval is at least this wide to either side: what the residuals of the fit say, where
  /// the runs agree better with each other than with the model.
  double least_half_width = 0.0;
};

/// Mean of the runs' estimates with its t interval, both clipped at zero, which no cost is below.
/// Estimates of single runs may be negative by noise; clipping them before averaging would bias the
/// mean upwards, so it happens here. nullopt (the parameter is absent) with fewer than two runs, an
/// estimate or an interval that is not finite, or a confidence outside (0, 1).
std::optional<model::Parameter> over_runs(std::span<const double> per_run, uint32_t samples,
                                          const std::string& method,
                                          const OverRunsOptions& options = {});

/// The same of the medians of a row; absent without one.
std::optional<model::Parameter> over_runs(const SampleRow* row, double confidence);

/// The same of what lines of runs say, with intervals that are no narrower than how well a line
/// fits.
class PublishedLines {
 public:
  static constexpr const char* kMethod = "wls-per-run+t";

  PublishedLines(uint32_t samples, double confidence)
      : samples_(samples), confidence_(confidence) {}

  std::optional<model::Parameter> intercept(const RunLines& lines) const;
  std::optional<model::Parameter> slope(const RunLines& lines,
                                        const std::string& method = kMethod) const;
  /// `misfit`, `freedom`: as of RunLines.
  std::optional<model::Parameter> over_runs(std::span<const double> per_run, double misfit,
                                            double freedom, const std::string& method) const;

 private:
  uint32_t samples_;
  double confidence_;
};

}  // namespace stripline::fit
