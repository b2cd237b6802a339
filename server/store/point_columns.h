// The points of one experiment, column by column: a tenth of the text that they take one by one, so
// that pages show hundreds of thousands. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace stripline::server {

/// How much is known of the points of an experiment.
struct ExperimentSummary {
  std::string experiment;
  uint64_t points = 0;
  uint64_t measured = 0;  ///< Points with a median.
  uint64_t failed = 0;    ///< Points without, of which no run gave a valid sample.
  bool operator==(const ExperimentSummary&) const = default;
};

/// A point as the store has it.
struct PointRow {
  uint32_t place = 0;
  std::string variant;
  std::string params_json;  ///< an object of numbers and texts
  uint32_t runs = 0;        ///< that tried it, those included that failed
  uint32_t failed = 0;
  uint64_t samples = 0;
  std::optional<double> median;
  std::optional<double> low;
  std::optional<double> high;
};

class PointColumns {
 public:
  explicit PointColumns(std::string experiment) : experiment_(std::move(experiment)) {}

  /// Errors: data_loss for parameters that are not an object.
  Status add(const PointRow& row);
  size_t size() const { return rows_; }

  /// {"experiment", "place", "variant", "params", "runs", "samples", "failed", "median", "low",
  /// "high"}: docs/http.md, Points. Values have six digits.
  std::string json() const;

 private:
  // For each point the place of its value among the different ones, which are JSON texts; -1: it
  // has none.
  struct Placed {
    std::vector<std::string> values;
    std::unordered_map<std::string, int32_t> places;
    std::vector<int32_t> of;
    void add(size_t row, const std::string& value);
    void write(std::string& text, size_t rows) const;
  };

  std::string experiment_;
  size_t rows_ = 0;
  std::vector<uint32_t> place_;
  Placed variant_;
  std::map<std::string, Placed> params_;
  std::vector<uint32_t> runs_;  // without those that failed
  std::vector<uint64_t> samples_;
  std::vector<uint32_t> failed_;
  std::vector<std::optional<double>> median_;
  std::vector<std::optional<double>> low_;
  std::vector<std::optional<double>> high_;
};

}  // namespace stripline::server
