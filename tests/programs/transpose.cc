// The transpose of a matrix whose rows are spread over the ranks: a nest that reads columns of the
// blocks of all ranks and writes rows of this one. One of the programs of
// scripts/check_programs.sh.
//
//   transpose [STEPS [ROWS]]     of ROWS x ROWS

#include <vector>

#include <stripline/nest.h>

#include "tests/programs/stepped_program.h"

int main(int argc, char** argv) {
  auto joined = stripline::Context::init();
  if (!joined.ok()) return stripline::report(joined.error());
  stripline::Context& ctx = **joined;
  const stripline::rank_t me = ctx.rank_me();
  const size_t ranks = ctx.rank_n();
  const size_t steps = stripline::programs::argument(argc, argv, 1, 30);
  const size_t rows = stripline::programs::argument(argc, argv, 2, 512) / ranks;
  const size_t n = rows * ranks;

  const auto from = ctx.new_symmetric_array<double>(rows * n);
  if (!from.ok()) return stripline::report(from.error());
  const auto to = ctx.new_symmetric_array<double>(rows * n);
  if (!to.ok()) return stripline::report(to.error());
  for (size_t i = 0; i < rows * n; ++i) {
    ctx.local(*from)[i] = static_cast<double>(me * rows * n + i);
  }
  std::vector<stripline::global_ptr<const double>> blocks;
  for (size_t k = 0; k < ranks; ++k) {
    blocks.push_back(ctx.on_rank(*from, static_cast<stripline::rank_t>(k)) +
                     static_cast<std::ptrdiff_t>(me * rows));
  }
  const stripline::PieceArray<const double> block(blocks);
  ctx.barrier();

  const double begun_s = ctx.now_s();
  for (size_t step = 0; step < steps; ++step) {
    const auto [k, j, i] = stripline::loop_indices<3>();
    stripline::for_nest(
        ctx, {ranks, rows, rows}, [](const double& there, double& here) { here = there; },
        stripline::read(block[k], i * n + j),
        stripline::write(ctx.on_rank(*to, me), j * n + k * rows + i));
    ctx.barrier();
  }

  const double took_s = ctx.now_s() - begun_s;
  bool right = true;
  for (size_t j = 0; j < rows; ++j) {
    for (size_t i = 0; i < n; ++i) {
      right = right && ctx.local(*to)[j * n + i] == static_cast<double>(i * n + me * rows + j);
    }
  }
  return stripline::programs::report_steps(ctx, "transpose", steps, took_s, right);
}
