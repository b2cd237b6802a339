// Into how many pieces a stage of a wavefront is cut. Along the stages of a sweep each rank needs
// what another one has computed of the stage before. Handing it on piece by piece, each as soon as
// it is computed, lets it travel while the rest is computed, and the next rank begin sooner; each
// piece costs its overheads (message strip-mining of Iancu et al., section 3, on the side of the
// writer; the "unrolled pipelines" of their section 6.3).
//
// With k pieces of S / k bytes, each of which costs the CPU o, later r, and what the engine does,
// and t from its issue until its reader sees it, the first piece is at the next stage after
// F = C / k + o + t, and a stage keeps a rank busy for B = max(C + k (o + r + overhead), k gap). Of
// a sweep of N stages the longest path is
//
//   T(k) = B + (N - 1) max(F, B)   where every rank has a part of each stage (multipartition)
//   T(k) = B + (N - 1) F           where each stage is another rank's
//
// Where puts need calls of their target, each piece that comes takes s of it, and B is k s longer;
// less of the first stage, to which nothing comes, and by the first piece of a stage that waits for
// it, and serves it meanwhile.
#pragma once

#include <cstdint>

#include "optimizer/plan/decision.h"
#include "optimizer/plan/strip_costs.h"
#include "optimizer/plan/surroundings.h"

namespace stripline::plan {

/// The most pieces of a stage.
inline constexpr uint32_t kMostWavefrontPieces = 64;
/// The size of the flag of a piece.
inline constexpr uint64_t kWavefrontFlagBytes = 8;

/// A stage on one rank: `lines` of which none needs a later one, and each leaves `line_bytes` for
/// the next stage.
struct WavefrontRequest {
  uint64_t lines = 1;
  uint64_t line_bytes = 8;
  double compute_s = 0;  ///< C, of all lines
  uint32_t stages = 2;   ///< N; at least 1
  bool all_busy = true;  ///< every rank has a part of each stage
  /// The flags are those of pieces. Where the target, the next stage's rank, only polls, it does
  /// while it waits for a piece and between its own ones.
  static constexpr Fact kFacts = Fact::nic_ranks | Fact::flag_with_data | Fact::target_polls_only;
  Surroundings surroundings;
  bool operator==(const WavefrontRequest&) const = default;
};

/// A decision. Seconds are of a sweep.
struct WavefrontPlan {
  const uint32_t pieces = 1;
  const Reason reason = Reason::no_model;
  const double predicted_s = 0;  ///< 0 without a model
  const double baseline_s = 0;   ///< in one piece; 0 without a model
  const double gain_low = 0;     ///< as StripPlan's
  bool operator==(const WavefrontPlan&) const = default;
};

/// What a stage in a number of pieces is predicted to take, in seconds.
struct WavefrontTime {
  double first_s = 0;  ///< F: from its beginning until its first piece is at the next stage
  double busy_s = 0;   ///< B: that it keeps a rank busy
  double step_s = 0;   ///< from the beginning of a stage to that of the next one
  double sweep_s = 0;  ///< T
  bool operator==(const WavefrontTime&) const = default;
};

/// The plan for a stage. One piece without a model (`costs` null, or without puts), and where more
/// are not surely faster by more than the margin of the model. Pure, allocates nothing.
WavefrontPlan plan_wavefront(const WavefrontRequest& request, const StripCosts* costs) noexcept;

/// The stage in one piece, as a guard has it carried out in place of another plan.
WavefrontPlan baseline_of_wavefront(const WavefrontRequest& request,
                                    const StripCosts* costs) noexcept;

/// At a corner of the parameters. `costs` must hold puts.
WavefrontTime predict_wavefront(const WavefrontRequest& request, const StripCosts& costs,
                                uint32_t pieces,
                                cost::Corner corner = cost::Corner::nominal) noexcept;

/// Numbers of pieces; none is pruned.
using WavefrontRecord = Record<uint32_t, uint32_t>;

/// The same plan, with a record of what was considered.
WavefrontPlan plan_wavefront(const WavefrontRequest& request, const StripCosts* costs,
                             WavefrontRecord& record);

}  // namespace stripline::plan
