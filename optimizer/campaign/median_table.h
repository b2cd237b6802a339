// The points of a campaign with the medians of their runs, and nothing else: what comparing
// hundreds of thousands of them needs, in about a hundred bytes for each. Pure; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/campaign/point_table.h"

namespace stripline::campaign {

class MedianTable {
 public:
  MedianTable() = default;
  explicit MedianTable(const PointTable& table);

  /// Appends a point that is not in the table yet, with its medians in order of the runs.
  /// `params_json`: its parameters as experiment::to_json() has them, as text.
  void add(std::string_view experiment, std::string_view variant, std::string_view params_json,
           std::span<const double> medians);

  size_t size() const { return rows_.size(); }
  /// What is known of the point at this place, which is below size().
  const std::string& experiment(uint32_t place) const { return names_[rows_[place].experiment]; }
  const std::string& variant(uint32_t place) const { return names_[rows_[place].variant]; }
  std::string_view params_json(uint32_t place) const;
  std::span<const double> medians(uint32_t place) const;

  /// For each point of the other table its place in this one; nullopt: it is not in it. Points are
  /// equal as their point_key() is. Quick where most are in the same order in both.
  std::vector<std::optional<uint32_t>> places_of(const MedianTable& other) const;

  /// What the table takes in memory.
  size_t bytes() const;

 private:
  struct Row {
    uint32_t experiment = 0;  // the place of its name
    uint32_t variant = 0;
    size_t params_end = 0;
    size_t medians_end = 0;
  };

  uint32_t place_of_name(std::string_view name);
  bool is_same(uint32_t place, const MedianTable& other, uint32_t of_other) const;
  std::string key_of(uint32_t place) const;

  std::vector<Row> rows_;
  std::vector<std::string> names_;
  std::map<std::string, uint32_t, std::less<>> places_of_names_;
  std::string params_;  // of all points, one after another
  std::vector<double> medians_;
};

}  // namespace stripline::campaign
