// The exchange of NAS BT and SP (nas/adi_solver.h) over a Context, in the variants of
// strided_variants.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <stripline/context.h>
#include <stripline/vis.h>
#include <stripline/wavefront.h>

#include "base/result.h"
#include "suites/kernels/nas/adi_share.h"
#include "suites/kernels/plain_copies.h"
#include "suites/kernels/strided_variants.h"
#include "suites/kernels/symmetric_memory.h"

namespace stripline::suites {

/// Faces: ranks tell their six neighbours that their cells are up to date, and fetch their own
/// ghost layers, each by one strided call, in the order of their cells; the right-hand side of a
/// cell is computed as soon as its layers are here, except in variants blocking and fine, which
/// compute all of them in the end; fine fetches one double after the other. Variants untuned,
/// tuned, guarded and forced put the layers that a neighbour has on one side of its cells into a
/// buffer there instead, by one call with a flag, and it copies those of a cell before it computes
/// that; no one has to be notified that its cells are up to date. Variant packed does the same by
/// hand, and copies all layers first.
///
/// Sweeps: what a cell hands on has no gaps and is put to where it is used, as a wavefront whose
/// pieces are planned (tuned) or given; variant blocking puts all of it, waits until it is there
/// and raises a flag then, and fine does so double by double.
///
/// Variants plain, plain_hand, bulk and bulk_bursts have a barrier of all ranks where something is
/// to have come. Ghost layers are fetched run by run, in one burst in bulk_bursts, or packed and
/// put, layer by layer (PlainFaces); a sweep puts the results of each row of lines when they are
/// there.
///
/// Why nothing is overwritten too early: nas/adi_solver.h. One rank's; a rank is one thread.
class AdiTransfers {
 public:
  /// How plain programs move ghost layers: NPB's BT in UPC mostly gets, and SP puts (Chen,
  /// Optimizing PGAS Programs for Cluster Architectures, 2007, table 3.2).
  enum class PlainFaces { gets, puts };

  /// Collective. `layout` is that of this rank. Errors as Context::new_symmetric_array().
  static Result<AdiTransfers> create(Context& context, const StridedManner& manner,
                                     const nas::AdiLayout& layout,
                                     PlainFaces plain_faces = PlainFaces::puts);

  /// The memory for this rank's share.
  std::span<double> shared() const { return {memory_.here(), layout_.shared_doubles()}; }

  // The steps; nas/adi_solver.h says what they do.
  void copy_faces(nas::AdiShare& share);
  template <typename Body>
  void sweep(const nas::AdiSweepStep& step, Body&& body);
  void sum(std::span<double> values);

  /// The most pieces in which a stage of a sweep left this rank last; 1 where none did.
  uint32_t most_pieces() const;

 private:
  static constexpr size_t kSides = 6;
  static size_t side_index(int axis, nas::Side side) {
    return 2 * static_cast<size_t>(axis) + (side == nas::Side::high ? 1 : 0);
  }
  // The faces of a neighbour that this rank fills.
  struct Filled {
    rank_t peer = 0;
    size_t side = 0;                                     // of the peer's
    std::vector<nas::AdiRegion> regions;                 // of this rank's memory
    std::vector<std::pair<const double*, size_t>> runs;  // the same
    size_t doubles = 0;
    future leaving;
  };
  struct Outgoing {
    std::vector<nas::AdiRegion> regions;  // of this rank's memory, as the peer has its faces
    std::vector<double> packed;
    future leaving;
  };

  AdiTransfers(Context& context, const StridedManner& manner, const nas::AdiLayout& layout,
               PlainFaces plain_faces, SymmetricMemory<double> memory,
               SymmetricMemory<uint64_t> flags, Wavefront wavefront);
  static bool puts_packed(const StridedManner& manner, PlainFaces plain_faces) {
    return manner.variant == StridedVariant::packed ||
           (is_plain(manner.variant) && plain_faces == PlainFaces::puts);
  }
  // The doubles that a rank fetches on one side of its cells, at most.
  static size_t side_doubles(const nas::AdiLayout& layout);

  void raise(rank_t peer, size_t flag);
  void await(size_t flag);
  // The boundary of two slices of a sweep.
  size_t crossing(const nas::AdiSweepStep& step, int boundary) const;
  static size_t crossing_flag(size_t crossing) { return kSides + crossing; }

