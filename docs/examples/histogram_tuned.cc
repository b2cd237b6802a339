// Every rank counts its keys in bins that are spread over all ranks, by updates that travel
// together to the owners of the bins.
//
//   histogram_tuned [KEYS [TIMES]]     KEYS of each rank

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <stripline/context.h>
#include <stripline/shared_array.h>
#include <stripline/update.h>

namespace {

constexpr uint64_t kBinsOfEach = 1000;

// Keys in no order, the same whenever the program runs.
uint64_t key(uint64_t rank, uint64_t i, uint64_t bins) {
  const uint64_t mixed = (rank << 32U | i) * 0x9E3779B97F4A7C15;
  return (mixed ^ mixed >> 29U) % bins;
}

}  // namespace

int main(int argc, char** argv) {
  auto joined = stripline::Context::init();
  if (!joined.ok()) return stripline::report(joined.error());
  stripline::Context& ctx = **joined;
  const size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : size_t{1} << 16;
  const uint64_t times = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10;

  auto made = stripline::shared_array<uint64_t>::create(ctx, kBinsOfEach * ctx.rank_n());
  if (!made.ok()) return stripline::report(made.error());
  auto& bins = *made;
  for (uint64_t& bin : bins.local_span()) bin = 0;
  std::vector<uint64_t> keys(n);
  for (size_t i = 0; i < n; ++i) keys[i] = key(ctx.rank_me(), i, bins.size());
  ctx.barrier();

  stripline::UpdateEpoch<uint64_t, stripline::op_add> epoch(ctx);
  const auto counts = epoch.into(bins);
  const double begin_s = ctx.now_s();
  for (uint64_t time = 0; time < times; ++time) {
    for (const uint64_t k : keys) counts.update(k, 1);
    epoch.end();
  }
  const double took_s = (ctx.now_s() - begin_s) / static_cast<double>(times);

  std::vector<uint64_t> expected(bins.size());
  for (stripline::rank_t rank = 0; rank < ctx.rank_n(); ++rank) {
    for (size_t i = 0; i < n; ++i) expected[key(rank, i, bins.size())] += times;
  }
  uint64_t wrong = 0;
  for (size_t i = 0; i < bins.local_span().size(); ++i) {
    wrong += bins.local_span()[i] == expected[bins.index_of(i)] ? 0 : 1;
  }
  const bool right =
      ctx.reduce_all(static_cast<double>(wrong), stripline::Context::ReduceOp::sum) == 0;
  if (ctx.rank_me() == 0) {
    std::printf("result %llu in the first bin, %s\n",
                static_cast<unsigned long long>(bins.local_span()[0]),
                right ? "as expected" : "WRONG");
    std::printf("%.3f ms each\n", 1e3 * took_s);
  }
  return right ? 0 : 8;
}
