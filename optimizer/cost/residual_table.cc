#include "optimizer/cost/residual_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "optimizer/cost/log2_of.h"

namespace stripline::cost {
namespace {

// The lower of the two grid lines around a position, and how far it is to the next.
struct Place {
  size_t index = 0;
  double share = 0;
};

Place place_of(const std::vector<double>& axis, double position) {
  if (position <= axis.front()) return {0, 0};
  if (position >= axis.back()) return {axis.size() - 1, 0};
  size_t index = 0;
  while (axis[index + 1] <= position) ++index;
  return {index, (position - axis[index]) / (axis[index + 1] - axis[index])};
}

LogRatio between(const LogRatio& a, const LogRatio& b, double share) {
  return {a.value + share * (b.value - a.value), a.low + share * (b.low - a.low),
          a.high + share * (b.high - a.high)};
}

// An interval is an estimate and may reach below what a ratio can be.
double log_of(double ratio) { return std::log(std::max(ratio, 1e-6)); }

LogRatio log_of(const model::Parameter& ratio) {
  return {log_of(ratio.value), log_of(ratio.ci_low), log_of(ratio.ci_high)};
}

double log2_of_data(const model::VisResidual& cell) {
  return log2_of(cell.region_bytes) + log2_of(cell.regions);
}

LogRatio estimate(const std::vector<model::VisResidual>& cells, double x, double y) {
  LogRatio sum;
  double weights = 0;
  double squares = 0;
  for (const model::VisResidual& cell : cells) {
    const double dx = log2_of(cell.region_bytes) - x;
    const double dy = log2_of_data(cell) - y;
    const double square = dx * dx + dy * dy;
    const LogRatio ratio = log_of(cell.ratio);
    if (square == 0) return ratio;
    const double weight = 1 / (square * square);
    weights += weight;
    sum.value += weight * ratio.value;
    squares += weight * ratio.value * ratio.value;
    sum.low += weight * ratio.low;
    sum.high += weight * ratio.high;
  }
  // What was measured around it differs by so much, and it may differ as well.
  const double mean = sum.value / weights;
  const double spread = std::sqrt(std::max(0.0, squares / weights - mean * mean));
  return {mean, sum.low / weights - spread, sum.high / weights + spread};
}

void sort_unique(std::vector<double>& axis) {
  std::sort(axis.begin(), axis.end());
  axis.erase(std::unique(axis.begin(), axis.end()), axis.end());
}

}  // namespace

ResidualTable::ResidualTable(const std::vector<model::VisResidual>& cells) {
  for (const model::VisResidual& cell : cells) {
    x_.push_back(log2_of(cell.region_bytes));
    y_.push_back(log2_of_data(cell));
  }
  sort_unique(x_);
  sort_unique(y_);
  cells_.reserve(x_.size() * y_.size());
  for (const double x : x_) {
    for (const double y : y_) cells_.push_back(estimate(cells, x, y));
  }
  if (cells_.empty()) return;
  // What is computed between cells may be a rounding error beyond them.
  constexpr double kBeyond = 1e-9;
  const auto low = [](const LogRatio& a, const LogRatio& b) { return a.low < b.low; };
  const auto high = [](const LogRatio& a, const LogRatio& b) { return a.high < b.high; };
  least_ = std::exp(std::min_element(cells_.begin(), cells_.end(), low)->low - kBeyond);
  most_ = std::exp(std::max_element(cells_.begin(), cells_.end(), high)->high + kBeyond);
}

LogRatio ResidualTable::at(double log2_region_bytes, double log2_data_bytes) const {
  if (empty()) return {};
  const Place x = place_of(x_, log2_region_bytes);
  const Place y = place_of(y_, log2_data_bytes);
  const auto column = [&](size_t i) {
    const LogRatio* cells = &cells_[i * y_.size()];
    return y.share > 0 ? between(cells[y.index], cells[y.index + 1], y.share) : cells[y.index];
  };
  return x.share > 0 ? between(column(x.index), column(x.index + 1), x.share) : column(x.index);
}

}  // namespace stripline::cost