  void copy_packed_faces(nas::AdiShare& share);
  void copy_plain_faces(nas::AdiShare& share);
  void fetch_runs();
  void put_plain_layers();
  template <typename Body>
  void sweep_rows(const nas::AdiSweepStep& step, const Body& lines);
  // Where what comes on a side is put, in the memory of any rank.
  size_t buffer_of(size_t side) const { return layout_.shared_doubles() + side * side_doubles_; }
  std::vector<size_t> places_of_faces() const;
  void plan_filling();
  void put_faces(nas::AdiShare& share);
  future fetch(const nas::AdiFace& face);
  void fetch_elements(const nas::AdiFace& face);
  // All results of a step, waited for.
  void hand_on(const nas::AdiSweepStep& step);
  future fill(const Filled& filled);
  // Return the end of what was written, or read.
  double* pack(const nas::AdiRegion& from, double* packed);
  const double* unpack(const double* packed, const nas::AdiRegion& to);

  Context* context_;
  StridedManner manner_;
  nas::AdiLayout layout_;
  PlainFaces plain_faces_;
  CopyCalls copies_;
  std::vector<nas::AdiFace> faces_;  // by cell
  size_t side_doubles_;
  SymmetricMemory<double> memory_;  // the share's, then [side] of side_doubles_
  // [side], [crossing]: the last iteration
  SymmetricMemory<uint64_t> flags_;
  uint64_t iteration_ = 0;

  std::vector<future> arriving_;  // [face]
  Wavefront wavefront_;
  std::array<Outgoing, kSides> outgoing_;
  std::vector<size_t> buffered_;  // [face], in this rank's memory
  std::array<Filled, kSides> filled_;
};

template <typename Body>
void AdiTransfers::sweep(const nas::AdiSweepStep& step, Body&& body) {
  // What comes along the elimination crosses the boundary below this slice, and what comes back
  // the one above it.
  const int before = step.forward ? step.stage - 1 : step.stage;
  const int behind = step.forward ? step.stage : step.stage - 1;
  double* const mine = memory_.here();
  const auto lines = [&](size_t begin, size_t end) {
    body(begin, end, step.receives ? mine + step.in + begin * step.width : nullptr,
         step.sends ? mine + step.out + begin * step.width : nullptr);
  };
  if (is_plain(manner_.variant)) return sweep_rows(step, lines);
  if (waits(manner_.variant)) {
    if (step.receives) await(crossing_flag(crossing(step, before)));
    lines(0, step.lines);
    if (!step.sends) return;
    hand_on(step);
    raise(step.to, crossing_flag(crossing(step, behind)));
    return;
  }
  Wavefront::Stage<double> stage;
  stage.lines = step.lines;
  stage.width = step.width;
  if (step.receives) stage.comes = crossing(step, before);
  if (step.sends) {
    stage.leaves = crossing(step, behind);
    stage.results = mine + step.out;
    stage.place = memory_.on(step.to) + static_cast<std::ptrdiff_t>(step.to_in);
  }
  wavefront_.run(stage, lines);
}

// All ranks are at the same stage. Bulk regions know phases by where their barriers stand: those of
// the eliminations and back substitutions along an axis have one place each, as in NPB's source.
template <typename Body>
void AdiTransfers::sweep_rows(const nas::AdiSweepStep& step, const Body& lines) {
  static constexpr char kPlace[] = "sweeps along an axis";
  if (step.receives) {
    context_->barrier(CallSite{kPlace, 2 * step.axis + (step.forward ? 0 : 1)});
  }
  const double* const results = memory_.here() + step.out;
  const size_t row = layout_.lines(step.cell, step.axis).across;
  for (size_t begin = 0; begin < step.lines; begin += row) {
    const size_t end = std::min(begin + row, step.lines);
    lines(begin, end);
    if (!step.sends) continue;
    copies_.put(memory_.on(step.to) + static_cast<std::ptrdiff_t>(step.to_in + begin * step.width),
                results + begin * step.width, (end - begin) * step.width);
  }
  copies_.finish();
}

}  // namespace stripline::suites
