// The rank of each node of a random graph, by in-edges: a step reads the value at the other end of
// each of them through an index. One of the
// programs of scripts/check_programs.sh.
//
//   pagerank [STEPS [NODES [DEGREE]]]     NODES of each rank

#include <algorithm>
#include <cmath>
#include <vector>

#include <stripline/indirect.h>
#include <stripline/shared_array.h>

#include "tests/programs/stepped_program.h"

namespace {

// Ends of edges in no order, the same whenever the program runs.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(88172645463325252U + seed * 104729) {}
  uint64_t next() {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return state_;
  }

 private:
  uint64_t state_;
};

}  // namespace

int main(int argc, char** argv) {
  auto joined = stripline::Context::init();
  if (!joined.ok()) return stripline::report(joined.error());
  stripline::Context& ctx = **joined;
  const size_t steps = stripline::programs::argument(argc, argv, 1, 30);
  const size_t local = stripline::programs::argument(argc, argv, 2, 2000);
  const size_t degree = stripline::programs::argument(argc, argv, 3, 8);
  const size_t nodes = local * ctx.rank_n();

  using Array = stripline::shared_array<double, stripline::block_cyclic<>>;
  auto made = Array::create(ctx, nodes, stripline::blocked(nodes, ctx.rank_n()));
  if (!made.ok()) return stripline::report(made.error());
  Array& x = *made;
  std::vector<uint64_t> from(local * degree);
  Random random(ctx.rank_me());
  for (uint64_t& node : from) node = random.next() % nodes;
  std::vector<double> sum(local);
  for (double& value : x.local_span()) value = 1.0 / static_cast<double>(nodes);
  ctx.barrier();

  const double begun_s = ctx.now_s();
  for (size_t step = 0; step < steps; ++step) {
    std::fill(sum.begin(), sum.end(), 0.0);
    stripline::for_each_indirect(
        ctx, stripline::range(0, static_cast<int64_t>(from.size())),
        [&](int64_t edge, double value) {
          sum[static_cast<size_t>(edge) / degree] += value / static_cast<double>(degree);
          stripline::programs::computed(ctx, 2, 3 * sizeof(double));
        },
        stripline::read(x, from));
    ctx.barrier();
    const auto mine = x.local_span();
    for (size_t i = 0; i < local; ++i) {
      mine[i] = 0.15 / static_cast<double>(nodes) + 0.85 * sum[i];
    }
    ctx.barrier();
  }

  const double took_s = ctx.now_s() - begun_s;
  // Each node hands on what it has, but that edges are drawn by their target.
  double mine = 0;
  bool right = true;
  for (const double value : x.local_span()) {
    mine += value;
    right = right && value > 0 && value < 1;
  }
  const double all = ctx.reduce_all(mine, stripline::Context::ReduceOp::sum);
  right = right && all > 0.5 && all < 2;
  return stripline::programs::report_steps(ctx, "pagerank", steps, took_s, right);
}
