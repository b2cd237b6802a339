// The exchange of NAS MG (nas/mg_solver.h) over a Context, in the variants of strided_variants.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stripline/context.h>
#include <stripline/vis.h>

#include "base/result.h"
#include "suites/kernels/nas/mg_share.h"
#include "suites/kernels/plain_copies.h"
#include "suites/kernels/strided_variants.h"
#include "suites/kernels/symmetric_memory.h"

namespace stripline::suites {

/// Ranks put their points into the ghosts of their neighbours. Variant packed puts into a buffer
/// beside them, together with the flag that says so, which needs no leave: of two buffers that take
/// turns, one is free whenever the neighbours' faces of the step before have come. So do untuned,
/// tuned, guarded and forced with faces that do not lie in one piece. All else is put to where the
/// ghosts belong. blocking, fine (point by point) and hand do so once the neighbour has said that
/// it entered the step, wait until the points are there, and raise the flag then; with hand what
/// lies in one piece takes its flag along. untuned, tuned, guarded and forced let every put raise
/// its flag. They need no leave for ghosts either, but in the first step after a sum: the ghosts
/// that a step writes are not read after the computation of the step before it, whose faces have
/// come (level 1, which the solver clears in between, is never divided). What they put may leave
/// while the next step computes. Ranks wait for no one but their neighbours, except where the
/// coarse grid is gathered, and in variants plain, plain_hand and bulk: these copy what they have
/// packed into the buffers of packed, and a barrier of all ranks stands for the flags of an axis.
///
/// One rank's; a rank is one thread.
class MgTransfers {
 public:
  /// Collective. Errors as Context::new_symmetric_array().
  static Result<MgTransfers> create(Context& context, const StridedManner& manner,
                                    const nas::MgPartition& partition);

  /// The memory for this rank's share.
  std::span<double> shared() const { return {memory_.here(), partition_.shared_elements()}; }

  // The steps; nas/mg_solver.h says what they do.
  void ghosts(nas::MgShare& share, nas::MgStep step);
  void gather(nas::MgShare& share, nas::MgStep step);
  double sum(nas::MgShare& share, double value);
  double maximum(nas::MgShare& share, double value);

 private:
  // A face of a neighbour that this rank fills, and its own one on the opposite side.
  struct Side {
    rank_t peer = 0;
    size_t axis = 0;
    bool up = false;  // the side of the peer's ghosts
    size_t index() const { return 2 * axis + (up ? 1 : 0); }
  };
  enum class Flag { entered, filled };
  static constexpr size_t kSides = 6;
  static constexpr size_t kTurns = 2;

  MgTransfers(Context& context, const StridedManner& manner, const nas::MgPartition& partition,
              SymmetricMemory<double> memory, SymmetricMemory<uint64_t> flags);
  static size_t largest_face(const nas::MgPartition& partition);

  static bool packs(StridedVariant variant) {
    return variant == StridedVariant::packed || is_plain(variant);
  }
  bool packs() const { return packs(manner_.variant); }
  Side side(size_t axis, bool up) const;
  future put(const nas::MgBlock& block, size_t offset, rank_t peer);
  void put_elements(const nas::MgBlock& block, size_t offset, rank_t peer);
  future put_with_flag(const double* source, size_t offset, size_t count, const Side& theirs);
  global_ptr<uint64_t> flag_on(rank_t peer, Flag flag, size_t index) const;
  void raise(Flag flag, rank_t peer, size_t index);
  void await(Flag flag, size_t index);
  size_t buffer_place(size_t index) const;
  void put_faces(const nas::MgShare& share, nas::MgStep step, size_t axis);
  void put_signalled_faces(const nas::MgShare& share, nas::MgStep step, size_t axis);
  void await_departure(size_t turn);
  void await_departures();
  void put_packed_faces(nas::MgShare& share, nas::MgStep step, size_t axis);
  void copy_packed_faces(const nas::MgShare& share, nas::MgStep step, size_t axis);
  size_t pack_face(const nas::MgFace& face, size_t index);
  void unpack_face(const nas::MgShare& share, nas::MgStep step, size_t axis, bool up);

  Context* context_;
  StridedManner manner_;
  nas::MgPartition partition_;
  size_t face_elements_;
  SymmetricMemory<double> memory_;   // the share's, then [turn][side] of face_elements_
  SymmetricMemory<uint64_t> flags_;  // entered [side], filled [turn][side]: the last step
  uint64_t step_ = 0;

  CopyCalls copies_;
  std::array<std::vector<double>, kSides> packed_;  // to leave
  std::array<future, kSides> leaving_;
  std::array<std::array<future, kSides>, kTurns> departing_;  // from their place
  bool has_leave_ = false;     // of the neighbours, whose faces of the last step have come
  std::vector<double> block_;  // of gather()
  std::vector<double> blocks_;
};

}  // namespace stripline::suites
