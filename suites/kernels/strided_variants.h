// How kernels with strided transfers (NAS MG, SP and BT, PRK stencil) communicate: their variants
// and factors.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <stripline/context.h>
#include <stripline/vis.h>

#include "base/result.h"
#include "optimizer/experiment/experiment.h"
#include "runtime/vis/transfers.h"

namespace stripline::suites {

inline constexpr const char* kMethodFactor = "method";
inline constexpr const char* kPiecesFactor = "pieces";

/// In the order of the declaration. All but `fine` and `packed` move faces by strided calls of the
/// runtime.
enum class StridedVariant {
  blocking,  ///< one call after the other, each waited for; no model
  fine,      ///< one element after the other, each waited for, as the naive program has it
  hand,      ///< all that can be in flight at the same time, then waiting; no model
  packed,    ///< packed into one contiguous put for each neighbour, and unpacked by the program
  untuned,   ///< puts of faces with a signal, as far as they can be in flight; no model
  tuned,     ///< the calls of untuned, carried out as the loaded model says
  guarded,   ///< tuned as programs have it: given up where it loses (VisOptions::self_check)
  forced,    ///< the calls of untuned, carried out by the method that a factor names
  // Not of all kernels: see plain_copies.h.
  plain,        ///< contiguous blocking copies between barriers, packed by the program
  plain_hand,   ///< the same, nonblocking by hand
  bulk,         ///< plain in a bulk region
  bulk_bursts,  ///< the same, with bursts where the program makes many copies
};

/// True if each transfer is waited for before the next one.
constexpr bool waits(StridedVariant variant) {
  return variant == StridedVariant::blocking || variant == StridedVariant::fine;
}

/// True if faces are put by strided calls that take a flag along.
constexpr bool signals(StridedVariant variant) {
  return variant == StridedVariant::untuned || variant == StridedVariant::tuned ||
         variant == StridedVariant::guarded || variant == StridedVariant::forced;
}

/// True if copies lie between barriers, without flags.
constexpr bool is_plain(StridedVariant variant) { return variant >= StridedVariant::plain; }
/// True if that is so in a bulk region.
constexpr bool in_bulk_region(StridedVariant variant) { return variant >= StridedVariant::bulk; }

/// Their names: "blocking" is the baseline. Those of all kernels; and with plain, plain_hand and
/// bulk.
std::vector<std::string> strided_variant_names();
std::vector<std::string> plain_variant_names();

/// What a point says of how to communicate.
struct StridedManner {
  StridedVariant variant = StridedVariant::hand;
  VisOptions transfers;  ///< of strided calls
  size_t pieces = 1;     ///< in which what a sweep hands on leaves a cell (SP, BT)
};

/// The variant of a completed point. Errors: failed_precondition for tuned and guarded when no
/// model is loaded; invalid_argument for a method or pieces that the variant does not take, or a
/// method that the network does not have.
Result<StridedManner> strided_manner(Context& context, const experiment::Point& point);

/// method, for all of these kernels.
experiment::Factor strided_method_factor();
/// pieces, for those with sweeps.
experiment::Factor sweep_pieces_factor();

/// The strided transfers of this rank since the object was created, by how they were carried out.
class VisCounts {
 public:
  explicit VisCounts(Context& context);
  /// Shares, as "packed 40%, contiguous 60%"; "none" if there were none.
  std::string text() const;

 private:
  Context* context_;
  vis::Transfers::Statistics before_;
};

/// The note of a series that was verified.
std::string strided_note(const StridedManner& manner, const VisCounts& counts);

}  // namespace stripline::suites
