#include "suites/kernels/nas/cg_problem.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "suites/kernels/nas/nas_random.h"

namespace stripline::suites::nas {
namespace {

constexpr std::array<CgProblem, 5> kProblems = {{
    {1400, 7, 15, 10, 8.5971775078648},
    {7000, 8, 15, 12, 10.362595087124},
    {14000, 11, 15, 20, 17.130235054029},
    {75000, 13, 75, 60, 22.712745482631},
    {150000, 15, 75, 110, 28.973605592845},
}};

constexpr double kCondition = 0.1;  // rcond of the specification

constexpr size_t whole_lines(size_t doubles) { return (doubles + 7) / 8 * 8; }

// The random vectors v_i as sparse rows, in the order of their making.
SparseRows random_vectors(const CgProblem& problem) {
  const size_t n = problem.order;
  const auto range = static_cast<double>(std::bit_ceil(n));
  NasRandom random;
  random.next();  // The benchmark draws one number before it makes the matrix.

  SparseRows vectors;
  vectors.row_start.reserve(n + 1);
  vectors.row_start.push_back(0);
  vectors.col.reserve(n * (problem.row_nonzeros + 1));
  vectors.value.reserve(n * (problem.row_nonzeros + 1));
  for (size_t i = 0; i < n; ++i) {
    const size_t start = vectors.col.size();
    const auto find = [&](uint32_t at) {
      return std::find(vectors.col.begin() + static_cast<ptrdiff_t>(start), vectors.col.end(), at);
    };
    while (vectors.col.size() - start < problem.row_nonzeros) {
      const double value = random.next();
      const auto at = static_cast<uint32_t>(range * random.next());
      if (at >= n || find(at) != vectors.col.end()) continue;
      vectors.col.push_back(at);
      vectors.value.push_back(value);
    }
    // Its own element is set to one half.
    const auto own = find(static_cast<uint32_t>(i));
    if (own != vectors.col.end()) {
      vectors.value[static_cast<size_t>(own - vectors.col.begin())] = 0.5;
    } else {
      vectors.col.push_back(static_cast<uint32_t>(i));
      vectors.value.push_back(0.5);
    }
    vectors.row_start.push_back(vectors.col.size());
  }
  return vectors;
}

// For each of the rows [begin, end) of the transposed: which vectors have an element there, in
// ascending order, and its value.
SparseRows transposed_rows(const SparseRows& vectors, size_t begin, size_t end) {
  SparseRows result;
  result.row_start.assign(end - begin + 1, 0);
  for (const uint32_t at : vectors.col) {
    if (at >= begin && at < end) ++result.row_start[at - begin + 1];
  }
  for (size_t i = 1; i < result.row_start.size(); ++i) {
    result.row_start[i] += result.row_start[i - 1];
  }
  result.col.resize(result.row_start.back());
  result.value.resize(result.row_start.back());
  std::vector<size_t> next(result.row_start.begin(), result.row_start.end() - 1);
  for (size_t i = 0; i + 1 < vectors.row_start.size(); ++i) {
    for (size_t k = vectors.row_start[i]; k < vectors.row_start[i + 1]; ++k) {
      const uint32_t at = vectors.col[k];
      if (at < begin || at >= end) continue;
      const size_t place = next[at - begin]++;
      result.col[place] = static_cast<uint32_t>(i);
      result.value[place] = vectors.value[k];
    }
  }
  return result;
}

}  // namespace

const CgProblem& cg_problem(NasClass problem_class) {
  return kProblems[static_cast<size_t>(problem_class)];
}

Result<CgPartition> CgPartition::create(const CgProblem& problem, uint32_t ranks) {
  if (!std::has_single_bit(ranks)) {
    return Error(ErrorCode::invalid_argument,
                 "NAS CG cannot run on " + std::to_string(ranks) +
                     " ranks: it divides the matrix over a grid; use a power of two");
  }
  const auto log2_ranks = static_cast<uint32_t>(std::countr_zero(ranks));
  const uint32_t grid_rows = 1U << (log2_ranks / 2);
  const uint32_t grid_cols = ranks / grid_rows;
  if (grid_cols > problem.order) {
    return Error(ErrorCode::invalid_argument,
                 "NAS CG cannot divide a matrix of order " + std::to_string(problem.order) +
                     " over " + std::to_string(ranks) + " ranks; use fewer ranks");
  }
  return CgPartition(problem.order, grid_rows, grid_cols);
}

CgPartition::CgPartition(size_t order, uint32_t grid_rows, uint32_t grid_cols)
    : order_(order),
      grid_rows_(grid_rows),
      grid_cols_(grid_cols),
      stages_(static_cast<size_t>(std::countr_zero(grid_cols))) {
  for (uint32_t row = 0; row < grid_rows; ++row) {
    row_room_ = std::max(row_room_, whole_lines(row_begin(row + 1) - row_begin(row)));
  }
  for (uint32_t col = 0; col < grid_cols; ++col) {
    col_room_ = std::max(col_room_, whole_lines(col_begin(col + 1) - col_begin(col)));
  }
}

uint32_t CgPartition::transpose_partner(uint32_t rank) const {
  // With twice as many columns as rows, each rank takes one half of what its partner has.
  const uint32_t ratio = grid_cols_ / grid_rows_;
  const uint32_t col = col_of(rank);
  return rank_at(col / ratio, row_of(rank) * ratio + col % ratio);
}

SparseRows make_cg_block(const CgProblem& problem, size_t row_begin, size_t row_end,
                         size_t col_begin, size_t col_end) {
  const SparseRows vectors = random_vectors(problem);
  const SparseRows members = transposed_rows(vectors, row_begin, row_end);
  std::vector<double> weights(problem.order);
  const double ratio = std::pow(kCondition, 1.0 / static_cast<double>(problem.order));
  double weight = 1;
  for (double& w : weights) {
    w = weight;
    weight *= ratio;
  }

  // Row by row: A(r, :) = sum over i of w_i v_i(r) v_i, added up in a dense row of which only the
  // touched elements are visited and cleared.
  std::vector<double> row(col_end - col_begin);
  std::vector<bool> used(col_end - col_begin);
  std::vector<uint32_t> touched;
  SparseRows block;
  block.row_start.reserve(row_end - row_begin + 1);
  block.row_start.push_back(0);
  for (size_t r = row_begin; r < row_end; ++r) {
    touched.clear();
    for (size_t m = members.row_start[r - row_begin]; m < members.row_start[r - row_begin + 1];
         ++m) {
      const size_t i = members.col[m];
      const double scale = weights[i] * members.value[m];
      for (size_t k = vectors.row_start[i]; k < vectors.row_start[i + 1]; ++k) {
        const size_t c = vectors.col[k];
        if (c < col_begin || c >= col_end) continue;
        double product = vectors.value[k] * scale;
        if (c == r && i == r) product += kCondition - problem.shift;
        const size_t at = c - col_begin;
        if (!used[at]) {
          used[at] = true;
          touched.push_back(static_cast<uint32_t>(at));
        }
        row[at] += product;
      }
    }
    std::sort(touched.begin(), touched.end());
    for (const uint32_t at : touched) {
      block.col.push_back(at);
      block.value.push_back(row[at]);
      row[at] = 0;
      used[at] = false;
    }
    block.row_start.push_back(block.col.size());
  }
  return block;
}

}  // namespace stripline::suites::nas
