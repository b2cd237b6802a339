// The knee of o(b,S): what it costs to issue b operations of S bytes back to back.
//
// While the queue has room each issue costs o(S). It holds Q operations; the i-th one leaves it at
//   d(i) = o + i drain                      a put: the NIC sends one after the other
//   d(i) = o + reply + (i - 1) drain        a get: nothing leaves before the first reply; an active
//                                           message: nothing before the first one was served
// with drain = g + S G. Issue number b waits for the departure of number b - Q, so that a burst
// takes
//   T(b) = o b                              for b <= Q
//   T(b) = max(o b, d(b - Q) + o)           beyond
// A queue that is shorter than a round trip, Q max(o, drain) < o + reply, is refilled in waves,
// each a round trip after the one before it: number b = k Q + j, 1 <= j <= Q, has been issued at
//   T(b) = o + k (o + reply) + (j - 1) max(o, drain)
// and a long stream takes (o + reply) / Q for each operation, whatever the NIC could do. At bursts
// that are multiples of Q this is nearly what a queue of 2 Q - 1 and a NIC with that drain take:
// only other bursts distinguish the two.
// A fit linear in b cannot show the knee, and where posting is slower than draining there is none:
// Q is then only known to be at least the largest burst (Iancu et al., section 4;
// docs/measurement.md). Q is common to all sizes, in operations or in bytes. One operation always
// finds room. Two bursts say nothing of Q: any depth between them explains what the larger one
// takes longer, noise included.
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
  /// Time per operation in a long stream where the NIC or the queue is the bottleneck: one more
  /// observation of the drain, where the queue is not refilled in waves. Without it two bursts
  /// beyond the knee are needed to place the knee.
  std::optional<double> stream_s;
  /// Time from the end of an issue until the operation leaves the queue: gets, until the data is
  /// there, 2L + S G; active messages, until the handler has run, L + S G and the handler. Absent
  /// for operations that leave the queue when they are sent.
  std::optional<double> reply_s;
};

/// What fills up first.
enum class QueueLimit { none_seen, operations, bytes };

/// Marginal costs of one size.
struct BurstCost {
  uint64_t bytes = 0;
  double o_s = 0.0;      ///< Per operation while the queue has room.
  double drain_s = 0.0;  ///< Per operation of a long burst; equal to o_s when no knee was seen.
};

struct HingeFit {
  QueueLimit limit = QueueLimit::none_seen;
  /// Q in operations, or in bytes. With none_seen a lower bound, or infinite where no burst between
  /// the smallest and the largest one was measured: then nothing is known of Q.
  double queue_depth = 0.0;
  double largest_burst = 0.0;  ///< Operations.
  /// Largest burst that certainly met a queue with room at every size; o is read up to there.
  double straight_burst = 0.0;
  std::vector<BurstCost> costs;  ///< One per curve, in order.
  double sse = 0.0;
};

/// Fits all sizes jointly and decides whether there is a knee. Errors: invalid_argument for no
/// curve, an empty one, a burst below 1, or a value that is not finite or negative.
Result<HingeFit> fit_hinge(std::span<const BurstCurve> curves);

/// Fits Q given that a knee of this kind exists, e.g. in the data of one run, so that runs can be
/// compared. nullopt when no burst lies beyond a knee here, so that Q is not identifiable from this
/// data. Errors: as fit_hinge(); invalid_argument for none_seen.
Result<std::optional<HingeFit>> fit_known_hinge(std::span<const BurstCurve> curves,
                                                QueueLimit limit);

}  // namespace stripline::fit
