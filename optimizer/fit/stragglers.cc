#include "optimizer/fit/stragglers.h"

#include <algorithm>
#include <cmath>

#include "optimizer/stats/interval.h"

namespace stripline::fit {
namespace {

// Of n standard normal variables, n of 1 or more.
double expected_largest(double n) {
  const double share = (n - 0.375) / (n + 0.25);
  return share > 0.5 ? stats::normal_two_sided(2.0 * share - 1.0) : 0.0;
}

}  // namespace

double straggling_s(const StreamScatter& scatter, double operations, double each_s) {
  const double own =
      std::sqrt(std::max(0.0, scatter.latency * scatter.latency - scatter.stream * scatter.stream));
  const double spread_s = scatter.latency_s * std::expm1(own);
  const double compete = std::min(operations, 1.0 + spread_s / each_s);
  return scatter.latency_s * std::expm1(own * expected_largest(compete));
}

}  // namespace stripline::fit
