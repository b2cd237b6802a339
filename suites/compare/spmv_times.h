// Times of a sparse matrix-vector product, for systems that measure it alike: each is a program of
// its own, started by its own launcher, and prints one JSON line per matrix.
//
// Rows of the matrix and elements of the vector lie in blocks on the ranks. Each product has other
// values of the vector, which every rank stores into its own part before.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "suites/kernels/sparse/matrix_market.h"
#include "suites/kernels/sparse/matrix_rows.h"

namespace stripline::suites::compare {

/// A rank's rows of a matrix.
struct SpmvPart {
  std::string name;
  uint64_t all_rows = 0;
  sparse::MatrixRows rows;
};

/// The rows of each rank but the last ones.
inline uint64_t spmv_block(uint64_t rows, size_t ranks) { return (rows + ranks - 1) / ranks; }

/// This rank's part of each matrix that is compared: generated ones of `rows`, and those of files.
inline std::vector<SpmvPart> spmv_parts(size_t rank, size_t ranks, uint64_t rows,
                                        std::span<const std::string> files) {
  std::vector<SpmvPart> parts;
  const auto range = [&](uint64_t all) {
    const uint64_t block = spmv_block(all, ranks);
    const uint64_t first = std::min<uint64_t>(all, rank * block);
    return std::pair(first, std::min<uint64_t>(all, first + block));
  };
  for (size_t kind = 0; kind < sparse::kMatrixKindNames.size(); ++kind) {
    const auto one = static_cast<sparse::MatrixKind>(kind);
    const uint64_t all = sparse::fitting_rows(one, rows);
    const auto [first, last] = range(all);
    parts.push_back({std::string(sparse::kMatrixKindNames[kind]), all,
                     sparse::make_rows(one, all, first, last)});
  }
  for (const std::string& file : files) {
    auto whole = sparse::read_matrix_market(file);
    if (!whole.ok()) {
      std::fprintf(stderr, "%s\n", whole.error().message().c_str());
      std::exit(3);  // NOLINT(concurrency-mt-unsafe): one thread
    }
    const auto [first, last] = range(whole->rows());
    parts.push_back({std::filesystem::path(file).stem().string(), whole->rows(),
                     sparse::rows_of(*whole, first, last)});
  }
  return parts;
}

/// `system` has rank(), ranks(), now_s(), barrier(), prepare(part), called collectively before
/// products with that matrix, vector(), this rank's part of x, multiply(y), and longest(times),
/// which makes the times of rank 0 the element-wise maximum over all ranks. A line holds the median
/// over batches of products. Returns false if a result was wrong.
template <typename System>
bool print_spmv_times(System& system, std::span<const SpmvPart> parts, int batches,
                      const char* name) {
  constexpr size_t kBatch = 10;
  constexpr int kWarmUp = 2;
  constexpr double kTolerance = 1e-11;
  bool good = true;
  for (const SpmvPart& part : parts) {
    system.prepare(part);
    std::vector<double> y(part.rows.rows());
    std::vector<double> times;
    uint64_t salt = 0;
    for (int batch = -kWarmUp; batch < batches; ++batch) {
      system.barrier();
      const double start_s = system.now_s();
      for (size_t i = 0; i < kBatch; ++i) {
        ++salt;
        const std::span<double> x = system.vector();
        for (size_t e = 0; e < x.size(); ++e) {
          x[e] = static_cast<double>((part.rows.first + e + salt) % 1024) - 512;
        }
        system.multiply(y);
      }
      const double time_s = (system.now_s() - start_s) / kBatch;
      if (batch >= 0) times.push_back(time_s);
    }
    for (size_t row = 0; row < y.size(); ++row) {
      double expected = 0;
      double magnitude = 0;
      for (size_t e = part.rows.begin[row]; e < part.rows.begin[row + 1]; ++e) {
        const double term =
            part.rows.value[e] * (static_cast<double>((part.rows.column[e] + salt) % 1024) - 512);
        expected += term;
        magnitude += std::abs(term);
      }
      good = good && std::abs(y[row] - expected) <= kTolerance * magnitude;
    }
    system.barrier();
    system.longest(times);
    if (system.rank() != 0) continue;
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    std::printf(R"({"system":"%s","operation":"spmv","matrix":"%s","ranks":%zu,"median_s":%.9g})"
                "\n",
                name, part.name.c_str(), static_cast<size_t>(system.ranks()), *middle);
  }
  return good;
}

}  // namespace stripline::suites::compare
