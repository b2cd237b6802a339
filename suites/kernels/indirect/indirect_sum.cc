// kernel.indirect_sum: the sum of elements that random numbers name (Su, section 4.5).
#include <algorithm>

#include <stripline/indexed_list.h>

#include "base/random.h"
#include "suites/kernels/indirect/indirect_variants.h"
#include "suites/kernels/kernels.h"

namespace stripline::suites {
namespace {

using Table = shared_array<uint64_t, block_cyclic<>>;

constexpr const char* kByHand = "by_hand";

uint64_t entry_of(uint64_t element, uint64_t salt) { return hash_of(element, salt); }

// What a good programmer writes: elements by owner, each once, one get for each owner, all at once.
uint64_t sum_by_hand(Context& ctx, const Table& table, std::span<const uint64_t> index) {
  std::vector<std::vector<uint32_t>> wanted(ctx.rank_n());
  uint64_t sum = 0;
  for (const uint64_t element : index) {
    const place at = table.distribution().locate(element);
    if (at.rank == ctx.rank_me()) {
      sum += table.local_span()[at.index];
    } else {
      wanted[at.rank].push_back(static_cast<uint32_t>(at.index));
    }
  }
  struct Owner {
    std::vector<uint32_t> reads;
    indexed_list there;
    indexed_list here;
    std::vector<uint64_t> values;
    future came;
  };
  std::vector<Owner> owners;
  owners.reserve(ctx.rank_n());
  for (rank_t step = 1; step < ctx.rank_n(); ++step) {
    const rank_t rank = (ctx.rank_me() + step) % ctx.rank_n();
    if (wanted[rank].empty()) continue;
    std::vector<uint32_t> different = wanted[rank];
    std::ranges::sort(different);
    different.erase(std::unique(different.begin(), different.end()), different.end());
    const size_t count = different.size();
    Owner& owner = owners.emplace_back(Owner{std::move(wanted[rank]),
                                             indexed_list(std::move(different)),
                                             indexed_list::in_order(count),
                                             std::vector<uint64_t>(count),
                                             {}});
    const global_ptr<uint64_t> first(rank, table.global(0).offset());
    owner.came = rget_indexed(ctx, first, owner.there, owner.values.data(), owner.here);
  }
  for (Owner& owner : owners) {
    owner.came.wait();
    const std::span<const uint32_t> numbers = owner.there.numbers();
    for (const uint32_t place : owner.reads) {
      sum += owner.values[static_cast<size_t>(std::ranges::lower_bound(numbers, place) -
                                              numbers.begin())];
    }
  }
  return sum;
}

Result<experiment::SampleSeries> run_indirect_sum(Session& session, const experiment::Point& point,
                                                  const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const auto iterations = static_cast<int64_t>(size_param(point, indirect_factor::kIterations));
  const uint64_t elements = size_param(point, indirect_factor::kElements) * ctx.rank_n();
  STRIPLINE_ASSIGN_OR_RETURN(Table table,
                             Table::create(ctx, elements, blocked(elements, ctx.rank_n())));
  std::vector<uint64_t> index(static_cast<size_t>(iterations));
  uint64_t sum = 0;
  KernelParts parts;
  parts.prepare = [&](uint64_t salt) {
    const std::span<uint64_t> mine = table.local_span();
    for (size_t i = 0; i < mine.size(); ++i) mine[i] = entry_of(table.index_of(i), salt);
    for (size_t i = 0; i < index.size(); ++i) {
      index[i] = hash_of(salt, ctx.rank_me(), i) % elements;
    }
    sum = 0;
  };
  parts.run = [&] {
    if (point.variant == kByHand) {
      sum = sum_by_hand(ctx, table, index);
    } else {
      for_each_indirect(
          ctx, range(0, iterations), indirect_options_of(point),
          [&sum](int64_t, uint64_t value) { sum += value; }, read(table, index));
    }
    if (Work* const work = ctx.work()) work->compute(static_cast<double>(iterations), 0);
  };
  parts.verify = [&](uint64_t salt) {
    for (const uint64_t element : index) sum -= entry_of(element, salt);
    return sum == 0;
  };
  parts.scale = 1 / static_cast<double>(iterations);
  return measure_indirect(session, rule, parts, table);
}

}  // namespace

Benchmark indirect_sum_benchmark() {
  return indirect_benchmark(
      {.known = experiment::kernels::kIndirectSum,
       .run = run_indirect_sum,
       .title = "Sum of random elements",
       .description = "Every rank adds up elements of a table in blocks that random numbers name; "
                      "by hand, with one get of many elements for each owner (by_hand).",
       .factors = {integer_factor(indirect_factor::kIterations, "1",
                                  "Elements that a rank adds up.", {4096}, 1, 1e8),
                   integer_factor(indirect_factor::kElements, "1", "Elements of a rank.", {65536},
                                  1, 1e8)},
       .metric = {"time_per_element", "s", true},
       .verification = "The sum of each rank is compared with that of its index, exactly, in every "
                       "repetition."});
}

}  // namespace stripline::suites
