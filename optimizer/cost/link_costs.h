// One operation (get, put or am) on one path, compiled from its OperationModel: o, L, gap, r and
// what follows from them, in a few nanoseconds. The equations are those of docs/measurement.md
// (LogGP extended by Iancu et al., section 4).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "optimizer/cost/corner.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::cost {

/// The parameters that hold for one size. Times in seconds.
struct MessageCosts {
  double o_base = 0;
  double o_per_byte = 0;
  double L = 0;  ///< of the wire
  double g = 0;
  double G = 0;  ///< per byte
  double r_base = 0;
  double r_per_byte = 0;
  double r_saved = 0;  ///< of r_base, where one look at the network retires several operations
  double s_base = 0;
  double s_per_byte = 0;

  /// CPU time to issue while the queue has room.
  double o(double bytes) const { return o_base + o_per_byte * bytes; }
  /// CPU time to retire an operation that has arrived.
  double r(double bytes) const { return r_base + r_per_byte * bytes; }
  /// The same of one among many that are retired together, as in a stream.
  double r_batched(double bytes) const {
    const double left = r(bytes) - r_saved;
    return left > 0 ? left : 0;
  }
  /// CPU time of the target to serve an operation.
  double s(double bytes) const { return s_base + s_per_byte * bytes; }
  /// NIC occupancy: the distance of two messages in a stream.
  double gap(double bytes) const { return g + G * bytes; }
  /// From injection to completion on an idle network: 2 L + G S.
  double round_trip(double bytes) const { return 2 * L + G * bytes; }
  /// One blocking get or put: o + 2 L + G S + r.
  double blocking(double bytes) const { return o(bytes) + round_trip(bytes) + r(bytes); }
  /// One active message, from before sending until the handler has run: o + L + G S + r.
  double one_way(double bytes) const { return o(bytes) + L + G * bytes + r(bytes); }
  /// Per operation of a long stream: max(o + r_batched, g + G S).
  double stream(double bytes) const {
    const double cpu = o(bytes) + r_batched(bytes);
    const double nic = gap(bytes);
    return cpu > nic ? cpu : nic;
  }
};

/// Where a switch of protocols was not measured exactly (model::SwitchBand), a size costs what the
/// dearer of the two costs, so that a planner that takes it is right on both sides; at Corner::low
/// what the cheaper one does, for what a plan is compared with. A size beside such a band costs
/// what its own protocol does.
///
/// Immutable; safe to share between threads.
class LinkCosts {
 public:
  /// An operation that costs nothing; assign a compiled one.
  LinkCosts() : LinkCosts(model::OperationModel{}) {}

  /// Compiles. The model is valid (model/validate.h); parameters it does not hold count as zero. A
  /// queue depth that is missing, or only bounded below, limits nothing.
  explicit LinkCosts(const model::OperationModel& operation);

  /// The parameters for a size. The reference lives as long as this object, and is the same for all
  /// sizes of a segment.
  const MessageCosts& at(uint64_t bytes, Corner corner = Corner::nominal) const {
    return corners_at(bytes)[static_cast<size_t>(corner)];
  }

  /// The same of all corners, in their order.
  std::span<const MessageCosts, kCorners> corners_at(uint64_t bytes) const {
    uint32_t index = first_by_width_[static_cast<size_t>(std::bit_width(bytes))];
    while (bytes >= ends_[index] && index + 1 < ends_.size()) ++index;
    return std::span<const MessageCosts, kCorners>(&segments_[index * kCorners], kCorners);
  }

  double o(uint64_t bytes) const { return at(bytes).o(static_cast<double>(bytes)); }
  double L(uint64_t bytes) const { return at(bytes).L; }
  double gap(uint64_t bytes) const { return at(bytes).gap(static_cast<double>(bytes)); }
  double r(uint64_t bytes) const { return at(bytes).r(static_cast<double>(bytes)); }
  double blocking(uint64_t bytes) const { return at(bytes).blocking(static_cast<double>(bytes)); }
  double stream(uint64_t bytes) const { return at(bytes).stream(static_cast<double>(bytes)); }

  /// Time to issue `burst` operations back to back: o(b,S), the hinge at Q, summed over the burst.
  double issue(uint64_t burst, uint64_t bytes) const {
    return issue_time(at(bytes), static_cast<double>(bytes), burst, queue_depth_);
  }

  /// The same, for parameters at hand.
  static double issue_time(const MessageCosts& message, double bytes, uint64_t burst,
                           uint64_t queue_depth) {
    const double o = message.o(bytes);
    if (burst <= queue_depth) return static_cast<double>(burst) * o;
    const double gap = message.gap(bytes);
    return static_cast<double>(queue_depth) * o +
           static_cast<double>(burst - queue_depth) * (o > gap ? o : gap);
  }

  /// Q, the operations outstanding before issuing blocks; UINT32_MAX if the model does not say, or
  /// only knows a lower bound.
  uint32_t queue_depth() const { return queue_depth_; }

  /// The sizes at which the next segment begins, ascending: protocol switches, or both ends of
  /// their bands.
  std::span<const uint64_t> breakpoints() const { return {ends_.data(), ends_.size() - 1}; }

 private:
  std::vector<MessageCosts> segments_;         // by segment, then corner
  std::vector<uint64_t> ends_;                 // exclusive; the last one is the largest integer
  std::array<uint32_t, 65> first_by_width_{};  // first segment that may hold a size of this width
  uint32_t queue_depth_ = std::numeric_limits<uint32_t>::max();
};

}  // namespace stripline::cost
