// Every rank adds up its neighbour's block: the loop, in strips that come while others are
// added.
//
//   reduction_tuned [ELEMENTS [TIMES]]

#include <cstdio>
#include <cstdlib>

#include <stripline/context.h>
#include <stripline/loop.h>

int main(int argc, char** argv) {
  auto joined = stripline::Context::init();
  if (!joined.ok()) return stripline::report(joined.error());
  stripline::Context& ctx = **joined;
  const size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : size_t{1} << 19;
  const int times = argc > 2 ? std::atoi(argv[2]) : 50;  // NOLINT(cert-err34-c)

  const auto mine = ctx.new_symmetric_array<double>(n);
  if (!mine.ok()) return stripline::report(mine.error());
  for (size_t i = 0; i < n; ++i) ctx.local(*mine)[i] = static_cast<double>(i % 7 + ctx.rank_me());
  ctx.barrier();
  const stripline::rank_t neighbour = (ctx.rank_me() + 1) % ctx.rank_n();
  const auto remote = ctx.on_rank(*mine, neighbour);

  double sum = 0;
  const double begin_s = ctx.now_s();
  for (int time = 0; time < times; ++time) {
    sum = 0;
    stripline::strip_for(ctx, remote, n, {.loop = {.n_fp_alu = 2}},
                         [&](size_t begin, size_t end, const double* strip) {
                           for (size_t i = 0; i < end - begin; ++i) sum += strip[i] * strip[i];
                         });
  }
  const double took_s = (ctx.now_s() - begin_s) / times;
  ctx.barrier();

  double expected = 0;
  for (size_t i = 0; i < n; ++i) {
    const auto value = static_cast<double>(i % 7 + neighbour);
    expected += value * value;
  }
  const bool right =
      ctx.reduce_all(sum == expected ? 0.0 : 1.0, stripline::Context::ReduceOp::sum) == 0;
  if (ctx.rank_me() == 0) {
    std::printf("result %.17g, %s\n", sum, right ? "as expected" : "WRONG");
    std::printf("%.3f ms each\n", 1e3 * took_s);
  }
  return right ? 0 : 8;
}
