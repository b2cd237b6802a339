#include "suites/kernels/nas/adi_share.h"

#include <algorithm>

namespace stripline::suites::nas {
namespace {

size_t index(int axis) { return static_cast<size_t>(axis); }

/// The most points of a row, and one more at either end.
size_t row_points(const AdiLayout& layout) {
  return static_cast<size_t>(layout.partition().slice_points(0)) + 2;
}

}  // namespace

AdiShare::AdiShare(const AdiLayout& layout, double dt, std::span<double> shared)
    : layout_(layout),
      points_(layout.partition().points()),
      scales_(points_, dt),
      shared_(shared),
      forcing_(layout.points() * kComponents),
      rhs_(layout.points() * kComponents),
      rows_{Row(row_points(layout)), Row(row_points(layout)), Row(row_points(layout))} {
  for (int axis = 0; axis < 3; ++axis) {
    for (int at = 0; at < points_; ++at) {
      smoothing_[index(axis)].push_back(adi_smoothing(scales_, axis, at, points_));
    }
  }
  std::ranges::fill(shared_, 0.0);
  compute_forcing();
  initialise();
}

template <typename Body>
void AdiShare::for_each_point(const Box& box, Body&& body) {
  for (int k = box.begin[2]; k < box.end[2]; ++k) {
    for (int j = box.begin[1]; j < box.end[1]; ++j) {
      for (int i = box.begin[0]; i < box.end[0]; ++i) body(i, j, k);
    }
  }
}

AdiShare::Box AdiShare::interior(int c) const {
  const AdiCell& cell = layout_.partition().cell(c);
  Box box{};
  for (int axis = 0; axis < 3; ++axis) {
    box.begin[index(axis)] = layout_.partition().interior_begin(cell, axis);
    box.end[index(axis)] = layout_.partition().interior_end(cell, axis);
  }
  return box;
}

AdiVector AdiShare::exact(const AdiCell& cell, int i, int j, int k) const {
  return adi_exact_solution(coordinate(cell.low[0] + i), coordinate(cell.low[1] + j),
                            coordinate(cell.low[2] + k));
}

AdiVector AdiShare::start(const AdiCell& cell, int i, int j, int k) const {
  const std::array<double, 3> at = {coordinate(cell.low[0] + i), coordinate(cell.low[1] + j),
                                    coordinate(cell.low[2] + k)};
  // Along each axis linearly between the boundary's values; then their inclusion and exclusion, as
  // the specification has it. On the boundary itself one factor is exact and counts alone.
  std::array<AdiVector, 3> between{};
  for (size_t axis = 0; axis < 3; ++axis) {
    std::array<double, 3> low = at;
    std::array<double, 3> high = at;
    low[axis] = 0;
    high[axis] = 1;
    const AdiVector from = adi_exact_solution(low[0], low[1], low[2]);
    const AdiVector to = adi_exact_solution(high[0], high[1], high[2]);
    if (at[axis] == 0) return from;
    if (at[axis] == 1) return to;
    for (size_t m = 0; m < kComponents; ++m) {
      between[axis][m] = (1 - at[axis]) * from[m] + at[axis] * to[m];
    }
  }
  AdiVector result{};
  for (size_t m = 0; m < kComponents; ++m) {
    const double x = between[0][m];
    const double y = between[1][m];
    const double z = between[2][m];
    result[m] = x + y + z - x * y - x * z - y * z + x * y * z;
  }
  return result;
}

void AdiShare::initialise() {
  // Points that no one sets, the ghosts' corners and what lies outside of the grid, have to be
  // something that one can divide by.
  constexpr AdiVector kNeutral = {1, 0, 0, 0, 1};
  for (size_t point = 0; point < layout_.points(); ++point) {
    std::ranges::copy(kNeutral, shared_.data() + point * kComponents);
  }
  for (int c = 0; c < layout_.partition().cells_per_axis(); ++c) {
    const AdiCell& cell = layout_.partition().cell(c);
    for_each_point({{}, cell.size}, [&](int i, int j, int k) {
      std::ranges::copy(start(cell, i, j, k),
                        shared_.data() + layout_.point(c, i, j, k) * kComponents);
    });
  }
}

// The forcing is what makes the right-hand side of the exact solution vanish.
void AdiShare::compute_forcing() {
  for (int c = 0; c < layout_.partition().cells_per_axis(); ++c) {
    const AdiCell& cell = layout_.partition().cell(c);
    const Box with_ghosts{{-kGhosts, -kGhosts, -kGhosts},
                          {cell.size[0] + kGhosts, cell.size[1] + kGhosts, cell.size[2] + kGhosts}};
    for_each_point(with_ghosts, [&](int i, int j, int k) {
      std::ranges::copy(exact(cell, i, j, k),
                        shared_.data() + layout_.point(c, i, j, k) * kComponents);
    });
    rhs(c);
  }
  for (size_t n = 0; n < forcing_.size(); ++n) forcing_[n] = -rhs_[n];
  rhs_.clear();
}

void AdiShare::rhs(int cell) {
  const Box box = interior(cell);
  // Plane by plane, so that a plane is still in the cache for the second axis.
  for (int k = box.begin[2]; k < box.end[2]; ++k) {
    Box plane = box;
    plane.begin[2] = k;
    plane.end[2] = k + 1;
    start_rhs(cell, plane);
    add_fluxes(cell, 0, plane);
    add_fluxes(cell, 1, plane);
  }
  add_fluxes(cell, 2, box);
}

void AdiShare::add(int cell) {
  const Box box = interior(cell);
  const size_t doubles = static_cast<size_t>(box.end[0] - box.begin[0]) * kComponents;
  for (int k = box.begin[2]; k < box.end[2]; ++k) {
    for (int j = box.begin[1]; j < box.end[1]; ++j) {
      const size_t at = layout_.point(cell, box.begin[0], j, k) * kComponents;
      double* __restrict to = shared_.data() + at;
      const double* __restrict change = rhs_.data() + at;
      for (size_t n = 0; n < doubles; ++n) to[n] += change[n];
    }
  }
  did(points_of(box), kComponents, 3.0 * kComponents * sizeof(double));
}

AdiVector AdiShare::error_squares() const {
  AdiVector sums{};
  for (int c = 0; c < layout_.partition().cells_per_axis(); ++c) {
    const AdiCell& cell = layout_.partition().cell(c);
    for_each_point({{}, cell.size}, [&](int i, int j, int k) {
      const AdiVector right = exact(cell, i, j, k);
      const double* const is = u(layout_.point(c, i, j, k));
      for (size_t m = 0; m < kComponents; ++m) sums[m] += (is[m] - right[m]) * (is[m] - right[m]);
    });
  }
  return sums;
}

AdiVector AdiShare::rhs_squares() const {
  AdiVector sums{};
  for (int c = 0; c < layout_.partition().cells_per_axis(); ++c) {
    for_each_point(interior(c), [&](int i, int j, int k) {
      const double* const is = rhs_.data() + layout_.point(c, i, j, k) * kComponents;
      for (size_t m = 0; m < kComponents; ++m) sums[m] += is[m] * is[m];
    });
  }
  return sums;
}

void AdiShare::start_rhs(int cell, const Box& box) {
  const size_t doubles = static_cast<size_t>(box.end[0] - box.begin[0]) * kComponents;
  for (int k = box.begin[2]; k < box.end[2]; ++k) {
    for (int j = box.begin[1]; j < box.end[1]; ++j) {
      const size_t at = layout_.point(cell, box.begin[0], j, k) * kComponents;
      std::copy_n(forcing_.data() + at, doubles, rhs_.data() + at);
    }
  }
  did(points_of(box), 0, 2.0 * kComponents * sizeof(double));
}

void AdiShare::add_fluxes(int cell, int axis, const Box& box) {
  for (size_t d = 0; d < 3; ++d) {
    if (box.begin[d] >= box.end[d]) return;
  }
  // Fluxes of a point and the difference that they make, 14 operations for each component.
  did(points_of(box), 25 + 14.0 * kComponents, 2.0 * kComponents * sizeof(double));
  switch (axis) {
    case 0:
      return add_fluxes_x(cell, box);
    case 1:
      return add_fluxes_across<1>(cell, box);
    default:
      return add_fluxes_across<2>(cell, box);
  }
}

template <int kAxis>
void AdiShare::row_fluxes(size_t point, size_t points, Row& row) const {
  const double* from = u(point);
  double* flux = row.flux.data();
  double* viscous = row.viscous.data();
  for (size_t n = 0; n < points; ++n) {
    adi_fluxes<kAxis>(scales_, from, flux, viscous);
    from += kComponents;
    flux += kComponents;
    viscous += kComponents;
  }
}

/// Adds to `points` points of a row what a difference along an axis gives; the fluxes are those of
/// the point before, the point itself and the one after.
void AdiShare::add_row(size_t point, size_t points, ptrdiff_t stride, const AdiStencil& stencil,
                       const double* const* flux, const double* const* viscous) {
  const double* const at = u(point);
  const ptrdiff_t step = stride * static_cast<ptrdiff_t>(kComponents);
  const double* const before2 = at - 2 * step;
  const double* const before = at - step;
  const double* const after = at + step;
  const double* const after2 = at + 2 * step;
  const double* const flux_before = flux[0];
  const double* const flux_after = flux[2];
  const double* const viscous_before = viscous[0];
  const double* const viscous_here = viscous[1];
  const double* const viscous_after = viscous[2];
  double* __restrict result = rhs_at(point);
  for (size_t n = 0; n < points * kComponents; ++n) {
    result[n] += (flux_before[n] - flux_after[n]) +
                 (viscous_before[n] - 2 * viscous_here[n] + viscous_after[n]) +
                 (stencil[0] * before2[n] + stencil[1] * before[n] + stencil[2] * at[n] +
                  stencil[3] * after[n] + stencil[4] * after2[n]);
  }
}

void AdiShare::add_fluxes_x(int cell, const Box& box) {
  const int low = layout_.partition().cell(cell).low[0];
  const int begin = box.begin[0];
  const int end = box.end[0];
  Row& row = rows_[0];
  for (int k = box.begin[2]; k < box.end[2]; ++k) {
    for (int j = box.begin[1]; j < box.end[1]; ++j) {
      row_fluxes<0>(layout_.point(cell, begin - 1, j, k), static_cast<size_t>(end - begin) + 2,
                    row);
      // The two points next to either boundary have stencils of their own.
      for (int i = begin; i < end;) {
        const int at = low + i;
        const bool alone = at <= 2 || at >= points_ - 3;
        const int next = alone ? i + 1 : std::min(end, points_ - 3 - low);
        const size_t here = static_cast<size_t>(i - begin + 1) * kComponents;
        const std::array<const double*, 3> flux = {row.flux.data() + here - kComponents,
                                                   row.flux.data() + here,
                                                   row.flux.data() + here + kComponents};
        const std::array<const double*, 3> viscous = {row.viscous.data() + here - kComponents,
                                                      row.viscous.data() + here,
                                                      row.viscous.data() + here + kComponents};
        add_row(layout_.point(cell, i, j, k), static_cast<size_t>(next - i), 1,
                smoothing_[0][index(at)], flux.data(), viscous.data());
        i = next;
      }
    }
  }
}

template <int kAxis>
void AdiShare::add_fluxes_across(int cell, const Box& box) {
  constexpr size_t kOther = kAxis == 1 ? 2 : 1;
  const int low = layout_.partition().cell(cell).low[kAxis];
  const auto points = static_cast<size_t>(box.end[0] - box.begin[0]);
  const ptrdiff_t stride = layout_.stride(kAxis);
  for (int other = box.begin[kOther]; other < box.end[kOther]; ++other) {
    const auto point = [&](int along) {
      return kAxis == 1 ? layout_.point(cell, box.begin[0], along, other)
                        : layout_.point(cell, box.begin[0], other, along);
    };
    int begin = box.begin[kAxis];
    row_fluxes<kAxis>(point(begin - 1), points, rows_[0]);
    row_fluxes<kAxis>(point(begin), points, rows_[1]);
    for (size_t turn = 0; begin < box.end[kAxis]; ++begin, ++turn) {
      const Row& before = rows_[turn % 3];
      const Row& here = rows_[(turn + 1) % 3];
      Row& after = rows_[(turn + 2) % 3];
      row_fluxes<kAxis>(point(begin + 1), points, after);
      const std::array<const double*, 3> flux = {before.flux.data(), here.flux.data(),
                                                 after.flux.data()};
      const std::array<const double*, 3> viscous = {before.viscous.data(), here.viscous.data(),
                                                    after.viscous.data()};
      add_row(point(begin), points, stride, smoothing_[kAxis][index(low + begin)], flux.data(),
              viscous.data());
    }
  }
}

}  // namespace stripline::suites::nas
