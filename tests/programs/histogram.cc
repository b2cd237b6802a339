// Every rank counts its keys in bins that are spread over all ranks, in an epoch of updates. One of
// the programs of scripts/check_programs.sh.
//
//   histogram [STEPS [KEYS]]     KEYS of each rank in a step

#include <vector>

#include <stripline/shared_array.h>
#include <stripline/update.h>

#include "tests/programs/stepped_program.h"

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
  const size_t steps = stripline::programs::argument(argc, argv, 1, 30);
  const size_t n = stripline::programs::argument(argc, argv, 2, 4096);

  auto made = stripline::shared_array<uint64_t>::create(ctx, kBinsOfEach * ctx.rank_n());
  if (!made.ok()) return stripline::report(made.error());
  auto& bins = *made;
  for (uint64_t& bin : bins.local_span()) bin = 0;
  std::vector<uint64_t> keys(n);
  for (size_t i = 0; i < n; ++i) keys[i] = key(ctx.rank_me(), i, bins.size());
  ctx.barrier();

  const double begun_s = ctx.now_s();
  {
    stripline::UpdateEpoch<uint64_t, stripline::op_add> epoch(ctx);
    const auto counts = epoch.into(bins);
    for (size_t step = 0; step < steps; ++step) {
      for (const uint64_t one : keys) counts.update(one, 1);
      stripline::programs::computed(ctx, static_cast<double>(n),
                                    static_cast<double>(n * sizeof(uint64_t)));
      epoch.end();
    }
  }

  const double took_s = ctx.now_s() - begun_s;
  std::vector<uint64_t> expected(bins.size());
  for (stripline::rank_t rank = 0; rank < ctx.rank_n(); ++rank) {
    for (size_t i = 0; i < n; ++i) expected[key(rank, i, bins.size())] += steps;
  }
  bool right = true;
  for (size_t i = 0; i < bins.local_span().size(); ++i) {
    right = right && bins.local_span()[i] == expected[bins.index_of(i)];
  }
  return stripline::programs::report_steps(ctx, "histogram", steps, took_s, right);
}
