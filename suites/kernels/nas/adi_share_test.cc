// What BT and SP have in common, on single shares.
#include "suites/kernels/nas/adi_share.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace stripline::suites::nas {
namespace {

constexpr AdiWidths kWidths = {.forward = 1, .backward = 1};
constexpr double kDt = 0.01;

/// A share with its memory.
struct Share {
  Share(int points, uint32_t ranks, uint32_t rank)
      : layout(*AdiPartition::create(points, ranks, rank), kWidths),
        memory(layout.shared_doubles()),
        share(layout, kDt, memory) {}

  /// Sets u everywhere, ghosts included, to a function of the place in the grid.
  template <typename Function>
  void set(Function&& function) {
    const double h = 1.0 / (layout.partition().points() - 1);
    for (int c = 0; c < layout.partition().cells_per_axis(); ++c) {
      const AdiCell& cell = layout.partition().cell(c);
      for (int k = -2; k < cell.size[2] + 2; ++k) {
        for (int j = -2; j < cell.size[1] + 2; ++j) {
          for (int i = -2; i < cell.size[0] + 2; ++i) {
            const AdiVector value =
                function((cell.low[0] + i) * h, (cell.low[1] + j) * h, (cell.low[2] + k) * h);
            std::ranges::copy(value, memory.begin() + static_cast<ptrdiff_t>(
                                                          layout.point(c, i, j, k) * kComponents));
          }
        }
      }
    }
  }
  std::vector<double> rhs() {
    return {share.rhs_at(0), share.rhs_at(0) + layout.points() * kComponents};
  }

  AdiLayout layout;
  std::vector<double> memory;
  AdiShare share;
};

AdiVector wavy(double x, double y, double z) {
  return {2 + std::sin(3 * x + y), std::cos(x - 2 * z), std::sin(4 * y * z), x + y * z,
          9 + std::sin(x * y + z)};
}

TEST(AdiShare, TheExactSolutionIsStationaryAndAnotherIsNot) {
  for (uint32_t rank = 0; rank < 4; ++rank) {
    Share it(12, 4, rank);
    it.set(adi_exact_solution);
    for (int c = 0; c < 2; ++c) it.share.rhs(c);
    for (const double square : it.share.rhs_squares()) EXPECT_LT(square, 1e-24);
    for (const double square : it.share.error_squares()) EXPECT_LT(square, 1e-24);
    it.set(wavy);
    for (int c = 0; c < 2; ++c) it.share.rhs(c);
    for (const double square : it.share.rhs_squares()) EXPECT_GT(square, 1e-6);
  }
}

// For a flow along z whose components depend on z alone, from the specification's equations by
// hand.
TEST(AdiShare, FluxesAreThoseOfTheEquations) {
  const AdiScales scales(11, 0.5);  // h = 0.1
  AdiVector u = {2, 0, 0, 3, 7};
  AdiVector flux{};
  AdiVector viscous{};
  adi_fluxes<2>(scales, u.data(), flux.data(), viscous.data());
  const double pressure = 0.4 * (7 - 0.5 * 3 * 3 / 2.0);
  const AdiVector expected_flux = {3, 0, 0, 3 * 1.5 + pressure, (7 + pressure) * 1.5};
  for (size_t m = 0; m < kComponents; ++m) EXPECT_NEAR(flux[m], 2.5 * expected_flux[m], 1e-12);
  const double energy = (1 - 1.96) * 0.5 * 2.25 + 2.25 / 6 + 1.96 * 3.5;
  const AdiVector expected_viscous = {0, 0, 0, 4.0 / 3 * 1.5, energy};
  for (size_t m = 0; m < kComponents; ++m) {
    EXPECT_NEAR(viscous[m], 50 * 0.1 * expected_viscous[m], 1e-12);
  }
}

// What the fourth difference becomes next to the boundary.
TEST(AdiShare, SmoothingKeepsWithinTheBoundary) {
  const AdiScales scales(11, 0.5);
  const auto fourth = [&](int at) {
    AdiStencil result = adi_smoothing(scales, 0, at, 11);
    const AdiStencil second = {0, 1, -2, 1, 0};
    for (size_t n = 0; n < 5; ++n) {
      result[n] = (result[n] - 50 * 0.75 * second[n]) / (0.5 * -0.25);
      result[n] = std::round(result[n] * 1e9) / 1e9 + 0;
    }
    return result;
  };
  EXPECT_EQ(fourth(1), (AdiStencil{0, 0, 5, -4, 1}));
  EXPECT_EQ(fourth(2), (AdiStencil{0, -4, 6, -4, 1}));
  EXPECT_EQ(fourth(3), (AdiStencil{1, -4, 6, -4, 1}));
  EXPECT_EQ(fourth(8), (AdiStencil{1, -4, 6, -4, 0}));
  EXPECT_EQ(fourth(9), (AdiStencil{1, -4, 5, 0, 0}));
}

TEST(AdiShare, StartsFromTheExactBoundary) {
  Share it(12, 1, 0);
  for (int i = 0; i < 12; ++i) {
    for (int j = 0; j < 12; ++j) {
      const auto expect_exact = [&](int x, int y, int z) {
        const AdiVector exact = adi_exact_solution(x / 11.0, y / 11.0, z / 11.0);
        const double* const u = it.share.u(it.layout.point(0, x, y, z));
        for (size_t m = 0; m < kComponents; ++m) EXPECT_NEAR(u[m], exact[m], 1e-13);
      };
      for (const int end : {0, 11}) {
        expect_exact(end, i, j);
        expect_exact(i, end, j);
        expect_exact(i, j, end);
      }
    }
  }
  EXPECT_GT(it.share.error_squares()[0], 1);
}

TEST(AdiShare, AddingChangesInnerPointsOnly) {
  Share it(12, 1, 0);
  const std::vector<double> before = it.memory;
  it.share.rhs(0);
  it.share.add(0);
  const std::vector<double> rhs = it.rhs();
  for (size_t n = 0; n < rhs.size(); ++n) EXPECT_EQ(it.memory[n], before[n] + rhs[n]);
  EXPECT_EQ(std::ranges::count_if(rhs, [](double value) { return value != 0; }), 10 * 10 * 10 * 5);
}

}  // namespace
}  // namespace stripline::suites::nas
