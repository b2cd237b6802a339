// The compute estimate: what the local work of a loop costs, from measured primitives (Iancu et
// al., section 6.1). It is meant to be cheap and rather too low than too high: a decision made with
// too little computation hides less than it could, one made with too much pays for strips in vain.
#pragma once

#include <cstdint>
#include <vector>

#include "optimizer/cost/corner.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::cost {

/// What one iteration of a loop does with each element of its remote array: equation (2) of the
/// paper, LC = (N_LocalRef, N_IntALU, N_FPALU, N_Div). The reference to the remote element itself
/// is not among the local ones.
struct LoopClass {
  uint32_t n_local_ref = 0;
  uint32_t n_int_alu = 0;
  uint32_t n_fp_alu = 0;
  uint32_t n_div = 0;
  bool operator==(const LoopClass&) const = default;
};

/// How the elements are gone through.
struct LoopShape {
  uint32_t sweeps = 1;        ///< times each remote element is used; the first one misses the cache
  uint64_t remote_bytes = 0;  ///< footprint of the remote data
  uint64_t local_bytes = 0;   ///< footprint of the local references; 0: taken as in cache
  bool operator==(const LoopShape&) const = default;
};

/// Immutable; safe to share between threads.
class ComputeCosts {
 public:
  /// No knowledge: every loop is estimated as free.
  ComputeCosts() : ComputeCosts(model::ComputeModel{}) {}

  explicit ComputeCosts(const model::ComputeModel& compute);

  /// Seconds per element of each primitive over a footprint: interpolated between the measured ones
  /// on a logarithmic scale, the nearest measured one outside of them, 0 where there are none.
  double red_in(uint64_t bytes, Corner corner = Corner::nominal) const;
  double red_out(uint64_t bytes, Corner corner = Corner::nominal) const;
  double vec_in(uint64_t bytes, Corner corner = Corner::nominal) const;
  double vec_out(uint64_t bytes, Corner corner = Corner::nominal) const;
  /// One dependent floating-point operation.
  double alu(Corner corner = Corner::nominal) const;

  /// Seconds per remote element. The remote reference with one operation counts as a reduction, out
  /// of cache in the first sweep and in cache after; local references count in pairs, each with one
  /// operation, as a vector operation, a single one as a reduction. Operations left over are
  /// independent between iterations and count as much as an in-cache vector operation, which is
  /// measured at full throughput, or the dependent one if that is less; integer operations run
  /// beside as many references and floating-point operations; a division counts as a dependent
  /// operation.
  double seconds_per_element(const LoopClass& loop, const LoopShape& shape,
                             Corner corner = Corner::nominal) const;
  /// The same without the first sweep's reference to the remote element.
  double seconds_beside_first_read(const LoopClass& loop, const LoopShape& shape,
                                   Corner corner = Corner::nominal) const;

 private:
  struct Curve {
    std::vector<uint64_t> bytes;     // ascending
    std::vector<double> log2_bytes;  // of these
    std::vector<double> seconds;     // kCorners runs
    double at(uint64_t size, Corner corner) const;
  };
  static Curve compile(const std::vector<model::ComputePoint>& points);

  Curve red_in_, red_out_, vec_in_, vec_out_, alu_;
};

}  // namespace stripline::cost
