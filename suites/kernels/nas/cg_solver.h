// NAS CG over an exchange that is free in how it communicates.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>

#include "suites/kernels/nas/cg_share.h"

namespace stripline::suites::nas {

/// What CG needs to have communicated; the rules of all exchanges are in README.md. Collective over
/// all ranks.
///
/// sum_rows(share): the product of the matrix, summed over the ranks of a row. Every row goes
/// through share.multiply(), then, for every stage in ascending order, through share.add() with the
/// elements of the stage's partner, after that partner has made them. Both take any ranges, so that
/// a piece can be in transit through the stages while later rows are multiplied. Each stage has
/// sums of its own, so that nothing is written that a partner still reads in the same product.
///
/// transpose(share): copies share.cols() elements from share.transpose_source() on of
/// sums(stages()) of the transpose partner (which may be the rank itself) into share.product().
///
/// sum_row(share, value): the sum of `value` over the ranks of the row, the same on all of them.
template <typename E>
concept CgExchange = requires(E& exchange, CgShare& share, double value) {
  exchange.sum_rows(share);
  exchange.transpose(share);
  { exchange.sum_row(share, value) } -> std::same_as<double>;
};

struct CgResult {
  double zeta = 0;
  double residual_norm = 0;  ///< |x - A z|; of solve_cg(), the largest of all iterations
  bool verified = false;     ///< by solve_cg(): zeta is the reference value, to kCgTolerance, and
                             ///< no residual is above kCgResidualLimit
};

/// One iteration of the power method from the x that `share` holds: solves A z = x approximately,
/// normalises z to the next x.
template <CgExchange E>
CgResult iterate_cg(CgShare& share, E& exchange) {
  const auto product = [&] {
    exchange.sum_rows(share);
    exchange.transpose(share);
  };
  double rho = exchange.sum_row(share, share.start_solution());
  for (size_t i = 0; i < kCgSteps; ++i) {
    product();
    const double alpha = rho / exchange.sum_row(share, share.direction_dot_product());
    const double before = rho;
    rho = exchange.sum_row(share, share.step(alpha));
    share.turn(rho / before);
  }
  share.check_solution();
  product();

  CgResult result;
  result.residual_norm = std::sqrt(exchange.sum_row(share, share.residual()));
  const CgShare::Norms norms = share.norms();
  const double xz = exchange.sum_row(share, norms.xz);
  share.next_vector(1 / std::sqrt(exchange.sum_row(share, norms.zz)));
  result.zeta = share.problem().shift + 1 / xz;
  return result;
}

/// The benchmark: all iterations from the start, and the verification. The specification runs one
/// iteration before, untimed, which is iterate_cg().
template <CgExchange E>
CgResult solve_cg(CgShare& share, E& exchange) {
  share.start();
  CgResult result;
  bool solved = true;
  for (size_t i = 0; i < share.problem().iterations; ++i) {
    const CgResult iteration = iterate_cg(share, exchange);
    result.zeta = iteration.zeta;
    result.residual_norm = std::max(result.residual_norm, iteration.residual_norm);
    solved = solved && iteration.residual_norm <= kCgResidualLimit;
  }
  const double reference = share.problem().reference_zeta;
  result.verified = solved && std::abs(result.zeta - reference) / reference <= kCgTolerance;
  return result;
}

}  // namespace stripline::suites::nas
