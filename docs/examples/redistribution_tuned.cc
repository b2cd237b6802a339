// Redistribution: every rank gathers the parts that are meant for it from all ranks, one behind the
// other, and scales what has come: a part is scaled in its place while
// others come.
//
//   redistribution_tuned [ELEMENTS [TIMES]]     ELEMENTS of each part

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <stripline/context.h>
#include <stripline/loop.h>

namespace {

using stripline::rank_t;

// What rank `from` has for rank `to`.
double value(size_t from, size_t to, size_t i) {
  return static_cast<double>((i * 31 + from * 7 + to * 3) % 1000);
}

// Some work for each element.
double scaled(double x) { return std::sqrt(x * x + 1) + std::sqrt(x + 2); }

}  // namespace

int main(int argc, char** argv) {
  auto joined = stripline::Context::init();
  if (!joined.ok()) return stripline::report(joined.error());
  stripline::Context& ctx = **joined;
  const size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : size_t{1} << 18;
  const int times = argc > 2 ? std::atoi(argv[2]) : 50;  // NOLINT(cert-err34-c)
  const rank_t ranks = ctx.rank_n();
  const rank_t me = ctx.rank_me();

  const auto parts = ctx.new_symmetric_array<double>(ranks * n);
  if (!parts.ok()) return stripline::report(parts.error());
  for (rank_t to = 0; to < ranks; ++to) {
    for (size_t i = 0; i < n; ++i) ctx.local(*parts)[to * n + i] = value(me, to, i);
  }
  std::vector<double> gathered(ranks * n);
  ctx.barrier();

  const double begin_s = ctx.now_s();
  for (int time = 0; time < times; ++time) {
    // From the next rank on, so that not all ask the first one first.
    std::vector<stripline::LoopBlock<const double>> blocks;
    for (rank_t k = 0; k < ranks; ++k) {
      const rank_t from = (me + k) % ranks;
      const auto part = ctx.on_rank(*parts, from) + static_cast<std::ptrdiff_t>(me * n);
      blocks.push_back({part, n, &gathered[from * n]});
    }
    const auto scale = [&](size_t block, size_t begin, size_t end, const double*) {
      double* const place = blocks[block].place;
      for (size_t i = begin; i < end; ++i) place[i] = scaled(place[i]);
    };
    const auto nothing_else = [] {};
    stripline::strip_for_blocks<double>(ctx, blocks, {.loop = {.n_fp_alu = 4}}, nothing_else,
                                        scale);
    ctx.barrier();
  }
  const double took_s = (ctx.now_s() - begin_s) / times;

  bool all_right = true;
  double sum = 0;
  for (rank_t from = 0; from < ranks; ++from) {
    for (size_t i = 0; i < n; ++i) {
      all_right = all_right && gathered[from * n + i] == scaled(value(from, me, i));
      sum += gathered[from * n + i];
    }
  }
  sum = ctx.reduce_all(sum, stripline::Context::ReduceOp::sum);
  const bool right = ctx.reduce_all(all_right ? 0.0 : 1.0, stripline::Context::ReduceOp::sum) == 0;
  if (me == 0) {
    std::printf("result %.17g, %s\n", sum, right ? "as expected" : "WRONG");
    std::printf("%.3f ms each\n", 1e3 * took_s);
  }
  return right ? 0 : 8;
}
