// All that the fits read of a campaign: one row for each variant of an experiment at each place of
// its grid, with the medians of its runs. Series are checked here, once, and nowhere else.
//
// Which experiment yields which samples is defined in docs/measurement.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/experiment/catalogue.h"
#include "optimizer/experiment/experiment.h"

namespace stripline::fit {

/// Median of one point's repetitions, by run.
using RunMedians = std::map<uint32_t, double>;

/// Median over runs.
double across_runs(const RunMedians& medians);

struct SampleRow {
  std::string variant;
  std::map<std::string_view, uint64_t> numbers;   ///< factors that are whole numbers
  std::map<std::string_view, std::string> names;  ///< the others that are read
  RunMedians medians;
  /// By how much repetitions of a run scatter upwards: the logarithm of what five of six stay below
  /// over the median, one standard deviation of times whose logarithms are normal. Mean over runs;
  /// 0 of single repetitions, and of medians that are not positive.
  double scatter = 0.0;
  std::map<uint32_t, uint32_t> repetitions;  ///< by run

  uint64_t number(std::string_view factor) const { return numbers.at(factor); }
  const std::string& name(std::string_view factor) const { return names.at(factor); }
  uint32_t raw_samples() const;
};

/// Thread-safe as a constant.
class SampleTable {
 public:
  /// Series of experiments that no fit reads are ignored. Those of other variants than the
  /// catalogue knows, that failed verification, are empty, lack a factor, or hold a value that is
  /// no time (differences of two times may be negative) are left out and named in rejected().
  /// Several series of the same point and run are pooled.
  explicit SampleTable(std::span<const experiment::SampleSeries> series);

  /// In ascending order of variants, then of the factors as the experiment's declaration has them.
  const std::vector<SampleRow>& rows(std::string_view experiment) const;
  const std::vector<SampleRow>& rows(const experiment::Known& experiment) const {
    return rows(experiment.name);
  }

  /// Repetitions in all rows of an experiment.
  uint32_t raw_samples(const experiment::Known& experiment) const;

  /// Indices of the series that went in, ascending.
  const std::vector<std::size_t>& used() const { return used_; }
  /// Why a series was left out, one sentence each.
  const std::vector<std::string>& rejected() const { return rejected_; }

 private:
  std::map<std::string, std::vector<SampleRow>, std::less<>> rows_;
  std::vector<std::size_t> used_;
  std::vector<std::string> rejected_;
};

}  // namespace stripline::fit
