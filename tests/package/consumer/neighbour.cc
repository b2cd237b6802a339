// Each rank stores its number plus one and reads that of its neighbour.
#include <cstdio>

#include <stripline/context.h>

int main() {
  auto context = stripline::Context::init();
  if (!context.ok()) return stripline::report(context.error());
  stripline::Context& ctx = **context;
  auto mine = ctx.new_symmetric_array<double>(1);
  if (!mine.ok()) return stripline::report(mine.error());
  *ctx.local(*mine) = ctx.rank_me() + 1;
  ctx.barrier();
  const stripline::rank_t neighbour = (ctx.rank_me() + 1) % ctx.rank_n();
  const double value = ctx.rget(ctx.on_rank(*mine, neighbour));
  std::printf("rank %u read %g from rank %u\n", ctx.rank_me(), value, neighbour);
  ctx.barrier();
  return 0;
}
