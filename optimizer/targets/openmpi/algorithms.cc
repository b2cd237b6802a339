#include "optimizer/targets/openmpi/algorithms.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string>

#include "base/quantity.h"

namespace stripline::targets::openmpi {
namespace {

// What an algorithm needs, and what becomes of it otherwise.
enum Need : unsigned {
  kNothing = 0,
  kTwoRanks = 1,         // with others: MPI_ERR_UNSUPPORTED_OPERATION
  kPowerOfTwo = 2,       // with others: another algorithm
  kEven = 4,             // with others: another algorithm
  kCommutative = 8,      // with other operations: wrong results, or another algorithm
  kElementPerRank = 16,  // with fewer: another algorithm
};

struct Row {
  Collective collective;
  int id;
  const char* name;
  unsigned needs = kNothing;
  // Segments that are worth trying, in KiB; 0: whole messages.
  std::array<uint32_t, 3> segments_kib{};
  size_t segments = 1;
  uint32_t fan = 0;  // of chains
};

// What Open MPI's variables have by default; rules have none, and 0 means a single chain there.
constexpr uint32_t kChains = 4;

using C = Collective;
constexpr Row kRows[] = {
    {C::allgather, 1, "linear"},
    {C::allgather, 2, "bruck"},
    {C::allgather, 3, "recursive_doubling", kPowerOfTwo},
    {C::allgather, 4, "ring"},
    {C::allgather, 5, "neighbor", kEven},
    {C::allgather, 6, "two_proc", kTwoRanks},
    {C::allgatherv, 1, "gatherv_bcast"},  // which Open MPI calls "default"
    {C::allgatherv, 2, "bruck"},
    {C::allgatherv, 3, "ring"},
    {C::allgatherv, 4, "neighbor", kEven},
    {C::allgatherv, 5, "two_proc", kTwoRanks},
    {C::allreduce, 1, "basic_linear"},
    {C::allreduce, 2, "nonoverlapping"},
    {C::allreduce, 3, "recursive_doubling"},
    {C::allreduce, 4, "ring", kCommutative | kElementPerRank},
    {C::allreduce, 5, "segmented_ring", kCommutative | kElementPerRank, {64}, 1},
    {C::allreduce, 6, "rabenseifner", kCommutative | kElementPerRank},
    {C::alltoall, 1, "linear"},
    {C::alltoall, 2, "pairwise"},
    {C::alltoall, 3, "modified_bruck"},
    {C::alltoall, 4, "linear_sync"},
    {C::alltoall, 5, "two_proc", kTwoRanks},
    {C::alltoallv, 1, "basic_linear"},
    {C::alltoallv, 2, "pairwise"},
    {C::barrier, 1, "linear"},
    {C::barrier, 2, "double_ring"},
    {C::barrier, 3, "recursive_doubling"},
    {C::barrier, 4, "bruck"},
    {C::barrier, 5, "two_proc", kTwoRanks},
    {C::barrier, 6, "tree"},
    {C::bcast, 1, "basic_linear"},
    {C::bcast, 2, "chain", kNothing, {0, 64}, 2, kChains},
    {C::bcast, 3, "pipeline", kNothing, {8, 64}, 2},
    {C::bcast, 4, "split_binary", kNothing, {8, 64}, 2},
    {C::bcast, 5, "binary", kNothing, {0, 64}, 2},
    {C::bcast, 6, "binomial", kNothing, {0, 64}, 2},
    {C::bcast, 7, "knomial"},
    {C::bcast, 8, "scatter_allgather", kElementPerRank},
    {C::bcast, 9, "scatter_allgather_ring", kElementPerRank},
    {C::exscan, 1, "linear"},
    {C::exscan, 2, "recursive_doubling"},
    {C::gather, 1, "basic_linear"},
    {C::gather, 2, "binomial"},
    {C::gather, 3, "linear_sync"},
    {C::reduce, 1, "linear"},
    {C::reduce, 2, "chain", kCommutative, {0, 64}, 2, kChains},
    {C::reduce, 3, "pipeline", kCommutative, {8, 64}, 2},
    {C::reduce, 4, "binary", kCommutative, {0, 64}, 2},
    {C::reduce, 5, "binomial", kCommutative, {0, 64}, 2},
    {C::reduce, 6, "in-order_binary", kNothing, {0, 64}, 2},
    {C::reduce, 7, "rabenseifner", kCommutative | kElementPerRank},
    {C::reduce_scatter, 1, "non-overlapping"},
    {C::reduce_scatter, 2, "recursive_halving", kCommutative},
    {C::reduce_scatter, 3, "ring", kCommutative},
    {C::reduce_scatter, 4, "butterfly"},
    {C::reduce_scatter_block, 1, "basic_linear"},
    {C::reduce_scatter_block, 2, "recursive_doubling"},
    {C::reduce_scatter_block, 3, "recursive_halving", kCommutative},
    {C::reduce_scatter_block, 4, "butterfly"},
    {C::scan, 1, "linear"},
    {C::scan, 2, "recursive_doubling"},
    {C::scatter, 1, "basic_linear"},
    {C::scatter, 2, "binomial"},
    {C::scatter, 3, "linear_nb"},
};

struct Number {
  Collective collective;
  int id;
};
constexpr Number kNumbers[] = {
    {C::allgather, 0}, {C::allgatherv, 1}, {C::allreduce, 2},       {C::alltoall, 3},
    {C::alltoallv, 4}, {C::barrier, 6},    {C::bcast, 7},           {C::exscan, 8},
    {C::gather, 9},    {C::reduce, 11},    {C::reduce_scatter, 12}, {C::reduce_scatter_block, 13},
    {C::scan, 14},     {C::scatter, 15},
};

// Collectives whose algorithms have a variable for segments.
bool has_segments(Collective collective) {
  return std::ranges::any_of(kRows, [&](const Row& row) {
    return row.collective == collective && (row.segments > 1 || row.segments_kib[0] > 0);
  });
}

void select(Collective collective, Candidate& candidate) {
  const std::string variable = "coll_tuned_" + std::string(to_string(collective)) + "_algorithm";
  candidate.select.emplace_back(variable, candidate.id);
  if (has_segments(collective)) {
    candidate.select.emplace_back(variable + "_segmentsize",
                                  static_cast<int64_t>(candidate.segment_bytes));
  }
  if (candidate.fan > 0) candidate.select.emplace_back(variable + "_chain_fanout", candidate.fan);
}

Candidate from(const Row& row, uint64_t segment_bytes) {
  Candidate candidate{
      .name = row.name, .id = row.id, .segment_bytes = segment_bytes, .fan = row.fan};
  if (segment_bytes > 0) candidate.name += ", segments of " + bytes_text(segment_bytes);
  if ((row.needs & kTwoRanks) != 0) candidate.least_ranks = candidate.most_ranks = 2;
  candidate.power_of_two_ranks = (row.needs & kPowerOfTwo) != 0;
  candidate.even_ranks = (row.needs & kEven) != 0;
  candidate.commutative_only = (row.needs & kCommutative) != 0;
  candidate.elements_per_rank = (row.needs & kElementPerRank) != 0 ? 1 : 0;
  select(row.collective, candidate);
  return candidate;
}

}  // namespace

int collective_id(Collective collective) {
  return std::ranges::find(kNumbers, collective, &Number::collective)->id;
}

std::optional<Collective> collective_of(int id) {
  const auto* const found = std::ranges::find(kNumbers, id, &Number::id);
  if (found == std::end(kNumbers)) return std::nullopt;
  return found->collective;
}

std::vector<Candidate> candidates(Collective collective) {
  Candidate usual{.name = "default"};
  select(collective, usual);
  std::vector<Candidate> all = {std::move(usual)};
  for (const Row& row : kRows) {
    if (row.collective != collective) continue;
    for (const uint32_t kib : std::span(row.segments_kib).first(row.segments)) {
      all.push_back(from(row, uint64_t{kib} * 1024));
    }
  }
  return all;
}

std::optional<Candidate> algorithm(Collective collective, int id) {
  for (const Row& row : kRows) {
    if (row.collective == collective && row.id == id) return from(row, 0);
  }
  return std::nullopt;
}

SizeMeaning size_meaning(Collective collective) {
  switch (collective) {
    case C::allreduce:
    case C::bcast:
    case C::reduce:
      return SizeMeaning::message;
    case C::allgatherv:
      return SizeMeaning::average;
    case C::allgather:
    case C::alltoall:
    case C::reduce_scatter:
    case C::reduce_scatter_block:
      return SizeMeaning::total;
    case C::alltoallv:
    case C::barrier:
    case C::exscan:
    case C::gather:
    case C::scan:
    case C::scatter:
      return SizeMeaning::none;
  }
  return SizeMeaning::none;
}

uint64_t rule_bytes(Collective collective, uint32_t ranks, uint64_t cell_bytes) {
  if (size_meaning(collective) != SizeMeaning::total) return cell_bytes;
  uint64_t product = 0;
  return __builtin_mul_overflow(cell_bytes, uint64_t{ranks}, &product)
             ? std::numeric_limits<uint64_t>::max()
             : product;
}

uint64_t cell_bytes(Collective collective, uint32_t ranks, uint64_t rule_bytes) {
  return size_meaning(collective) == SizeMeaning::total && ranks > 0 ? rule_bytes / ranks
                                                                     : rule_bytes;
}

std::string rule_refusal(Collective collective, uint32_t ranks, uint64_t rule_bytes, int id,
                         const Safety& safety) {
  Cell cell{.collective = collective, .ranks = ranks};
  cell.bytes = size_meaning(collective) != SizeMeaning::none
                   ? cell_bytes(collective, ranks, rule_bytes)
                   : std::numeric_limits<uint64_t>::max();
  return refusal(*algorithm(collective, id), cell, safety);
}

}  // namespace stripline::targets::openmpi
