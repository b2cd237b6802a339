// Times of a sparse matrix-vector product, of systems that measure it alike
// (suites/harness/timed.h).
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

#include "suites/harness/timed.h"
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

/// What the program of a system is asked for: [BATCHES [ROWS [FILE...]]].
struct SpmvOrder {
  SpmvOrder(int argc, char** argv)
      : batches(harness::argument(argc, argv, 1, 30)),
        rows(harness::argument(argc, argv, 2, 65536)),
        files(argv + std::min(argc, 3), argv + argc) {}
  size_t batches;
  uint64_t rows;
  std::vector<std::string> files;
};

/// `system` is Ranks, and has prepare(part), called collectively before products with that matrix,
/// vector(), this rank's part of x, and multiply(y). Returns false if a result was wrong.
template <typename System>
bool print_spmv_times(System& system, std::span<const SpmvPart> parts, size_t batches,
                      const char* name) {
  constexpr size_t kBatch = 10;
  constexpr size_t kWarmUp = 2;
  constexpr double kTolerance = 1e-11;
  bool good = true;
  for (const SpmvPart& part : parts) {
    system.prepare(part);
    std::vector<double> y(part.rows.rows());
    std::vector<double> times;
    uint64_t salt = 0;
    for (size_t batch = 0; batch < kWarmUp + batches; ++batch) {
      const double time_s = harness::timed_s(system, kBatch, [&](size_t) {
        ++salt;
        const std::span<double> x = system.vector();
        for (size_t e = 0; e < x.size(); ++e) {
          x[e] = static_cast<double>((part.rows.first + e + salt) % 1024) - 512;
        }
        system.multiply(y);
      });
      if (batch >= kWarmUp) times.push_back(time_s);
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
    harness::print_median(
        system, name,
        harness::field("operation", "spmv") + "," + harness::field("matrix", part.name), times);
  }
  return good;
}

}  // namespace stripline::suites::compare
