// NAS MG over an exchange that is free in how it communicates.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>

#include "suites/kernels/nas/mg_share.h"

namespace stripline::suites::nas {

/// What MG needs to have communicated; the rules of all exchanges are in README.md. `step` is a
/// computation that the exchange has to let happen: it calls share.compute(step, begin, end) for
/// all share.planes(step).
///
/// ghosts(share, step): then fills share.face(step, axis, up) of both sides, one axis after the
/// other. What a face takes of a plane can leave as soon as that plane is computed and, for the
/// faces along axis 1 and 2, has its ghosts of the axes before. Only called for divided levels. A
/// neighbour can be the rank itself.
///
/// gather(share, step): then fetches partition().replicated_block(rank) from every other `rank`:
/// the block lies at the same offset at its owner and here, each rank having computed its own.
///
/// sum(share, value), maximum(share, value): over all ranks.
template <typename E>
concept MgExchange = requires(E& exchange, MgShare& share, MgStep step, double value) {
  exchange.ghosts(share, step);
  exchange.gather(share, step);
  { exchange.sum(share, value) } -> std::same_as<double>;
  { exchange.maximum(share, value) } -> std::same_as<double>;
};

struct MgResult {
  double norm = 0;     ///< of the residual, root mean square
  double largest = 0;  ///< element of the residual
  bool verified = false;
};

/// Computes with ghosts, wherever the level lies.
template <MgExchange E>
void run_mg_step(MgShare& share, E& exchange, MgStep step) {
  const MgPartition& partition = share.partition();
  if (!partition.replicated(step.level)) {
    exchange.ghosts(share, step);
    return;
  }
  if (step.kind == MgStep::restrict && !partition.replicated(step.level + 1)) {
    exchange.gather(share, step);
  } else {
    share.compute(step, 0, share.planes(step));
  }
  share.wrap(step);
}

/// One iteration: a V-cycle, and the residual of what it gives. The residual and all ghosts are up
/// to date before and after.
template <MgExchange E>
void iterate_mg(MgShare& share, E& exchange) {
  const size_t finest = share.problem().levels;
  for (size_t level = finest - 1; level >= 1; --level) {
    run_mg_step(share, exchange, {MgStep::restrict, level});
  }
  share.clear_solution(1);
  run_mg_step(share, exchange, {MgStep::smooth, 1});
  for (size_t level = 2; level <= finest; ++level) {
    if (level != finest) share.clear_solution(level);
    share.interpolate(level);
    run_mg_step(share, exchange, {MgStep::residual, level});
    run_mg_step(share, exchange, {MgStep::smooth, level});
  }
  run_mg_step(share, exchange, {MgStep::residual, finest});
}

/// Sets the solution to its start, with the residual and ghosts that iterations begin with.
template <MgExchange E>
void start_mg(MgShare& share, E& exchange) {
  share.start();
  run_mg_step(share, exchange, {MgStep::residual, share.problem().levels});
}

/// The verification, after the problem's iterations.
template <MgExchange E>
MgResult finish_mg(MgShare& share, E& exchange) {
  const MgShare::Norms norms = share.norms();
  const auto points = static_cast<double>(size_t{1} << (3 * share.problem().levels));
  MgResult result;
  result.norm = std::sqrt(exchange.sum(share, norms.sum_of_squares) / points);
  result.largest = exchange.maximum(share, norms.largest);
  const double reference = share.problem().reference_norm;
  result.verified = std::abs(result.norm - reference) / reference <= kMgTolerance;
  return result;
}

/// The benchmark: the first residual, all iterations and the verification. The specification runs
/// one iteration before, untimed.
template <MgExchange E>
MgResult solve_mg(MgShare& share, E& exchange) {
  start_mg(share, exchange);
  for (size_t i = 0; i < share.problem().iterations; ++i) iterate_mg(share, exchange);
  return finish_mg(share, exchange);
}

}  // namespace stripline::suites::nas
