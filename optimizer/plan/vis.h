// How one transfer of many regions (vector, indexed, strided) is carried out: by a window of
// contiguous operations, by the network's own scatter and gather lists, by one contiguous get of
// everything from the first to the last byte, or packed into active messages (Iancu et al.,
// section 3; Chen, section 7.3). The choice is the method that is cheapest by the cost model
// (optimizer/cost/pack_costs.h) times what campaigns found that model to be wrong by.
#pragma once

#include <cstdint>
#include <limits>

#include "optimizer/plan/methods.h"
#include "optimizer/plan/strip.h"

namespace stripline::plan {

class VisCosts;  // optimizer/plan/vis_costs.h

/// The transfer, seen from the remote side, after adjacent regions have been merged.
struct VisRequest {
  Direction direction = Direction::get;
  /// Contiguous remote pieces; at least 1. Those of a list that have no gaps, in order, are one.
  uint64_t regions = 1;
  uint64_t region_bytes = 0;   ///< bytes of each, the mean for lists
  uint64_t extent_bytes = 0;   ///< from the first to the last remote byte, inclusive
  uint64_t local_regions = 1;  ///< contiguous local pieces; at least 1
  /// Gets only: reading the bytes between the regions is harmless.
  bool bounding_box_allowed = false;
  uint32_t iov_limit = 1;  ///< remote pieces that one native operation takes; 1: none
  /// Memory for a bounding box, or for the messages of packed transfers, at the initiator; for all
  /// `peers` together.
  uint64_t max_buffer_bytes = std::numeric_limits<uint64_t>::max();
  uint64_t medium_bytes = 0;  ///< of the largest chunk of packed transfers; 0: there are none
  /// Payload of the largest active message. Chunks above it go through a landing zone (vis_lands).
  uint64_t message_bytes = std::numeric_limits<uint64_t>::max();
  ComputeClass compute = ComputeClass::communication_only;
  /// Bytes of each packed message that are neither data nor per region, e.g. a strided shape.
  uint32_t message_header_bytes = 32;
  /// Bytes of each packed message per region in it: 0 for strided transfers, the size of an address
  /// for indexed ones, that of an address and a length for vectors.
  uint32_t region_header_bytes = 0;
  /// Ranks with which transfers like this one are in flight at the same time.
  uint32_t peers = 1;
  /// The service delay counts where it exceeds what was measured for the class; of contiguous
  /// operations, where the target only polls. Whether the flag travels with the data matters for
  /// contiguous puts with a signal.
  static constexpr Fact kFacts =
      Fact::target_polls_only | Fact::flag_with_data | Fact::service_delay;
  Surroundings surroundings;
  /// A put that raises a flag when its data are visible. Predicted times end when the target sees
  /// the flag, not when the initiator knows. The target is taken to wait for it: neither the
  /// service delay nor that of `compute` counts.
  bool signalled = false;
  bool operator==(const VisRequest&) const = default;
};

/// Messages or chunks in flight where nothing was tuned: packing, transfer and unpacking of three
/// overlap, and the replies of a fourth.
inline constexpr uint32_t kDefaultPackedWindow = 4;

/// Contiguous operations in flight where nothing is known.
inline constexpr uint32_t kDefaultPipelinedWindow = 64;

/// Payload of the largest active message of a job whose settings are the defaults, as campaigns
/// run.
inline constexpr uint64_t kUsualMessageBytes = 8184;

/// Memory that a job has for the bounding box, or the messages, of one transfer.
inline constexpr uint64_t kUsualBoxBytes = uint64_t{1} << 20;

/// What describes the regions in a packed message: of a strided transfer, and for each of its
/// dimensions; of a list of regions of one size, and for each of them (runtime/vis/wire.h).
inline constexpr uint32_t kStridedHeaderBytes = 40;
inline constexpr uint32_t kDimensionHeaderBytes = 16;
inline constexpr uint32_t kListHeaderBytes = 8;
inline constexpr uint32_t kListRegionHeaderBytes = 8;

/// The header of a put with a signal, which names its flag.
inline constexpr uint32_t kSignalHeaderBytes = 24;

/// Bytes of data that a packed message has room for at least, beside its headers.
inline constexpr uint64_t kLeastPackedBytes = 16;

/// With this number of messages or fewer, no data go through a landing zone: the round trip of the
/// messages that belong to it takes longer than the messages.
inline constexpr uint64_t kLandingFromMessages = 3;

/// Regions of a list that are shorter on average fill a request before their data fill a slot.
inline constexpr uint64_t kLandingListRegion = 64;

/// Chunks that are in flight to one rank through a landing zone.
inline constexpr uint32_t kLandingSlots = 4;

/// How large they are at most: 64 KiB of data, and what says where they belong.
inline constexpr uint64_t kLandingSlotBytes = uint64_t{65} << 10;

/// A decision.
struct VisPlan {
  const VisMethod method = VisMethod::pipelined;
  const Reason reason = Reason::no_model;  ///< no_model, tuned, forced, or guarded (by RunGuard)
  const uint32_t window = 1;               ///< operations or messages in flight; at least 1
  /// Payload of one packed message, headers included, or of a chunk that lands; at most
  /// medium_bytes. 0 for other methods.
  const uint64_t chunk_bytes = 0;
  /// Seconds until the transfer is complete, or, of a put with a signal, until the target sees it;
  /// 0 without a model.
  const double predicted_s = 0;
  /// The next best method and its time; the plan's own where no other is possible.
  const double runner_up_s = 0;
  const VisMethod runner_up = VisMethod::pipelined;
  /// The interval of the ratio of the two best contains 1: the method is the one that loses least
  /// if the model errs, where losses against the method without a model count twice.
  const bool uncertain = false;
  bool operator==(const VisPlan&) const = default;
};

/// One method to carry out the transfer.
struct VisCandidate {
  VisMethod method = VisMethod::pipelined;
  uint32_t window = 1;
  uint64_t chunk_bytes = 0;  ///< packed only
  bool operator==(const VisCandidate&) const = default;
};

/// A possible method with its window and chunk: the time by the cost model alone, and the factor
/// that corrects it, with the ends of its interval (plan::kUnmeasuredFactor where nothing was
/// measured).
struct VisAlternative {
  VisCandidate candidate;
  double model_s = 0;
  double residual = 1;
  double residual_low = 1;
  double residual_high = 1;
  double predicted_s() const { return model_s * residual; }
};
/// None is pruned.
using VisRecord = Record<VisAlternative, VisMethod>;

/// True if the request and its buffers allow a method. `pipelined` always is.
bool vis_allowed(const VisRequest& request, VisMethod method) noexcept;

/// The plan for a transfer. Without a model (`costs` null, or without the operations of this
/// direction): packed if there are at least two pieces, each smaller than medium_bytes and two
/// messages, as Iancu et al. (section 7) advise for systems that nothing is known of; otherwise
/// pipelined. Pure, allocates nothing.
VisPlan plan_vis(const VisRequest& request, const VisCosts* costs) noexcept;

/// As without a model, as a guard has it carried out in place of another plan.
VisPlan baseline_of_vis(const VisRequest& request) noexcept;

/// plan_vis() with a record of every possible method.
VisPlan plan_vis(const VisRequest& request, const VisCosts* costs, VisRecord& record);

/// The plan that runs a given method, with its predicted time (0 without a model). A chunk or
/// window of 0 means the one plan_vis would use; both are reduced to what the request allows. If it
/// does not allow the method at all, the plan is that of plan_vis, and its reason is not `forced`.
VisPlan force_vis(const VisRequest& request, const VisCosts* costs, VisMethod method,
                  uint64_t chunk_bytes, uint32_t window) noexcept;

/// True if packed chunks of this size travel by operations of the network to and from a landing
/// zone, with messages that say so, instead of in messages.
bool vis_lands(const VisRequest& request, uint64_t chunk_bytes) noexcept;

/// Packed messages that the transfer takes at a chunk size; regions may be cut between messages.
uint64_t vis_message_count(const VisRequest& request, uint64_t chunk_bytes) noexcept;

}  // namespace stripline::plan
