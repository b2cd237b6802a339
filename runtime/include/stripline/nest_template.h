// The calls beneath for_nest(), for code that a compiler or a generator writes: a nest is described
// loop by loop and reference by reference, in numbers that are known when it runs, and carried out
// strip by strip. It means what for_nest() means (nest.h), decides as that does, and is found again
// in the same caches.
//
//   // sum += a[i][j]; a belongs to another rank.
//   stripline::NestTemplate nest(ctx);
//   const size_t i = nest.add_loop(0, rows);
//   const size_t j = nest.add_loop(0, columns);
//   const size_t a = nest.add_reference(stripline::access::Mode::read, owner, offset, 8);
//   nest.set_stride(a, i, 8 * columns);
//   nest.set_stride(a, j, 8);
//   while (nest.next()) {
//     for (int64_t s = 0; s < nest.count(i); ++s) {
//       const std::byte* row = nest.address(a) + s * nest.stride_bytes(a, i);
//       for (int64_t t = 0; t < nest.count(j); ++t) {
//         sum += *reinterpret_cast<const double*>(row + t * nest.stride_bytes(a, j));
//       }
//     }
//   }
//
// In the template of Iancu et al. (section 4) the constructor is start_nest, add_loop()
// add_polytope_dim, add_reference() new_base_ref and new_lmad, and set_stride() add_sos_dim, whose
// span follows from the loop. analyze() is analyze_transfers, next() get_strips with advance_dim
// and finalize_dim, address() get_local_address, and the destructor end_nest. Where the analysis
// fails, strips are single iterations: the code that goes through strips is the fine-grained loop
// as well.
//
// Wrong use ends the job: more loops or references than there may be, numbers that were not given
// out, a description that changes after analyze(), questions about a strip while there is none,
// elements outside of the owner's segment.
// Threads: as Context. Nests may be inside of others' strips, and end before these.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <stripline/nest.h>

namespace stripline {

/// A loop nest over remote memory, described call by call, as a compiler would.
class NestTemplate {
 public:
  /// An empty nest. The site in `options`, or else the place of the call, tells nests apart.
  explicit NestTemplate(NestPlace place, const NestOptions& options = {});
  /// Waits for what is in flight. What was written is visible at its target only if next() has said
  /// that there is no more.
  ~NestTemplate() = default;
  NestTemplate(const NestTemplate&) = delete;
  NestTemplate& operator=(const NestTemplate&) = delete;

  /// A loop inside of those so far, from `lower` up to, but not including, `upper`; down to it if
  /// `step` is negative. Not 0. Returns the loop's number.
  size_t add_loop(int64_t lower, int64_t upper, int64_t step = 1);

  /// An access to `element_bytes` bytes of a rank's segment, at `offset` in the first iteration of
  /// all loops. Returns its number.
  size_t add_reference(access::Mode mode, rank_t owner, uint64_t offset, uint32_t element_bytes);

  /// How many bytes the next iteration of a loop is away; 0 if nothing is said.
  void set_stride(size_t reference, size_t loop, int64_t bytes);

  /// Decides, and sends for what the first strips need. Called by next() if the program does not.
  const NestPlan& analyze();

  /// Goes on to the next strip, at first to the first one: what the body has written of the one
  /// before leaves. False when there is none: all that was written is visible at its target.
  bool next();

  /// For a strip: the value of a loop's variable where it begins, and how many iterations of the
  /// loop are in it, with all of those of the loops further inside.
  int64_t first(size_t loop) const;
  int64_t count(size_t loop) const;  ///< the iterations of a loop in the strip

  /// Where a reference finds its element in the strip's first iteration, and how many bytes the
  /// next one of a loop is away there.
  std::byte* address(size_t reference) const {
    check_strip(reference, 0);
    return tile_->element[reference];
  }
  /// Bytes from a reference's element to that of the loop's next iteration.
  int64_t stride_bytes(size_t reference, size_t loop) const {
    check_strip(reference, loop);
    return tile_->stride_bytes[reference][loop];
  }

 private:
  [[noreturn]] void fail(const char* what) const;
  [[noreturn, gnu::cold]] void fail_strip() const;
  void check_open() const;
  // There is a strip, and so at least one reference and one loop: numbers 0 are those of some.
  void check_strip(size_t reference, size_t loop) const {
    if (tile_ == nullptr || reference >= nest_.references() || loop >= nest_.depth) [[unlikely]]
      fail_strip();
  }

  Context& context_;
  CallSite site_;
  NestOptions options_;
  access::Nest nest_;
  std::array<int64_t, access::kMaxDepth> lower_{};
  std::array<int64_t, access::kMaxDepth> step_{};
  bool empty_ = false;  // some loop has no iteration
  bool over_ = false;
  NestPlan nothing_;  // of a nest without iterations
  std::optional<detail::NestRun> run_;
  const detail::NestTile* tile_ = nullptr;
};

}  // namespace stripline
