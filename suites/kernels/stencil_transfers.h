// The exchange of PRK stencil (prk/stencil_solver.h) over a Context, in the variants of
// strided_variants.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stripline/context.h>
#include <stripline/vis.h>

#include "base/result.h"
#include "suites/kernels/prk/stencil_share.h"
#include "suites/kernels/strided_variants.h"
#include "suites/kernels/symmetric_memory.h"

namespace stripline::suites {

/// Ranks put their points into the ghosts of their neighbours. Variants fine and blocking wait for
/// one operation after the other, and compute when all ghosts are there. The others compute the
/// points that need no ghosts meanwhile, in parts, between which they look after what is in flight.
/// Variant packed, and those whose calls raise a flag themselves, put into buffers beside the
/// points, together with the flag that says so, which needs no leave: of two buffers that take
/// turns, one is free whenever the neighbours' faces of the step before have come. The others put
/// to where the ghosts belong once the neighbour has said that it has used those before, and raise
/// a flag when the points are there. Ranks wait for no one but their neighbours.
///
/// One rank's; a rank is one thread.
class StencilTransfers {
 public:
  /// Collective. Errors as Context::new_symmetric_array().
  static Result<StencilTransfers> create(Context& context, const StridedManner& manner,
                                         const prk::StencilPartition& partition);

  /// The memory for this rank's share.
  std::span<double> shared() const { return {memory_.here(), partition_.shared_elements()}; }

  // The steps; prk/stencil_solver.h says what they do.
  void ghosts(prk::StencilShare& share);
  void used(prk::StencilShare& share);
  double sum(prk::StencilShare& share, double value);

 private:
  // A side of this rank's block on which there is a neighbour.
  struct Side {
    prk::StencilFace face;  // that leaves
    prk::StencilFace back;  // the neighbour's that comes
    size_t index = 0;
    size_t opposite = 0;         // the same border, seen from the neighbour
    std::vector<double> packed;  // to leave
    future transfer;             // what leaves
    bool told = true;            // the neighbour knows that it has come
  };
  enum class Flag { used, filled };
  static constexpr size_t kSides = prk::kStencilSides.size();
  static constexpr size_t kTurns = 2;

  StencilTransfers(Context& context, const StridedManner& manner,
                   const prk::StencilPartition& partition, SymmetricMemory<double> memory,
                   SymmetricMemory<uint64_t> flags);

  bool packs() const { return manner_.variant == StridedVariant::packed; }
  bool overlaps() const;
  size_t buffer_place(size_t index) const;
  global_ptr<uint64_t> flag(Flag what, size_t index, rank_t rank) const;
  void raise(Flag what, const Side& side);
  void await(Flag what, const Side& side, uint64_t step);
  void put(Side& side);
  void put_packed(Side& side);
  void put_elements(Side& side);
  void look_after();
  void tell(Side& side);
  void unpack(const Side& side);

  Context* context_;
  StridedManner manner_;
  prk::StencilPartition partition_;
  SymmetricMemory<double> memory_;   // the share's, then [turn][side] of a face
  SymmetricMemory<uint64_t> flags_;  // [flag][side], the last step
  std::vector<Side> sides_;
  uint64_t step_ = 0;
};

}  // namespace stripline::suites
