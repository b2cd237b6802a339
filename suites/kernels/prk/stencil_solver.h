// PRK stencil over an exchange that is free in how it communicates.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>

#include "suites/kernels/prk/stencil_share.h"

namespace stripline::suites::prk {

/// What the stencil needs to have communicated; the rules of all exchanges are in
/// suites/kernels/nas/README.md.
///
/// ghosts(share): calls share.compute_interior() for all interior rows, and returns when this
/// rank's ghosts are what its neighbours' points are.
///
/// used(share): the ghosts have been used. Returns when the points that left may be written.
///
/// sum(share, value): over all ranks.
template <typename E>
concept StencilExchange = requires(E& exchange, StencilShare& share, double value) {
  exchange.ghosts(share);
  exchange.used(share);
  { exchange.sum(share, value) } -> std::same_as<double>;
};

/// One iteration.
template <StencilExchange E>
void iterate_stencil(StencilShare& share, E& exchange) {
  exchange.ghosts(share);
  share.compute_boundary();
  exchange.used(share);
  share.advance();
}

/// True if the mean of the absolute results over the whole grid, and each of this rank's, is what
/// it should be after `iterations`. The mean alone would not see ghosts that are an iteration old:
/// they take away on one side what they add on the other.
template <StencilExchange E>
bool verify_stencil(StencilShare& share, E& exchange, size_t iterations) {
  const StencilShare::Sums mine = share.sums(iterations);
  const StencilPartition& partition = share.partition();
  const auto width = static_cast<double>(partition.n() - 2 * partition.radius());
  const double norm = exchange.sum(share, mine.sum) / (width * width);
  const double expected = 2 * kStencilSlope * static_cast<double>(iterations);
  return mine.wrong_points == 0 && std::abs(norm - expected) <= kStencilTolerance;
}

}  // namespace stripline::suites::prk
