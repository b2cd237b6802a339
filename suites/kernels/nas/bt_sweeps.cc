#include "suites/kernels/nas/bt_sweeps.h"

#include "suites/kernels/nas/bt_block.h"

namespace stripline::suites::nas {
namespace {

/// Lines that are worked on together, so that what they have in one cache line is used at once.
constexpr size_t kMaxLines = 8;
constexpr size_t kMaxPairs = kMaxLines / 2;

/// What the Jacobians of the fluxes are made of at a point.
struct Point {
  LinePair inverse;  // of the density
  LinePair v[3];
  LinePair half_square;  // of the velocity
  LinePair energy;       // total, a unit of mass
};

Point point_at(const double* first, const double* second) {
  Point p;
  p.inverse = 1 / load_pair(first, second);
  for (size_t d = 0; d < 3; ++d) p.v[d] = load_pair(first + 1 + d, second + 1 + d) * p.inverse;
  p.half_square = 0.5 * (p.v[0] * p.v[0] + p.v[1] * p.v[1] + p.v[2] * p.v[2]);
  p.energy = load_pair(first + 4, second + 4) * p.inverse;
  return p;
}

/// `scale` times the Jacobian of the viscous potentials (see adi_fluxes), plus a diagonal.
template <int kAxis>
BtBlock viscous_jacobian(const Point& p, double scale, double diagonal) {
  BtBlock b = {};
  const LinePair viscosity = scale * kC3C4 * p.inverse;
  b.at[0][0] += diagonal;
  LinePair of_mass = kC1C5 * p.energy;
  for (size_t d = 0; d < 3; ++d) {
    const size_t m = 1 + d;
    const double factor = d == kAxis ? kFourThirds : 1;
    b.at[m][0] = -factor * viscosity * p.v[d];
    b.at[m][m] = factor * viscosity + diagonal;
    b.at[4][m] = (factor - kC1C5) * viscosity * p.v[d];
    of_mass += (factor - kC1C5) * (p.v[d] * p.v[d]);
  }
  b.at[4][0] = -viscosity * of_mass;
  b.at[4][4] = kC1C5 * viscosity + diagonal;
  return b;
}

/// Adds `scale` times the Jacobian of the Euler flux.
template <int kAxis>
void add_flux_jacobian(BtBlock& b, const Point& p, double scale) {
  constexpr size_t kAlong = 1 + kAxis;
  const LinePair along = scale * p.v[kAxis];
  b.at[0][kAlong] += scale;
  for (size_t d = 0; d < 3; ++d) {
    const size_t m = 1 + d;
    b.at[m][0] -= along * p.v[d];
    b.at[m][kAlong] += scale * p.v[d];
    b.at[m][m] += along;
    // The pressure, which is c2 (energy density - density half_square).
    b.at[kAlong][m] -= (scale * kC2) * p.v[d];
    b.at[4][m] -= kC2 * along * p.v[d];
  }
  b.at[kAlong][0] += (scale * kC2) * p.half_square;
  b.at[kAlong][4] += scale * kC2;
  b.at[4][0] += along * (2 * kC2 * p.half_square - kC1 * p.energy);
  b.at[4][kAlong] += scale * (kC1 * p.energy - kC2 * p.half_square);
  b.at[4][4] += kC1 * along;
}

void load(BtBlock& block, const double* first, const double* second) {
  for (auto& row : block.at) {
    for (LinePair& value : row) value = load_pair(first++, second++);
  }
}

void store(const BtBlock& block, double* first, double* second) {
  for (const auto& row : block.at) {
    for (const LinePair& value : row) store_pair(value, first++, second++);
  }
}

void load(BtVector& vector, const double* first, const double* second) {
  for (LinePair& value : vector.at) value = load_pair(first++, second++);
}

void store(const BtVector& vector, double* first, double* second) {
  for (const LinePair& value : vector.at) store_pair(value, first++, second++);
}

}  // namespace

BtSweeps::BtSweeps(AdiShare& share) : share_(share), upper_(share.layout().points() * kBlock) {}

template <int kAxis>
void BtSweeps::eliminate_block(const LineBlock& block, const double* received, double* results) {
  struct State {
    Point before;
    Point here;
    // The last row.
    BtBlock upper;
    BtVector right;
  };
  const double first_scale = share_.scales().first;
  const double second_scale = share_.scales().second;
  const double diffusion = second_scale * kDiffusion[kAxis];
  const auto along = static_cast<size_t>(block.lines.along);

  State states[kMaxPairs] = {};
  for (size_t q = 0; q < block.pairs(); ++q) {
    State& state = states[q];
    const size_t one = block.first_line(q);
    const size_t two = block.second_line(q);
    if (received != nullptr) {
      const double* const first = received + one * kWidths.forward;
      const double* const second = received + two * kWidths.forward;
      load(state.upper, first, second);
      load(state.right, first + kBlock, second + kBlock);
    }
    state.before = point_at(share_.u(block.at(one, -1)), share_.u(block.at(two, -1)));
    state.here = point_at(share_.u(block.at(one, 0)), share_.u(block.at(two, 0)));
  }

  for (int n = 0; n < block.lines.points; ++n) {
    for (size_t q = 0; q < block.pairs(); ++q) {
      State& state = states[q];
      const size_t first = block.at(block.first_line(q), n);
      const size_t second = block.at(block.second_line(q), n);
      const Point next = point_at(share_.u(first + along), share_.u(second + along));

      BtBlock lower = viscous_jacobian<kAxis>(state.before, -second_scale, -diffusion);
      add_flux_jacobian<kAxis>(lower, state.before, -first_scale);
      BtBlock middle = viscous_jacobian<kAxis>(state.here, 2 * second_scale, 1 + 2 * diffusion);
      BtVector right;
      load(right, share_.rhs_at(first), share_.rhs_at(second));

      subtract_product(middle, lower, state.upper);
      subtract_product(right, lower, state.right);
      state.upper = viscous_jacobian<kAxis>(next, -second_scale, -diffusion);
      add_flux_jacobian<kAxis>(state.upper, next, first_scale);
      state.right = right;
      solve(middle, state.upper, state.right);

      store(state.upper, upper_at(first), upper_at(second));
      store(state.right, share_.rhs_at(first), share_.rhs_at(second));
      state.before = state.here;
      state.here = next;
    }
  }

  if (results == nullptr) return;
  for (size_t q = 0; q < block.pairs(); ++q) {
    double* const first = results + block.first_line(q) * kWidths.forward;
    double* const second = results + block.second_line(q) * kWidths.forward;
    store(states[q].upper, first, second);
    store(states[q].right, first + kBlock, second + kBlock);
  }
}

void BtSweeps::substitute_block(const LineBlock& block, const double* received, double* results) {
  BtVector solutions[kMaxPairs] = {};
  if (received != nullptr) {
    for (size_t q = 0; q < block.pairs(); ++q) {
      load(solutions[q], received + block.first_line(q) * kWidths.backward,
           received + block.second_line(q) * kWidths.backward);
    }
  }
  for (int n = block.lines.points - 1; n >= 0; --n) {
    for (size_t q = 0; q < block.pairs(); ++q) {
      const size_t first = block.at(block.first_line(q), n);
      const size_t second = block.at(block.second_line(q), n);
      BtBlock upper;
      BtVector solution;
      load(upper, upper_at(first), upper_at(second));
      load(solution, share_.rhs_at(first), share_.rhs_at(second));
      subtract_product(solution, upper, solutions[q]);
      store(solution, share_.rhs_at(first), share_.rhs_at(second));
      solutions[q] = solution;
    }
  }
  if (results == nullptr) return;
  for (size_t q = 0; q < block.pairs(); ++q) {
    store(solutions[q], results + block.first_line(q) * kWidths.backward,
          results + block.second_line(q) * kWidths.backward);
  }
}

void BtSweeps::eliminate(int axis, int cell, size_t begin, size_t end, const double* received,
                         double* results) {
  for_each_line_block(share_.layout(), axis, cell, begin, end, kMaxLines, kWidths.forward, received,
                      results,
                      [this](auto along, const LineBlock& block, const double* in, double* out) {
                        eliminate_block<along()>(block, in, out);
                      });
  // Two products of blocks, a factorisation with six right-hand sides, and three Jacobians.
  share_.did(share_.points_of_lines(axis, cell, begin, end), 850, 320);
}

void BtSweeps::back_substitute(int axis, int cell, size_t begin, size_t end, const double* received,
                               double* results) {
  for_each_line_block(share_.layout(), axis, cell, begin, end, kMaxLines, kWidths.backward,
                      received, results,
                      [this](auto, const LineBlock& block, const double* in, double* out) {
                        substitute_block(block, in, out);
                      });
  share_.did(share_.points_of_lines(axis, cell, begin, end), 50, 280);
}

}  // namespace stripline::suites::nas
