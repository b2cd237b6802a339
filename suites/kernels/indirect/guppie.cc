// kernel.guppie: random elements are read, changed and written back (Alvanos et al., section 4).
#include "base/random.h"
#include "suites/kernels/indirect/indirect_variants.h"
#include "suites/kernels/kernels.h"

namespace stripline::suites {
namespace {

Result<experiment::SampleSeries> run_guppie(Session& session, const experiment::Point& point,
                                            const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const auto iterations = static_cast<int64_t>(size_param(point, indirect_factor::kIterations));
  const uint64_t each = size_param(point, indirect_factor::kElements);
  const uint64_t elements = each * ctx.rank_n();
  using Table = shared_array<uint64_t, block_cyclic<>>;
  STRIPLINE_ASSIGN_OR_RETURN(Table table,
                             Table::create(ctx, elements, blocked(elements, ctx.rank_n())));
  // A rank changes elements at a stride of the number of ranks: no two ranks change the same one.
  const auto index_of = [&](rank_t rank, uint64_t salt, size_t i) {
    return hash_of(salt, rank, i) % each * ctx.rank_n() + rank;
  };
  std::vector<uint64_t> index(static_cast<size_t>(iterations));
  KernelParts parts;
  parts.prepare = [&](uint64_t salt) {
    const std::span<uint64_t> mine = table.local_span();
    for (size_t i = 0; i < mine.size(); ++i) mine[i] = table.index_of(i) + salt;
    for (size_t i = 0; i < index.size(); ++i) index[i] = index_of(ctx.rank_me(), salt, i);
  };
  parts.run = [&] {
    for_each_indirect(
        ctx, range(0, iterations), indirect_options_of(point),
        [](int64_t i, uint64_t& value) { value = value * 3 + static_cast<uint64_t>(i); },
        modify(table, index));
    if (Work* const work = ctx.work()) work->compute(2 * static_cast<double>(iterations), 0);
    ctx.barrier();
  };
  parts.verify = [&](uint64_t salt) {
    const std::span<const uint64_t> mine = table.local_span();
    std::vector<uint64_t> expected(mine.size());
    for (size_t i = 0; i < mine.size(); ++i) expected[i] = table.index_of(i) + salt;
    for (rank_t rank = 0; rank < ctx.rank_n(); ++rank) {
      for (size_t i = 0; i < index.size(); ++i) {
        const place at = table.distribution().locate(index_of(rank, salt, i));
        if (at.rank == ctx.rank_me()) expected[at.index] = expected[at.index] * 3 + i;
      }
    }
    return std::ranges::equal(mine, expected);
  };
  parts.scale = 1 / static_cast<double>(iterations);
  return measure_indirect(session, rule, parts, table);
}

}  // namespace

Benchmark guppie_benchmark() {
  return indirect_benchmark(
      {.known = experiment::kernels::kGuppie,
       .run = run_guppie,
       .title = "Random elements, read and written back",
       .description = "Every rank changes random elements of a table, each by what it held; no two "
                      "ranks the same ones.",
       .factors = {integer_factor(indirect_factor::kIterations, "1",
                                  "Elements that a rank changes.", {4096}, 1, 1e7),
                   integer_factor(indirect_factor::kElements, "1", "Elements of a rank.", {65536},
                                  1, 1e8)},
       .metric = {"time_per_element", "s", true},
       .verification = "The whole table is compared in every repetition."});
}

}  // namespace stripline::suites
