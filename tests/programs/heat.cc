// Heat spreads over a periodic grid whose rows and columns are spread over the ranks: before each
// step a rank copies the points next to its block, rows by one nest and columns by another. One of
// the programs of scripts/check_programs.sh.
//
//   heat [STEPS [POINTS]]     POINTS x POINTS on each rank

#include <array>
#include <cmath>

#include <stripline/nest.h>

#include "tests/programs/stepped_program.h"

namespace {

using stripline::rank_t;

// The ranks as a grid, as square as it gets.
struct Places {
  rank_t rows = 1;
  rank_t columns = 1;
  explicit Places(rank_t ranks) {
    for (rank_t r = 1; r * r <= ranks; ++r) {
      if (ranks % r == 0) rows = r;
    }
    columns = ranks / rows;
  }
  rank_t at(rank_t row, rank_t column) const { return row % rows * columns + column % columns; }
};

}  // namespace

int main(int argc, char** argv) {
  auto joined = stripline::Context::init();
  if (!joined.ok()) return stripline::report(joined.error());
  stripline::Context& ctx = **joined;
  const size_t steps = stripline::programs::argument(argc, argv, 1, 30);
  const size_t n = stripline::programs::argument(argc, argv, 2, 256);
  const size_t width = n + 2;  // a point of the neighbours at either end

  const Places places(ctx.rank_n());
  const rank_t me = ctx.rank_me();
  const rank_t row = me / places.columns;
  const rank_t column = me % places.columns;
  const rank_t north = places.at(row + places.rows - 1, column);
  const rank_t south = places.at(row + 1, column);
  const rank_t west = places.at(row, column + places.columns - 1);
  const rank_t east = places.at(row, column + 1);

  // Two grids, of the step before and of this one.
  const auto grids = ctx.new_symmetric_array<double>(2 * width * width);
  if (!grids.ok()) return stripline::report(grids.error());
  double own = 0;
  for (size_t i = 1; i <= n; ++i) {
    for (size_t j = 1; j <= n; ++j) {
      own += ctx.local(*grids)[i * width + j] = static_cast<double>((me + i * j) % 7);
    }
  }
  const double heat = ctx.reduce_all(own, stripline::Context::ReduceOp::sum);
  ctx.barrier();

  const double begun_s = ctx.now_s();
  for (size_t step = 0; step < steps; ++step) {
    const auto before = *grids + static_cast<std::ptrdiff_t>(step % 2 * width * width);
    const auto at = [&](rank_t rank, size_t i, size_t j) {
      return ctx.on_rank(before, rank) + static_cast<std::ptrdiff_t>(i * width + j);
    };
    const auto copy = [](const double& there, double& here) { here = there; };
    const auto [side, k] = stripline::loop_indices<2>();
    const std::array rows{at(north, n, 1), at(south, 1, 1)};
    const std::array to_rows{at(me, 0, 1), at(me, n + 1, 1)};
    const std::array columns{at(west, 1, n), at(east, 1, 1)};
    const std::array to_columns{at(me, 1, 0), at(me, 1, n + 1)};
    using Pieces = stripline::PieceArray<double>;
    const Pieces from_row{rows};
    const Pieces to_row{to_rows};
    const Pieces from_column{columns};
    const Pieces to_column{to_columns};
    stripline::for_nest(ctx, {size_t{2}, n}, copy, stripline::read(from_row[side], k),
                        stripline::write(to_row[side], k));
    stripline::for_nest(ctx, {size_t{2}, n}, copy, stripline::read(from_column[side], k * width),
                        stripline::write(to_column[side], k * width));

    const double* const in = ctx.local(before);
    double* const out = ctx.local(*grids) + (1 - step % 2) * width * width;
    for (size_t i = 1; i <= n; ++i) {
      for (size_t j = 1; j <= n; ++j) {
        const double* const point = in + i * width + j;
        out[i * width + j] = 0.25 * ((point[-1] + point[1]) + (*(point - width) + point[width]));
      }
    }
    stripline::programs::computed(ctx, 4.0 * static_cast<double>(n * n),
                                  2.0 * sizeof(double) * static_cast<double>(n * n));
    ctx.barrier();
  }

  const double took_s = ctx.now_s() - begun_s;
  // No heat is lost.
  const double* const last = ctx.local(*grids) + steps % 2 * width * width;
  own = 0;
  for (size_t i = 1; i <= n; ++i) {
    for (size_t j = 1; j <= n; ++j) own += last[i * width + j];
  }
  const double left = ctx.reduce_all(own, stripline::Context::ReduceOp::sum);
  const bool right = std::abs(left - heat) < 1e-9 * heat;
  return stripline::programs::report_steps(ctx, "heat", steps, took_s, right);
}
