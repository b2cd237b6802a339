// The exchange of NAS BT and SP (nas/adi_solver.h) over a Context, in the variants of
// nas_variants.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stripline/context.h>
#include <stripline/vis.h>

#include "base/result.h"
#include "suites/kernels/nas/adi_share.h"
#include "suites/kernels/nas_variants.h"
#include "suites/kernels/symmetric_memory.h"

namespace stripline::suites {

/// Faces: ranks tell their six neighbours that their cells are up to date, and fetch their own
/// ghost layers, each by one strided call, in the order of their cells; the right-hand side of a
/// cell is computed as soon as its layers are here, except in variant blocking, which computes all
/// of them in the end. Variants untuned, tuned and forced put each layer to its place at the
/// neighbour instead, with a flag in the same call, in the order of the neighbour's cells; nobody
/// has to be told that its cells are up to date. Variant packed puts what a neighbour needs of all
/// cells into one buffer there, together with the flag that says so.
///
/// Sweeps: what a cell hands on has no gaps and is put to where it is used, with a flag for each
/// piece; variant blocking waits until it is there and raises the flag then.
///
/// Why nothing is overwritten too early: nas/adi_solver.h. One rank's; a rank is one thread.
class AdiTransfers {
 public:
  /// Collective. `layout` is that of this rank. Errors as Context::new_symmetric_array().
  static Result<AdiTransfers> create(Context& context, const NasManner& manner,
                                     const nas::AdiLayout& layout);

  /// The memory for this rank's share.
  std::span<double> shared() const { return {memory_.here(), layout_.shared_doubles()}; }

  // The steps; nas/adi_solver.h says what they do.
  void copy_faces(nas::AdiShare& share);
  template <typename Body>
  void sweep(const nas::AdiSweepStep& step, Body&& body);
  void sum(std::span<double> values);

 private:
  static constexpr size_t kSides = 6;
  static size_t side_index(int axis, nas::Side side) {
    return 2 * static_cast<size_t>(axis) + (side == nas::Side::high ? 1 : 0);
  }
  // A face of a neighbour, which this rank fills.
  struct Filled {
    nas::AdiFace face;
    rank_t peer = 0;
    size_t flag = 0;  // of the peer's
  };
  struct Outgoing {
    std::vector<nas::AdiRegion> regions;  // of this rank's memory, as the peer has its faces
    std::vector<double> packed;
    future leaving;
  };

  AdiTransfers(Context& context, const NasManner& manner, const nas::AdiLayout& layout,
               SymmetricMemory<double> memory, SymmetricMemory<uint64_t> flags);
  // The doubles that a rank fetches on one side of its cells, at most.
  static size_t side_doubles(const nas::AdiLayout& layout);

  void raise(rank_t peer, size_t flag);
  void await(size_t flag);
  // The flag of a piece of a sweep at the boundary of two slices.
  size_t sweep_flag(const nas::AdiSweepStep& step, int boundary, size_t piece) const;
  void hand_on(const nas::AdiSweepStep& step, size_t begin, size_t end, size_t flag);

  void copy_packed_faces(nas::AdiShare& share);
  // Of the faces that this rank has, by the place in its list.
  static size_t face_flag(size_t face) { return kSides + face; }
  void plan_filling();
  void put_faces(nas::AdiShare& share);
  future fetch(const nas::AdiFace& face);
  future fill(const Filled& filled);

  Context* context_;
  NasManner manner_;
  nas::AdiLayout layout_;
  std::vector<nas::AdiFace> faces_;  // by cell
  size_t side_doubles_;
  SymmetricMemory<double> memory_;  // the share's, then [side] of side_doubles_
  // [side], [face], then those of sweeps: the last iteration
  SymmetricMemory<uint64_t> flags_;
  uint64_t iteration_ = 0;

  std::vector<future> arriving_;  // [face]
  std::vector<future> leaving_;   // of this iteration's sweeps
  std::array<Outgoing, kSides> outgoing_;
  std::vector<Filled> filled_;
  std::vector<future> filling_;  // [filled]
};

template <typename Body>
void AdiTransfers::sweep(const nas::AdiSweepStep& step, Body&& body) {
  // What comes along the elimination crosses the boundary below this slice, and what comes back
  // the one above it.
  const int before = step.forward ? step.stage - 1 : step.stage;
  const int behind = step.forward ? step.stage : step.stage - 1;
  const size_t pieces = std::min(manner_.pieces, step.lines);
  for (size_t piece = 0; piece < pieces; ++piece) {
    const size_t begin = step.lines * piece / pieces;
    const size_t end = step.lines * (piece + 1) / pieces;
    if (step.receives) await(sweep_flag(step, before, piece));
    double* const mine = memory_.here() + begin * step.width;
    body(begin, end, step.receives ? mine + step.in : nullptr,
         step.sends ? mine + step.out : nullptr);
    if (step.sends) hand_on(step, begin, end, sweep_flag(step, behind, piece));
  }
}

}  // namespace stripline::suites
