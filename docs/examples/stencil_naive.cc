// Relaxation of a periodic grid that is spread over the ranks in two dimensions. Before each step a
// rank copies the rows and columns next to its block from four neighbours: rows with a blocking
// get, columns point by point.
//
//   stencil_naive [POINTS [STEPS]]     POINTS x POINTS on each rank

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <stripline/context.h>

namespace {

using stripline::rank_t;

constexpr double kTwoPi = 6.283185307179586;

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
  const size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 256;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 50;  // NOLINT(cert-err34-c)
  const size_t width = n + 2;                            // a point of the neighbours at either end

  const Places places(ctx.rank_n());
  const rank_t row = ctx.rank_me() / places.columns;
  const rank_t column = ctx.rank_me() % places.columns;
  const rank_t north = places.at(row + places.rows - 1, column);
  const rank_t south = places.at(row + 1, column);
  const rank_t west = places.at(row, column + places.columns - 1);
  const rank_t east = places.at(row, column + 1);

  // Two grids, of the step before and of this one.
  const auto grids = ctx.new_symmetric_array<double>(2 * width * width);
  if (!grids.ok()) return stripline::report(grids.error());
  const double wave_y = kTwoPi / static_cast<double>(n * places.rows);
  const double wave_x = kTwoPi / static_cast<double>(n * places.columns);
  const auto wave = [&](size_t i, size_t j) {  // of which each step leaves the same part
    return std::cos(wave_y * static_cast<double>(row * n + i)) *
           std::cos(wave_x * static_cast<double>(column * n + j));
  };
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) ctx.local(*grids)[(i + 1) * width + j + 1] = wave(i, j);
  }
  ctx.barrier();

  const double begin_s = ctx.now_s();
  for (int step = 0; step < steps; ++step) {
    const auto before = *grids + static_cast<std::ptrdiff_t>(step % 2 * width * width);
    const auto at = [&](rank_t rank, size_t i, size_t j) {
      return ctx.on_rank(before, rank) + static_cast<std::ptrdiff_t>(i * width + j);
    };
    double* const in = ctx.local(before);
    double* const out = ctx.local(*grids) + (1 - step % 2) * width * width;

    ctx.rget(at(north, n, 1), in + 1, n).wait();
    ctx.rget(at(south, 1, 1), in + (n + 1) * width + 1, n).wait();
    for (size_t i = 1; i <= n; ++i) {
      in[i * width] = ctx.rget(at(west, i, n));
      in[i * width + n + 1] = ctx.rget(at(east, i, 1));
    }

    for (size_t i = 1; i <= n; ++i) {
      for (size_t j = 1; j <= n; ++j) {
        const double* const point = in + i * width + j;
        out[i * width + j] = 0.25 * ((point[-1] + point[1]) + (*(point - width) + point[width]));
      }
    }
    ctx.barrier();
  }
  const double took_s = (ctx.now_s() - begin_s) / steps;

  const double left = std::pow((std::cos(wave_y) + std::cos(wave_x)) / 2, steps);
  const double* const last = ctx.local(*grids) + steps % 2 * width * width;
  double error = 0;
  double squares = 0;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      const double value = last[(i + 1) * width + j + 1];
      error = std::max(error, std::abs(value - left * wave(i, j)));
      squares += value * value;
    }
  }
  squares = ctx.reduce_all(squares, stripline::Context::ReduceOp::sum);
  const bool right =
      ctx.reduce_all(error < 1e-9 ? 0.0 : 1.0, stripline::Context::ReduceOp::sum) == 0;
  if (ctx.rank_me() == 0) {
    std::printf("result %.17g, %s\n", squares, right ? "as expected" : "WRONG");
    std::printf("%.3f ms each\n", 1e3 * took_s);
  }
  return right ? 0 : 8;
}
