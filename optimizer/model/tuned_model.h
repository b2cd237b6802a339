// The tuned model: what a campaign learned of a machine, as values. The file form is in
// model_json.h, the reference in docs/model-file.md.
//
// Network quantities follow LogGP, extended as Iancu et al. (section 4) do:
//
// * o(S), CPU time to issue one operation of S bytes while the queue has room,
//   o_base + S o_per_byte.
// * L, one-way latency of the wire without any overhead (Iancu's L is the round trip).
// * g, G: a message occupies the NIC for g + S G; a lone message pays only S G.
// * r(S), CPU time of the initiator to retire one operation that has already arrived,
//   r_base + S r_per_byte.
// * s(S), CPU time of the target to serve one operation, s_base + S s_per_byte, where its calls do
//   that and not a NIC. The initiator pays it, too, where the target does the same as it at the
//   same time: then both serve as many operations as they make.
// * Q, operations in the NIC queue before issuing blocks; then issuing costs max(o(S), g + S G),
//   which makes o(b,S) a hinge in the burst length b.
//
// A blocking get or put takes o(S) + 2 L + S G + r(S); an active message arrives after
// o(S) + L + S G and costs its target r(S).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/model/collective.h"
#include "optimizer/model/parameter.h"
#include "optimizer/model/rma_model.h"
#include "optimizer/model/service_model.h"
#include "optimizer/model/vis_model.h"

namespace stripline::model {

/// The version of the file format this build writes and reads.
inline constexpr int kSchemaVersion = 1;

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
  std::optional<Parameter> s_base_s;
  std::optional<Parameter> s_per_byte_s;
};

/// What the CPU pays for data that come into a private buffer of so many bytes, all of which is
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
  std::optional<Parameter> queue_depth;  ///< Q, operations
  std::vector<BufferPoint> buffers;      ///< gets only; by size, ascending
};

/// One path between two ranks (paths.h).
struct PathModel {
  std::optional<OperationModel> put;
  std::optional<OperationModel> get;
  std::optional<OperationModel> am;
};

/// Seconds per element of a primitive over a footprint of so many bytes.
struct ComputePoint {
  uint64_t bytes = 0;
  Parameter seconds_per_element;
};

/// Compute primitives on doubles (Iancu et al., section 6.1), each by footprint, ascending.
struct ComputeModel {
  std::vector<ComputePoint> red_in;   ///< sum += a[i], data in cache
  std::vector<ComputePoint> red_out;  ///< the same, data out of cache
  std::vector<ComputePoint> vec_in;   ///< a[i] += b[i]
  std::vector<ComputePoint> vec_out;
  std::vector<ComputePoint> alu;  ///< one dependent floating-point operation, no memory
};

/// What strip-mined loops need besides network and compute.
struct StripModel {
  std::optional<Parameter> strip_overhead_s;  ///< engine cost per strip beyond o and r
  std::optional<Parameter> minimum_gain;      ///< relative predicted gain below which vectorise
};

/// Which algorithm a collective operation takes, for so many ranks and bytes in
/// [from_bytes, to_bytes), counted as in CollectiveRequest.
struct CollectiveRule {
  CollectiveOperation operation = CollectiveOperation::broadcast;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::binomial;
  uint32_t min_ranks = 0;
  uint32_t max_ranks = 0;  ///< included
  uint64_t from_bytes = 0;
  uint64_t to_bytes = 0;
  uint64_t bytes = 0;  ///< the size that was measured, which lies in the range
  Parameter time_s;    ///< of the operation at that size, until the last rank has its result
  /// By how much less than the default's time; absent where the default is taken.
  std::optional<Parameter> gain;
};

/// No two rules of an operation hold for the same number of ranks and bytes.
struct CollectiveModel {
  std::vector<CollectiveRule> rules;
};

enum class MatchRule { hard, soft, ignore };

/// One fact about the machine a model was measured on, and what a difference means: hard refuses
/// the model, soft warns, ignore only informs.
struct FingerprintField {
  std::string value;
  MatchRule rule = MatchRule::soft;
};
using Fingerprint = std::map<std::string, FingerprintField>;

struct Provenance {
  std::vector<std::string> campaigns;
  std::string sample_sha256;  ///< over the canonical form of all series used
  std::string fitter_version;
  std::string fitted_at;  ///< RFC 3339; given to the fitter, which reads no clock
  /// Why it is provisional, of fewer runs than its intervals should rest on; empty: it is not.
  std::string provisional;
};

/// Where the model may be believed.
struct Domain {
  uint32_t min_ranks = 0;
  uint32_t max_ranks = 0;
  uint64_t min_bytes = 0;
  uint64_t max_bytes = 0;
};

struct TunedModel {
  std::string name;
  Provenance provenance;
  Fingerprint fingerprint;
  Domain domain;
  std::map<std::string, PathModel> network;  ///< by path name
  std::optional<ComputeModel> compute;
  std::optional<StripModel> strip;
  std::optional<PackModel> pack;
  std::map<std::string, VisModel> vis;  ///< by path name
  std::optional<CollectiveModel> collective;
  std::optional<RmaModel> rma;
  std::optional<ServiceModel> service_levels;
  /// Top-level sections this build does not know, as canonical JSON text: kept on rewriting.
  std::map<std::string, std::string> unknown_sections;
};

}  // namespace stripline::model
