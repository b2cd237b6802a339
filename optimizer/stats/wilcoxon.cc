#include "optimizer/stats/wilcoxon.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <boost/math/distributions/normal.hpp>

#include "optimizer/stats/interval.h"

namespace stripline::stats {
namespace {

constexpr std::size_t kExactLimit = 50;

// Lower tails P(W <= w) of the distribution in which every rank is positive with probability 1/2.
// Ranks are doubled, so that mean ranks of ties are whole numbers.
class SignedRankDistribution {
 public:
  explicit SignedRankDistribution(const std::vector<int>& doubled_ranks) {
    std::size_t reached = 0;
    std::size_t total = 0;
    for (const int rank : doubled_ranks) total += static_cast<std::size_t>(rank);
    probability_.assign(total + 1, 0.0);
    probability_[0] = 1.0;
    for (const int rank : doubled_ranks) {
      const auto step = static_cast<std::size_t>(rank);
      reached += step;
      for (std::size_t w = reached + 1; w-- > 0;) {
        const double with = w >= step ? probability_[w - step] : 0.0;
        probability_[w] = 0.5 * (probability_[w] + with);
      }
    }
  }

  double at_most(double w) const {
    const auto doubled = static_cast<std::size_t>(std::lround(2.0 * w));
    double sum = 0.0;
    for (std::size_t i = 0; i <= doubled && i < probability_.size(); ++i) sum += probability_[i];
    return std::min(1.0, sum);
  }

 private:
  std::vector<double> probability_;
};

}  // namespace

Result<SignedRank> wilcoxon_signed_rank(std::span<const double> differences) {
  STRIPLINE_RETURN_IF_ERROR(check_finite(differences, "paired differences"));
  std::vector<double> d;
  for (const double difference : differences) {
    if (difference != 0.0) d.push_back(difference);
  }
  SignedRank result;
  result.n = d.size();
  if (d.empty()) return result;
  std::sort(d.begin(), d.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });

  std::vector<int> doubled_ranks;
  doubled_ranks.reserve(d.size());
  double tie_term = 0.0;
  for (std::size_t begin = 0; begin < d.size();) {
    std::size_t end = begin + 1;
    while (end < d.size() && std::abs(d[end]) == std::abs(d[begin])) ++end;
    // Mean of the ranks begin+1 .. end, doubled.
    const int doubled = static_cast<int>(begin + 1 + end);
    for (std::size_t i = begin; i < end; ++i) {
      doubled_ranks.push_back(doubled);
      (d[i] > 0.0 ? result.w_plus : result.w_minus) += doubled / 2.0;
    }
    const auto ties = static_cast<double>(end - begin);
    tie_term += ties * ties * ties - ties;
    begin = end;
  }

  if (d.size() <= kExactLimit) {
    const SignedRankDistribution distribution(doubled_ranks);
    result.p_less = distribution.at_most(result.w_plus);
    result.p_greater = distribution.at_most(result.w_minus);
  } else {
    result.exact = false;
    const auto n = static_cast<double>(d.size());
    const double mean = n * (n + 1.0) / 4.0;
    const double sd = std::sqrt(n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - tie_term / 48.0);
    const boost::math::normal_distribution<> normal;
    result.p_less = boost::math::cdf(normal, (result.w_plus - mean + 0.5) / sd);
    result.p_greater = boost::math::cdf(normal, (result.w_minus - mean + 0.5) / sd);
  }
  result.p_two_sided = std::min(1.0, 2.0 * std::min(result.p_less, result.p_greater));
  return result;
}

Result<SignedRank> wilcoxon_signed_rank(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) {
    return Error(ErrorCode::invalid_argument,
                 "a paired test needs as many values on each side, got " +
                     std::to_string(a.size()) + " and " + std::to_string(b.size()));
  }
  std::vector<double> differences(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) differences[i] = a[i] - b[i];
  return wilcoxon_signed_rank(differences);
}

}  // namespace stripline::stats
