// kernel.mcop: in which order a chain of matrices is multiplied (Alvanos et al., section 4: Mcop).
#include <algorithm>
#include <limits>
#include <vector>

#include "base/random.h"
#include "suites/kernels/indirect/indirect_variants.h"
#include "suites/kernels/kernels.h"

namespace stripline::suites {
namespace {

constexpr const char* kMatricesFactor = "matrices";

// The cost of multiplying matrices i to j, in column j, each a block of a rank; columns cyclically.
using Costs = shared_array<uint64_t, block_cyclic<>>;

uint64_t extent_of(uint64_t number, uint64_t salt) { return 1 + hash_of(number, salt) % 100; }

uint64_t product_cost(uint64_t i, uint64_t k, uint64_t j, uint64_t salt) {
  return extent_of(i, salt) * extent_of(k + 1, salt) * extent_of(j + 1, salt);
}

std::vector<uint64_t> costs_alone(uint64_t n, uint64_t salt) {
  std::vector<uint64_t> cost(n * n, 0);  // by column
  for (uint64_t length = 1; length < n; ++length) {
    for (uint64_t j = length; j < n; ++j) {
      const uint64_t i = j - length;
      uint64_t least = std::numeric_limits<uint64_t>::max();
      for (uint64_t k = i; k < j; ++k) {
        least =
            std::min(least, cost[k * n + i] + cost[j * n + k + 1] + product_cost(i, k, j, salt));
      }
      cost[j * n + i] = least;
    }
  }
  return cost;
}

Result<experiment::SampleSeries> run_mcop(Session& session, const experiment::Point& point,
                                          const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const uint64_t n = size_param(point, kMatricesFactor);
  STRIPLINE_ASSIGN_OR_RETURN(Costs costs, Costs::create(ctx, n * n, block_cyclic<>{n}));
  const IndirectOptions options = indirect_options_of(point);
  uint64_t salt_of_run = 0;
  // The columns of this rank that reach the diagonal, and the split of least cost of each.
  std::vector<uint64_t> columns;
  std::vector<uint64_t> least;
  // All parts of `length` + 1 matrices that end in a column of this rank, with all cuts of each in
  // two: a nest of two loops as one.
  const auto find_least = [&](uint64_t length) {
    least.assign(columns.size(), std::numeric_limits<uint64_t>::max());
    const uint64_t iterations = columns.size() * length;
    struct Cut {
      size_t number;  // among the columns
      uint64_t i;
      uint64_t k;
      uint64_t j;
    };
    const auto cut = [&columns, length](int64_t iteration) {
      const auto at = static_cast<uint64_t>(iteration);
      const uint64_t j = columns[at / length];
      return Cut{at / length, j - length, j - length + at % length, j};
    };
    for_each_indirect(
        ctx, range(0, static_cast<int64_t>(iterations)), options,
        [&](int64_t iteration, uint64_t left, uint64_t right) {
          const auto [number, i, k, j] = cut(iteration);
          least[number] =
              std::min(least[number], left + right + product_cost(i, k, j, salt_of_run));
        },
        read(costs,
             [&](int64_t iteration) {
               const Cut one = cut(iteration);
               return one.k * n + one.i;
             }),
        read(costs, [&](int64_t iteration) {
          const Cut one = cut(iteration);
          return one.j * n + one.k + 1;
        }));
    if (Work* const work = ctx.work()) work->compute(5 * static_cast<double>(iterations), 0);
  };
  // The same loops, whose reads of other columns come before their use: of all cuts of a part in a
  // fine_region, or of all parts by hand. Those of the own column are loads.
  const auto least_of = [&](size_t number, uint64_t length, const auto& left) {
    const uint64_t j = columns[number];
    const uint64_t i = j - length;
    uint64_t found = std::numeric_limits<uint64_t>::max();
    for (uint64_t k = i; k < j; ++k) {
      found = std::min(
          found, left(k - i) + costs.read(j * n + k + 1) + product_cost(i, k, j, salt_of_run));
    }
    return found;
  };
  const auto find_in_region = [&](uint64_t length) {
    fine_region fine(ctx, fine_options_of(point));
    std::vector<lazy<uint64_t>> left;
    for (size_t number = 0; number < columns.size(); ++number) {
      const uint64_t i = columns[number] - length;
      for (uint64_t k = i; k < i + length; ++k) {
        left.push_back(fine.read(costs.global(k * n + i)));
      }
      least[number] = least_of(number, length, [&](uint64_t at) { return left[at].get(); });
      left.clear();
    }
  };
  const auto find_by_hand = [&](uint64_t length) {
    std::vector<uint64_t> left(columns.size() * length);
    for (size_t number = 0; number < columns.size(); ++number) {
      const uint64_t i = columns[number] - length;
      for (uint64_t at = 0; at < length; ++at) {
        ctx.rget_nbi(costs.global((i + at) * n + i), &left[number * length + at], 1);
      }
    }
    ctx.fence();
    for (size_t number = 0; number < columns.size(); ++number) {
      least[number] =
          least_of(number, length, [&](uint64_t at) { return left[number * length + at]; });
    }
  };
  const auto find = [&](uint64_t length) {
    const bool in_region = point.variant == experiment::variant::kFineRegion;
    if (!in_region && point.variant != experiment::variant::kByHand) return find_least(length);
    least.assign(columns.size(), 0);
    if (in_region) {
      find_in_region(length);
    } else {
      find_by_hand(length);
    }
    if (Work* const work = ctx.work()) {
      work->compute(5 * static_cast<double>(columns.size() * length), 0);
    }
  };
  KernelParts parts;
  parts.prepare = [&](uint64_t salt) {
    std::ranges::fill(costs.local_span(), 0);
    salt_of_run = salt;
  };
  parts.run = [&] {
    for (uint64_t length = 1; length < n; ++length) {
      columns.clear();
      for (uint64_t j = ctx.rank_me(); j < n; j += ctx.rank_n()) {
        if (j >= length) columns.push_back(j);
      }
      find(length);
      for (size_t number = 0; number < columns.size(); ++number) {
        const uint64_t j = columns[number];
        costs.write(j * n + j - length, least[number]);
      }
      ctx.barrier();
    }
  };
  parts.verify = [&](uint64_t salt) {
    const std::vector<uint64_t> expected = costs_alone(n, salt);
    for (uint64_t j = ctx.rank_me(); j < n; j += ctx.rank_n()) {
      for (uint64_t i = 0; i <= j; ++i) {
        if (costs.read(j * n + i) != expected[j * n + i]) return false;
      }
    }
    return true;
  };
  return measure_indirect(session, rule, parts, costs);
}

}  // namespace

Benchmark mcop_benchmark() {
  return indirect_benchmark(
      {.known = experiment::kernels::kMcop,
       .run = run_mcop,
       .title = "The order of a chain of matrix products",
       .description = "The least number of multiplications for a product of many matrices, by "
                      "dynamic programming: each part of the chain by all cuts into two. "
                      "Columns of the table lie cyclically on the ranks.",
       .factors = {integer_factor(kMatricesFactor, "1", "Matrices of the chain.", {64}, 2, 4096)},
       .metric = {"time", "s", true},
       .verification = "The whole table is compared in every repetition."});
}

}  // namespace stripline::suites
