#include "optimizer/campaign/median_table.h"

#include <array>
#include <charconv>
#include <system_error>
#include <unordered_map>

#include "base/json.h"
#include "base/json_scan.h"
#include "optimizer/experiment/json.h"

namespace stripline::campaign {
namespace {

// 64 and 64.0 name the same point: a number as point_key() writes it.
void append_number(std::string_view number, std::string& text) {
  double value = 0;
  const bool is_integer = number.find_first_of(".eE") == std::string_view::npos;
  if (is_integer ||
      std::from_chars(number.data(), number.data() + number.size(), value).ec != std::errc()) {
    text += number;
    return;
  }
  std::array<char, 32> digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value + 0.0);
  text.append(digits.data(), written.ptr);
}

}  // namespace

MedianTable::MedianTable(const PointTable& table) {
  rows_.reserve(table.points().size());
  std::vector<double> medians;
  for (const PointStatus& point : table.points()) {
    medians.clear();
    for (const auto& [run, median] : point.medians) medians.push_back(median);
    add(point.point.experiment, point.point.variant,
        dumped(experiment::to_json(point.point).at("params")), medians);
  }
}

void MedianTable::add(std::string_view experiment, std::string_view variant,
                      std::string_view params_json, std::span<const double> medians) {
  params_ += params_json;
  medians_.insert(medians_.end(), medians.begin(), medians.end());
  rows_.push_back(
      {place_of_name(experiment), place_of_name(variant), params_.size(), medians_.size()});
}

std::string_view MedianTable::params_json(uint32_t place) const {
  const size_t begin = place == 0 ? 0 : rows_[place - 1].params_end;
  return std::string_view(params_).substr(begin, rows_[place].params_end - begin);
}

std::span<const double> MedianTable::medians(uint32_t place) const {
  const size_t begin = place == 0 ? 0 : rows_[place - 1].medians_end;
  return std::span(medians_).subspan(begin, rows_[place].medians_end - begin);
}

std::vector<std::optional<uint32_t>> MedianTable::places_of(const MedianTable& other) const {
  std::vector<std::optional<uint32_t>> places(other.size());
  std::unordered_map<std::string, uint32_t> by_key;  // once one is not where it is expected
  uint32_t expected = 0;
  for (uint32_t of_other = 0; of_other < other.size(); ++of_other) {
    if (expected < size() && is_same(expected, other, of_other)) {
      places[of_other] = expected++;
      continue;
    }
    if (by_key.empty()) {
      by_key.reserve(size());
      for (uint32_t place = 0; place < size(); ++place) by_key.emplace(key_of(place), place);
    }
    const auto found = by_key.find(other.key_of(of_other));
    if (found == by_key.end()) continue;
    places[of_other] = found->second;
    expected = found->second + 1;
  }
  return places;
}

size_t MedianTable::bytes() const {
  return rows_.capacity() * sizeof(Row) + params_.capacity() + medians_.capacity() * sizeof(double);
}

uint32_t MedianTable::place_of_name(std::string_view name) {
  const auto found = places_of_names_.find(name);
  if (found != places_of_names_.end()) return found->second;
  const auto place = static_cast<uint32_t>(names_.size());
  places_of_names_.emplace(name, place);
  names_.emplace_back(name);
  return place;
}

bool MedianTable::is_same(uint32_t place, const MedianTable& other, uint32_t of_other) const {
  return params_json(place) == other.params_json(of_other) &&
         variant(place) == other.variant(of_other) &&
         experiment(place) == other.experiment(of_other);
}

std::string MedianTable::key_of(uint32_t place) const {
  std::string key = experiment(place);
  key += '\0';
  key += variant(place);
  JsonScan scan(params_json(place));
  if (!scan.take('{')) return key;
  do {
    key += '\0';
    key += scan.value();
    if (!scan.take(':')) break;
    key += ':';
    const std::string_view value = scan.value();
    if (value.starts_with('"')) {
      key += value;
    } else {
      append_number(value, key);
    }
  } while (scan.take(','));
  return key;
}

}  // namespace stripline::campaign
