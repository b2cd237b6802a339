#include "suites/kernels/nas/adi_equations.h"

namespace stripline::suites::nas {
namespace {

/// A component of the exact solution: a constant, and the coefficients of the first to the fourth
/// power of each coordinate.
struct Polynomial {
  double constant;
  std::array<std::array<double, 3>, 4> powers;
};

constexpr std::array<Polynomial, kComponents> kExact = {{
    {2, {{{0, 0, 4}, {5, 3, 0.5}, {0.02, 0.01, 0.03}, {0.5, 0.4, 0.3}}}},
    {1, {{{0, 0, 0}, {1, 2, 3}, {0.01, 0.03, 0.02}, {0.4, 0.3, 0.5}}}},
    {2, {{{2, 0, 0}, {0, 2, 3}, {0.04, 0.03, 0.05}, {0.3, 0.5, 0.4}}}},
    {2, {{{2, 0, 0}, {0, 2, 3}, {0.03, 0.05, 0.04}, {0.2, 0.1, 0.3}}}},
    {5, {{{4, 3, 2}, {0.1, 0.4, 0.3}, {0.05, 0.04, 0.03}, {0.1, 0.3, 0.2}}}},
}};

}  // namespace

AdiVector adi_exact_solution(double xi, double eta, double zeta) {
  const std::array<double, 3> at = {xi, eta, zeta};
  AdiVector result{};
  for (size_t m = 0; m < kComponents; ++m) {
    const auto& powers = kExact[m].powers;
    result[m] = kExact[m].constant;
    for (size_t d = 0; d < 3; ++d) {
      const double x = at[d];
      result[m] += x * (powers[0][d] + x * (powers[1][d] + x * (powers[2][d] + x * powers[3][d])));
    }
  }
  return result;
}

AdiStencil adi_smoothing(const AdiScales& scales, int axis, int at, int points) {
  AdiStencil fourth = {1, -4, 6, -4, 1};
  if (at == 1 || at == points - 2) fourth[2] = 5;
  if (at <= 2) fourth[0] = 0;
  if (at == 1) fourth[1] = 0;
  if (at >= points - 3) fourth[4] = 0;
  if (at == points - 2) fourth[3] = 0;
  const double second = scales.second * kDiffusion[static_cast<size_t>(axis)];
  AdiStencil result{};
  for (size_t n = 0; n < 5; ++n) result[n] = -scales.fourth * fourth[n];
  result[1] += second;
  result[2] -= 2 * second;
  result[3] += second;
  return result;
}

}  // namespace stripline::suites::nas
