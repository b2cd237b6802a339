// Sweeps along all ranks, the first of which begins, and each of which needs what the one before
// has computed; the last one checks what has come there. For tests of what a traced run shows.
//
//   sweep ROUNDS MICROSECONDS   of computation in a stage

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <stripline/context.h>
#include <stripline/wavefront.h>

namespace {

using stripline::Context;
using stripline::rank_t;
using stripline::Wavefront;

constexpr size_t kLines = 64;
constexpr size_t kWidth = 40;  // doubles that a line leaves

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  auto joined = Context::init();
  if (!joined.ok()) return stripline::report(joined.error());
  Context& context = **joined;
  const rank_t me = context.rank_me();
  const rank_t ranks = context.rank_n();
  const auto made = context.new_symmetric_array<double>(kLines * kWidth);
  if (!made.ok()) return stripline::report(made.error());
  const double* const came = context.local(*made);
  std::vector<double> left(kLines * kWidth);
  auto sweep = Wavefront::create(context, 1, {.stages = ranks, .all_busy = false});
  if (!sweep.ok()) return stripline::report(sweep.error());

  Wavefront::Stage<double> stage;
  stage.lines = kLines;
  if (me > 0) stage.comes = 0;
  if (me + 1 < ranks) {
    stage.leaves = 0;
    stage.width = kWidth;
    stage.results = left.data();
    stage.place = context.on_rank(*made, me + 1);
  }
  const double compute_s = std::strtod(argv[2], nullptr) * 1e-6;
  const uint64_t rounds = std::strtoull(argv[1], nullptr, 10);
  bool right = true;
  for (uint64_t round = 0; round < rounds; ++round) {
    sweep->run(stage, [&](size_t begin, size_t end) {
      context.compute_for(compute_s * static_cast<double>(end - begin) / kLines);
      for (size_t at = begin * kWidth; at < end * kWidth; ++at) {
        left[at] = 1 + (me > 0 ? came[at] : static_cast<double>(round));
      }
    });
    for (const double value : left) right &= value == static_cast<double>(round + me + 1);
    sweep->finish();
    context.barrier();
  }
  if (!right) std::fprintf(stderr, "rank %u: wrong values\n", me);
  return right ? 0 : 1;
}
