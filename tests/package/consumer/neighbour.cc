// Each rank sums what its neighbour stored, through the loop engine and as a nest.
#include <cstddef>
#include <cstdio>

#include <stripline/context.h>
#include <stripline/loop.h>
#include <stripline/nest.h>

int main() {
  auto context = stripline::Context::init();
  if (!context.ok()) return stripline::report(context.error());
  stripline::Context& ctx = **context;
  constexpr size_t kCount = 1000;
  auto mine = ctx.new_symmetric_array<double>(kCount);
  if (!mine.ok()) return stripline::report(mine.error());
  for (size_t i = 0; i < kCount; ++i) ctx.local(*mine)[i] = ctx.rank_me() + 1;
  ctx.barrier();
  const stripline::rank_t neighbour = (ctx.rank_me() + 1) % ctx.rank_n();
  double sum = 0;
  stripline::strip_for(ctx, ctx.on_rank(*mine, neighbour), kCount, {.loop = {.n_fp_alu = 1}},
                       [&](size_t begin, size_t end, const double* strip) {
                         for (size_t i = 0; i < end - begin; ++i) sum += strip[i];
                       });
  double sum_by_nest = 0;
  const auto [i, j] = stripline::loop_indices<2>();
  stripline::for_nest(
      ctx, {10, kCount / 10}, [&](const double& element) { sum_by_nest += element; },
      stripline::read(ctx.on_rank(*mine, neighbour), i * (kCount / 10) + j));
  if (sum_by_nest != sum) return 1;
  std::printf("rank %u sums %g from rank %u\n", ctx.rank_me(), sum, neighbour);
  ctx.barrier();
  return 0;
}
