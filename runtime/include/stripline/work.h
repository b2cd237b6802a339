// Declared computation: what a program says that it computes, for clocks that do not measure it.
//
//   // A sum of 1,000 products, of which 8,000 bytes were not in the caches.
//   if (stripline::Work* const work = ctx.work(); work != nullptr) work->compute(2000, 8000);
#pragma once

#include <cstdint>

namespace stripline {

/// Work that a rank has done, as a program or the runtime says it. It takes time on the virtual
/// clock of the emulated fabric with compute=declared (docs/emulated-fabric.md), and on no other
/// (Context::work()). A value; not thread-safe.
struct Work {
  double flops = 0;  ///< arithmetic operations
  double bytes = 0;  ///< read from and written to memory beyond the caches
  double rows = 0;   ///< contiguous pieces that loops of their own go through

  /// Adds what was computed.
  void compute(double new_flops, double new_bytes) {
    flops += new_flops;
    bytes += new_bytes;
  }
};

/// Copying `rows` contiguous pieces of `row_bytes`, each byte of which is read and written; nothing
/// where `work` is null.
inline void count_copy(Work* work, uint64_t rows, uint64_t row_bytes) {
  if (work == nullptr) return;
  work->bytes += 2 * static_cast<double>(rows * row_bytes);
  work->rows += static_cast<double>(rows);
}

}  // namespace stripline
