// One rank's share of BT or SP, and what both do with it: start, forcing, right-hand side, norms.
// Which sweeps solve for the change of a time step is theirs (sp_sweeps.h, bt_sweeps.h), and what
// moves data between ranks is the exchange's (adi_solver.h).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "suites/kernels/aligned_buffer.h"
#include "suites/kernels/counted_work.h"
#include "suites/kernels/nas/adi_equations.h"
#include "suites/kernels/nas/adi_layout.h"

namespace stripline::suites::nas {

/// The solution u lies in shared memory, as AdiLayout says, for peers to read its cells or to write
/// its ghost layers; everything else is owned.
///
/// rhs() and the calls of the sweeps are the loop bodies; they are not inlined, so that all
/// exchanges run the same machine code. Not thread-safe: a rank is one thread.
class AdiShare : public CountedWork {
 public:
  /// Memory of layout.shared_doubles() that outlives the problem; it is initialised.
  AdiShare(const AdiLayout& layout, double dt, std::span<double> shared);

  const AdiLayout& layout() const { return layout_; }
  const AdiScales& scales() const { return scales_; }
  double* shared() { return shared_.data(); }

  /// Sets u to its start: the exact solution on the boundary, interpolated between. Peers must not
  /// be using it.
  void initialise();

  /// The right-hand side of a cell whose ghost layers are all here.
  [[gnu::noinline]] void rhs(int cell);

  /// Ends a time step: adds what the sweeps have made of the right-hand side. Peers must have
  /// fetched what they need of the old u; they have when their sweeps have reached ours.
  [[gnu::noinline]] void add(int cell);

  /// Sums over this rank's cells of the squares of u minus the exact solution, and of the
  /// right-hand side that was last computed.
  AdiVector error_squares() const;
  AdiVector rhs_squares() const;

  /// Points of lines [begin, end) of a cell.
  size_t points_of_lines(int axis, int cell, size_t begin, size_t end) const {
    return (end - begin) * static_cast<size_t>(layout_.lines(cell, axis).points);
  }

  /// The five components of a point.
  const double* u(size_t point) const { return shared_.data() + point * kComponents; }
  double* rhs_at(size_t point) { return rhs_.data() + point * kComponents; }

 private:
  struct Box {
    std::array<int, 3> begin;
    std::array<int, 3> end;
  };

  static size_t points_of(const Box& box) {
    size_t points = 1;
    for (size_t d = 0; d < 3; ++d) points *= static_cast<size_t>(box.end[d] - box.begin[d]);
    return points;
  }

  void compute_forcing();
  Box interior(int cell) const;
  double coordinate(int at) const { return static_cast<double>(at) / (points_ - 1); }
  AdiVector exact(const AdiCell& cell, int i, int j, int k) const;
  AdiVector start(const AdiCell& cell, int i, int j, int k) const;
  template <typename Body>
  static void for_each_point(const Box& box, Body&& body);

  void start_rhs(int cell, const Box& box);
  void add_fluxes(int cell, int axis, const Box& box);
  void add_fluxes_x(int cell, const Box& box);
  template <int kAxis>
  void add_fluxes_across(int cell, const Box& box);
  void add_row(size_t point, size_t points, ptrdiff_t stride, const AdiStencil& stencil,
               const double* const* flux, const double* const* viscous);

  /// The fluxes of a row of points along x.
  struct Row {
    explicit Row(size_t points) : flux(points * kComponents), viscous(points * kComponents) {}
    AlignedBuffer<double> flux;
    AlignedBuffer<double> viscous;
  };
  template <int kAxis>
  void row_fluxes(size_t point, size_t points, Row& row) const;

  AdiLayout layout_;
  int points_;
  AdiScales scales_;
  std::span<double> shared_;
  AlignedBuffer<double> forcing_;
  AlignedBuffer<double> rhs_;
  std::array<Row, 3> rows_;
  std::array<std::vector<AdiStencil>, 3> smoothing_;  // [axis][grid point]
};

}  // namespace stripline::suites::nas
