#include "optimizer/fit/stragglers.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "optimizer/stats/interval.h"

namespace stripline::fit {
namespace {

// The largest of n standard normal variables is expected there, n of 1 or more.
double expected_largest(double n) {
  const double share = (n - 0.375) / (n + 0.25);
  return share > 0.5 ? stats::normal_two_sided(2.0 * share - 1.0) : 0.0;
}

// Share of the variance of one of them that the largest has.
double variance_of_largest(double n) {
  constexpr double kPi = std::numbers::pi;
  return n > 1.0 ? std::min(1.0, kPi * kPi / (12.0 * std::log(n))) : 1.0;
}

// Standard deviation of what delays each operation by itself.
double own_scatter(const StreamScatter& scatter) {
  const double both = scatter.latency * scatter.latency - scatter.stream * scatter.stream;
  const double seen = 1.0 - variance_of_largest(scatter.operations);
  if (!(both > 0.0) || !(seen > 0.0)) return 0.0;
  return std::min(scatter.latency, std::sqrt(both / seen));
}

}  // namespace

double straggling_s(const StreamScatter& scatter, double operations, double each_s) {
  const double own = own_scatter(scatter);
  const double spread_s = scatter.latency_s * std::expm1(own);
  const double compete = std::min(operations, 1.0 + spread_s / each_s);
  return scatter.latency_s * std::expm1(own * expected_largest(compete));
}

}  // namespace stripline::fit
