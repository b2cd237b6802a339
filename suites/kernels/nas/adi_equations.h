// The equations that the NAS benchmarks BT and SP solve: the compressible Navier-Stokes equations
// in three dimensions, with a forcing that makes a given polynomial their stationary solution
// (Bailey et al., "The NAS Parallel Benchmarks", RNR-94-007, section 3). Everything is
// dimensionless.
#pragma once

#include <array>
#include <cstddef>

#include "suites/kernels/nas/adi_layout.h"

namespace stripline::suites::nas {

using AdiVector = std::array<double, kComponents>;

/// The specification's C(m,n): the polynomial of the exact solution, in powers of xi, eta, zeta.
AdiVector adi_exact_solution(double xi, double eta, double zeta);

/// Its constants. k1 = 1.4 is the ratio of the specific heats; k3 k4 stand for viscosity.
inline constexpr double kC1 = 1.4;
inline constexpr double kC2 = 0.4;
inline constexpr double kC3C4 = 0.1;
inline constexpr double kC1C5 = 1.4 * 1.4;
inline constexpr double kC1C2 = kC1 * kC2;
inline constexpr double kFourThirds = 4.0 / 3.0;
/// Diffusion along each axis; the same for all components.
inline constexpr std::array<double, 3> kDiffusion = {0.75, 0.75, 1.0};
/// Fourth-order dissipation: a quarter of the largest diffusion.
inline constexpr double kDissipation = 0.25;

/// What a time step of length dt makes of differences on a grid with `points` points in a
/// direction, h apart; the same along all axes.
struct AdiScales {
  AdiScales(int points, double dt)
      : first(dt * (points - 1) / 2),
        second(dt * (points - 1) * (points - 1)),
        fourth(dt * kDissipation) {}

  double first;   ///< dt / 2h, of first differences over two intervals.
  double second;  ///< dt / h^2
  double fourth;  ///< dt times the dissipation.
};

/// Five weights of a point and its neighbours along an axis, the middle one its own.
using AdiStencil = std::array<double, 5>;

/// Diffusion and dissipation along the axis at grid point `at` of `points`, as one stencil: the
/// fourth difference loses what reaches over the boundary.
AdiStencil adi_smoothing(const AdiScales& scales, int axis, int at, int points);

/// The fluxes along an axis at a point: the Euler flux, to be differenced once, and the viscous
/// potentials, to be differenced twice. Both are scaled already.
template <int kAxis>
inline void adi_fluxes(const AdiScales& scales, const double* u, double* flux, double* viscous) {
  constexpr size_t kAlong = 1 + kAxis;
  const double inverse = 1.0 / u[0];
  const std::array<double, 3> v = {u[1] * inverse, u[2] * inverse, u[3] * inverse};
  const double along = v[kAxis];
  const double energy = u[4] * inverse;
  const double half_square = 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  const double kinetic = u[0] * half_square;

  flux[0] = scales.first * u[kAlong];
  for (size_t m = 1; m < 4; ++m) flux[m] = scales.first * (u[m] * along);
  flux[kAlong] += scales.first * (kC2 * (u[4] - kinetic));
  flux[4] = scales.first * ((kC1 * u[4] - kC2 * kinetic) * along);

  const double viscosity = scales.second * kC3C4;
  viscous[0] = 0;
  for (size_t m = 1; m < 4; ++m) viscous[m] = viscosity * v[m - 1];
  viscous[kAlong] *= kFourThirds;
  viscous[4] =
      viscosity * ((1.0 - kC1C5) * half_square + along * along * (1.0 / 6.0) + kC1C5 * energy);
}

}  // namespace stripline::suites::nas
