// What single operations cost on each path between two ranks: the section `network` of the tuned
// model (docs/model-file.md).
//
// Network quantities follow LogGP, extended as Iancu et al. (section 4) do:
//
// * o(S), CPU time to issue one operation of S bytes while the queue has room,
//   o_base + S o_per_byte.
// * L, latency of the wire without any overhead (Iancu's L is the round trip).
// * g, G: a message occupies the NIC for g + S G; a lone message pays only S G.
// * r(S), CPU time of the initiator to retire one operation that has already arrived,
//   r_base + S r_per_byte. In a stream one look at the network may retire many operations, each for
//   less: r_batched + S r_per_byte.
// * s(S), CPU time of the target to serve one operation, s_base + S s_per_byte, where its calls do
//   that and not a NIC. The initiator pays it, too, where the target does the same as it at the
//   same time: then both serve as many operations as they make.
// * Q, operations in the NIC queue before issuing blocks; then issuing costs max(o(S), g + S G),
//   which makes o(b,S) a hinge in the burst length b.
//
// A blocking get or put takes o(S) + 2 L + S G + r(S); an active message arrives after
// o(S) + L + S G and costs its target r(S).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "optimizer/model/parameter.h"

namespace stripline::model {

struct Section;

/// Where a protocol switches: sizes of up to `after_bytes` go by the one before, those of
/// `by_bytes` and more by the one after. Of those between, measurements do not say which.
struct SwitchBand {
  uint64_t after_bytes = 0;
  uint64_t by_bytes = 0;
  bool operator==(const SwitchBand&) const = default;
};

/// Parameters of one operation for sizes in [from_bytes, to_bytes). Absent ones could not be
/// identified from the samples; planners then treat them as zero.
struct Segment {
  uint64_t from_bytes = 0;
  uint64_t to_bytes = 0;
  std::optional<Parameter> o_base_s;
  std::optional<Parameter> o_per_byte_s;
  std::optional<Parameter> L_s;
  std::optional<Parameter> g_s;
  std::optional<Parameter> G_s_per_byte;
  std::optional<Parameter> r_base_s;
  std::optional<Parameter> r_per_byte_s;
  std::optional<Parameter> r_batched_s;  ///< absent: as r_base_s
  std::optional<Parameter> s_base_s;
  std::optional<Parameter> s_per_byte_s;
  /// The interval of from_bytes, of segments after the first; absent: it is exact.
  std::optional<SwitchBand> begins;
};

/// What the CPU pays for data that come into a private buffer of this many bytes, all of which is
/// used before any of it is used again. Copies into, and reads from, a buffer that does not stay in
/// the caches cost more.
struct BufferPoint {
  uint64_t bytes = 0;
  Parameter retire_s_per_byte;  ///< beyond r(S), which is measured with a small buffer
  Parameter read_s_per_byte;    ///< to go through the data for the first time, as a reduction
};

/// Segments in ascending, gapless order; the last one also serves larger sizes, the first smaller.
struct OperationModel {
  std::vector<Segment> segments;
  /// Q, operations. One that is only a lower bound (Parameter::at_least) limits nothing.
  std::optional<Parameter> queue_depth;
  std::vector<BufferPoint> buffers;  ///< gets only; by size, ascending
};

/// One path between two ranks (paths.h).
struct PathModel {
  std::optional<OperationModel> put;
  std::optional<OperationModel> get;
  std::optional<OperationModel> am;
};

/// No model has more paths.
inline constexpr size_t kMaxPaths = 64;

Section network_section();

}  // namespace stripline::model
