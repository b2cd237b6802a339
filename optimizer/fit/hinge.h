// The knee of o(b,S): what it costs to issue b operations of S bytes back to back.
//
// Up to Q operations outstanding each issue costs o(S); beyond, issuing waits for the queue and
// costs max(o(S), g + S G). Cumulated over a burst that is a hinge:
//   T(b) = o min(b, Q) + drain max(b - Q, 0),   drain = max(o, g + S G) >= o
// A fit linear in b cannot show the knee, and where posting is slower than draining there is none:
// Q is then only known to be at least the largest burst (Iancu et al., section 4;
// specs/tuning-service.md, section 2.4). Q is common to all sizes, in operations or in bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace stripline::fit {

/// Time to issue a burst, e.g. the median of its repetitions.
struct BurstPoint {
  double burst = 0.0;   ///< Operations, at least 1.
  double time_s = 0.0;  ///< From before the first to after the last issue.
  double weight = 1.0;  ///< 1/time^2 makes residuals relative, which the acceptance test assumes.
};

/// All bursts of one operation size.
struct BurstCurve {
  uint64_t bytes = 0;
  std::vector<BurstPoint> points;
  /// Time per operation in a long stream, where known from the flood experiment. Used for sizes
  /// that have fewer than two bursts beyond the knee, from which alone the knee cannot be placed.
  std::optional<double> stream_s;
};

/// What fills up first.
enum class QueueLimit { none_seen, operations, bytes };

/// Marginal costs of one size.
struct BurstCost {
  uint64_t bytes = 0;
  double o_s = 0.0;      ///< Per operation while the queue has room.
  double drain_s = 0.0;  ///< Per operation beyond; equal to o_s when no knee was seen.
};

struct HingeFit {
  QueueLimit limit = QueueLimit::none_seen;
  double queue_depth = 0.0;    ///< Q in operations, or in bytes. With none_seen: the largest burst.
  double largest_burst = 0.0;  ///< Operations.
  std::vector<BurstCost> costs;  ///< One per curve, in order.
  double sse = 0.0;
};

struct HingeOptions {
  double min_extra = 0.05;  ///< Relative rise of the marginal cost that counts as a knee.
  double bic_margin = 6.0;  ///< BIC advantage over a line that counts as evidence for a knee.
};

/// Fits all sizes jointly and decides whether there is a knee. Errors: invalid_argument for no
/// curve, an empty one, a burst below 1, or a value that is not finite or negative.
Result<HingeFit> fit_hinge(std::span<const BurstCurve> curves, const HingeOptions& options = {});

/// Fits Q given that a knee of this kind exists, e.g. in the data of one run, so that runs can be
/// compared. nullopt when no burst lies beyond a knee here, so that Q is not identifiable from this
/// data. Errors: as fit_hinge(); invalid_argument for none_seen.
Result<std::optional<HingeFit>> fit_known_hinge(std::span<const BurstCurve> curves,
                                                QueueLimit limit);

}  // namespace stripline::fit
