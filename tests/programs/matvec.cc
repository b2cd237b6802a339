// A matrix of the next rank times a vector of this one, in strips. One of the programs of
// scripts/check_programs.sh.
//
//   matvec [STEPS [ROWS [COLUMNS]]]

#include <vector>

#include <stripline/loop.h>

#include "tests/programs/stepped_program.h"

int main(int argc, char** argv) {
  auto joined = stripline::Context::init();
  if (!joined.ok()) return stripline::report(joined.error());
  stripline::Context& ctx = **joined;
  const size_t steps = stripline::programs::argument(argc, argv, 1, 30);
  const size_t rows = stripline::programs::argument(argc, argv, 2, 128);
  const size_t columns = stripline::programs::argument(argc, argv, 3, 512);

  const auto matrix = ctx.new_symmetric_array<double>(rows * columns);
  if (!matrix.ok()) return stripline::report(matrix.error());
  const stripline::rank_t next = (ctx.rank_me() + 1) % ctx.rank_n();
  const auto element = [&](stripline::rank_t rank, size_t at) {
    return static_cast<double>((at + rank) % 5);
  };
  for (size_t i = 0; i < rows * columns; ++i) ctx.local(*matrix)[i] = element(ctx.rank_me(), i);
  std::vector<double> x(columns);
  for (size_t j = 0; j < columns; ++j) x[j] = static_cast<double>(j % 3);
  std::vector<double> y(rows);
  ctx.barrier();

  const double begun_s = ctx.now_s();
  for (size_t step = 0; step < steps; ++step) {
    y.assign(rows, 0);
    stripline::strip_for(ctx, ctx.on_rank(*matrix, next), rows * columns, {},
                         [&](size_t begin, size_t end, const double* strip) {
                           for (size_t i = begin; i < end; ++i) {
                             y[i / columns] += strip[i - begin] * x[i % columns];
                           }
                           const auto elements = static_cast<double>(end - begin);
                           stripline::programs::computed(ctx, 2 * elements,
                                                         2 * sizeof(double) * elements);
                         });
    ctx.barrier();
  }
  const double took_s = ctx.now_s() - begun_s;

  bool right = true;
  for (size_t i = 0; i < rows; ++i) {
    double expected = 0;
    for (size_t j = 0; j < columns; ++j) expected += element(next, i * columns + j) * x[j];
    right = right && y[i] == expected;
  }
  return stripline::programs::report_steps(ctx, "matvec", steps, took_s, right);
}
