// Wilcoxon's signed-rank test for paired measurements.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"

namespace stripline::stats {

/// Outcome of a signed-rank test on differences d = a - b.
struct SignedRank {
  std::size_t n = 0;       ///< Differences other than zero; zeros are dropped, as Wilcoxon did.
  double w_plus = 0.0;     ///< Sum of the ranks of the positive differences.
  double w_minus = 0.0;    ///< Sum of the ranks of the negative ones.
  double p_less = 1.0;     ///< One-sided: P(W+ this small | medians equal); small when a < b.
  double p_greater = 1.0;  ///< One-sided: small when a > b.
  double p_two_sided = 1.0;
  bool exact = true;  ///< Exact permutation distribution (n <= 50), also under ties.
};

/// Tests whether the differences are symmetric about zero. Ties share their mean rank. Above n = 50
/// the normal approximation with tie and continuity correction is used. All differences zero gives
/// p = 1. Errors: invalid_argument for empty or non-finite input.
Result<SignedRank> wilcoxon_signed_rank(std::span<const double> differences);

/// The same for a[i] - b[i]. Errors: also for different lengths.
Result<SignedRank> wilcoxon_signed_rank(std::span<const double> a, std::span<const double> b);

}  // namespace stripline::stats
