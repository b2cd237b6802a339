#include "suites/grids.h"

#include <utility>

namespace stripline::suites {

std::vector<experiment::ParamValue> size_grid(int64_t low, int64_t high, int per_octave) {
  std::vector<experiment::ParamValue> values;
  for (int64_t size = low; size <= high; size *= 2) {
    values.emplace_back(size);
    if (per_octave > 1 && size < high) values.emplace_back(size + size / 2);
  }
  return values;
}

experiment::Factor integer_factor(std::string name, std::string unit, std::string description,
                                  std::vector<experiment::ParamValue> values, double minimum,
                                  double maximum) {
  experiment::Factor factor;
  factor.name = std::move(name);
  factor.unit = std::move(unit);
  factor.description = std::move(description);
  factor.values = std::move(values);
  factor.minimum = minimum;
  factor.maximum = maximum;
  return factor;
}

experiment::Factor integer_factor(std::string name, std::string unit, std::string description,
                                  std::initializer_list<int64_t> values, double minimum,
                                  double maximum) {
  return integer_factor(std::move(name), std::move(unit), std::move(description),
                        std::vector<experiment::ParamValue>(values.begin(), values.end()), minimum,
                        maximum);
}

experiment::Factor name_factor(std::string name, std::string description,
                               std::vector<experiment::ParamValue> values) {
  experiment::Factor factor;
  factor.name = std::move(name);
  factor.description = std::move(description);
  factor.values = std::move(values);
  return factor;
}

experiment::Factor name_factor(std::string name, std::string description,
                               std::initializer_list<const char*> values) {
  std::vector<experiment::ParamValue> names;
  for (const char* one : values) names.emplace_back(std::string(one));
  return name_factor(std::move(name), std::move(description), std::move(names));
}

size_t size_param(const experiment::Point& point, std::string_view factor) {
  return static_cast<size_t>(experiment::number_param(point, factor).value_or(0));
}

}  // namespace stripline::suites
