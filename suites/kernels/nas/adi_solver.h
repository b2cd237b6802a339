// The time steps of BT and SP, for any method of moving data between ranks.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>

#include "suites/kernels/nas/adi_reference.h"
#include "suites/kernels/nas/adi_share.h"

namespace stripline::suites::nas {

/// What moves data between the ranks of BT and SP. All ranks call the same steps in the same order.
///
/// copy_faces(share): brings the ghost layers (AdiLayout::faces) up to date, as the peers' cells
/// are after as many calls of AdiShare::add as ours, and has the right-hand side of every cell
/// computed.
///
/// sweep(step, body): gets what `step` receives from its predecessor's step, has the cell's lines
/// worked on, and hands the results on. It calls body(begin, end, received, results) for ranges
/// of lines that together are [0, step.lines), each once, in any order and as soon as what the
/// range needs is here; `received` points to what came for line `begin` and `results` to where
/// those of line `begin` are to be left; each is null where the step does not receive or does not
/// send.
///
/// sum(values): replaces the values by their sums over all ranks.
///
/// No data are ever overwritten before their reader has had them, if only every step waits for what
/// it receives: u changes in add(), at the end of an iteration, when each of the six neighbours has
/// sent something of its sweeps; and places of sweeps are used again an iteration later, behind the
/// ghost layers, which come from the same neighbours. Only AdiShare::initialise(), and its
/// constructor, which does the same, need a barrier before and after them.
template <typename E>
concept AdiExchange = requires(E exchange, AdiShare& share, const AdiSweepStep& step,
                               void (*body)(size_t, size_t, const double*, double*),
                               std::span<double> values) {
  exchange.copy_faces(share);
  exchange.sweep(step, body);
  exchange.sum(values);
};

/// How a benchmark solves along lines: SpSweeps or BtSweeps.
///
/// prepare(cell), where it has such a call: once the right-hand sides of an iteration are there.
/// eliminate(axis, cell, begin, end, received, results), back_substitute(...): for lines [begin,
/// end) of the cell; kWidths doubles a line are received and left.
template <typename S>
concept AdiSweeps = requires(S sweeps, const double* received, double* results) {
  sweeps.eliminate(0, 0, size_t{0}, size_t{0}, received, results);
  sweeps.back_substitute(0, 0, size_t{0}, size_t{0}, received, results);
  { S::kWidths } -> std::convertible_to<AdiWidths>;
};

/// One time step.
template <AdiSweeps Sweeps, AdiExchange Exchange>
void adi_iterate(AdiShare& share, Sweeps& sweeps, Exchange& exchange) {
  const AdiLayout& layout = share.layout();
  const int cells = layout.partition().cells_per_axis();
  exchange.copy_faces(share);
  if constexpr (requires { sweeps.prepare(0); }) {
    for (int c = 0; c < cells; ++c) sweeps.prepare(c);
  }
  for (int axis = 0; axis < 3; ++axis) {
    for (int stage = 0; stage < cells; ++stage) {
      const AdiSweepStep step = layout.forward(axis, stage);
      exchange.sweep(step, [&](size_t begin, size_t end, const double* received, double* results) {
        sweeps.eliminate(axis, step.cell, begin, end, received, results);
      });
    }
    for (int stage = cells - 1; stage >= 0; --stage) {
      const AdiSweepStep step = layout.backward(axis, stage);
      exchange.sweep(step, [&](size_t begin, size_t end, const double* received, double* results) {
        sweeps.back_substitute(axis, step.cell, begin, end, received, results);
      });
    }
  }
  for (int c = 0; c < cells; ++c) share.add(c);
}

/// What verify() judges, after the last iteration. The same on all ranks.
template <AdiExchange Exchange>
AdiNorms adi_norms(AdiShare& share, double dt, Exchange& exchange) {
  AdiNorms norms;
  norms.error = share.error_squares();
  exchange.copy_faces(share);
  norms.residual = share.rhs_squares();
  exchange.sum(norms.error);
  exchange.sum(norms.residual);
  const double inner = share.layout().partition().points() - 2;
  for (size_t m = 0; m < kComponents; ++m) {
    norms.error[m] = std::sqrt(norms.error[m] / (inner * inner * inner));
    norms.residual[m] = std::sqrt(norms.residual[m] / (inner * inner * inner)) / dt;
  }
  return norms;
}

}  // namespace stripline::suites::nas
