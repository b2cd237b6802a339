// The experiments by name, with the variants and factors by which suites declare them and the
// fitter finds their samples again. What an experiment measures, and with which values, its
// declaration says (suites/); what the fit reads of it, optimizer/fit/sample_table.cc.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace stripline::experiment {

/// Factors, by their names.
namespace factor {
inline constexpr const char* kBurst = "burst";
inline constexpr const char* kBufferBytes = "buffer_bytes";
inline constexpr const char* kBytes = "bytes";
inline constexpr const char* kCell = "cell";
inline constexpr const char* kChunkBytes = "chunk_bytes";
inline constexpr const char* kClass = "class";
inline constexpr const char* kComputeUs = "compute_us";
inline constexpr const char* kCount = "count";
inline constexpr const char* kDirection = "direction";
inline constexpr const char* kDistance = "distance";
inline constexpr const char* kFootprintBytes = "footprint_bytes";
inline constexpr const char* kInFlight = "in_flight";
inline constexpr const char* kIovLimit = "iov_limit";
inline constexpr const char* kMessageBytes = "message_bytes";
/// Counts nodes. Campaigns leave out values above their number of ranks.
inline constexpr const char* kNodes = "nodes";
inline constexpr const char* kPlacement = "placement";
inline constexpr const char* kRegionBytes = "region_bytes";
/// How ranks of one node reach each other: "mapped", "cma". Experiments that have it feed paths
/// within a node, and campaigns make them only when they are asked to.
inline constexpr const char* kSameNode = "same_node";
inline constexpr const char* kScale = "scale";
inline constexpr const char* kServed = "served";
inline constexpr const char* kSpanBytes = "span_bytes";
inline constexpr const char* kStride = "stride";
inline constexpr const char* kStrips = "strips";
inline constexpr const char* kWindow = "window";
/// Threads of a rank that work together on the machine's processors, which emulated networks do not
/// stand for: campaigns over them leave out experiments that have it.
inline constexpr const char* kWorkers = "workers";
}  // namespace factor

/// Variants that are spoken of by name; the others are those of an experiment's list.
namespace variant {
inline constexpr const char* kAlone = "alone";
inline constexpr const char* kAm = "am";
inline constexpr const char* kAppend = "append";
inline constexpr const char* kApply = "apply";
inline constexpr const char* kByHand = "by_hand";
inline constexpr const char* kCalls = "calls";
inline constexpr const char* kCheck = "check";
inline constexpr const char* kCombined = "combined";
inline constexpr const char* kCompute = "compute";
inline constexpr const char* kCopied = "copied";
/// Copies in a bulk region that never waits for them, whatever is faster.
inline constexpr const char* kDeferred = "deferred";
inline constexpr const char* kEngine = "engine";
inline constexpr const char* kFineRegion = "fine_region";
inline constexpr const char* kGet = "get";
inline constexpr const char* kMerge = "merge";
inline constexpr const char* kMessage = "message";
inline constexpr const char* kMiss = "miss";
inline constexpr const char* kNativeIov = "native_iov";
inline constexpr const char* kPack = "pack";
inline constexpr const char* kProvider = "provider";
inline constexpr const char* kPut = "put";
inline constexpr const char* kRead = "read";
/// Runs where a thread serves ranks while their programs compute. Emulated networks have none:
/// campaigns over them leave experiments out that have it.
inline constexpr const char* kThread = "thread";
inline constexpr const char* kUnpack = "unpack";
inline constexpr const char* kWaited = "waited";
}  // namespace variant

/// An experiment that the catalogue knows.
struct Known {
  const char* name;
  /// In the order of the declaration, the baseline first; empty where the suite alone knows them.
  std::array<const char*, 12> variant_names{};

  /// The same as declarations hold them.
  std::vector<std::string> variants() const {
    std::vector<std::string> names;
    for (const char* one : variant_names) {
      if (one != nullptr) names.emplace_back(one);
    }
    return names;
  }
};
inline bool operator==(const std::string& name, const Known& known) { return name == known.name; }

/// What a family's experiments are called before the name of what they are about.
inline constexpr std::string_view kMicroPrefix = "micro.";
inline constexpr std::string_view kKernelPrefix = "kernel.";
inline constexpr std::string_view kNodePrefix = "micro.node_";
inline constexpr std::string_view kCollectivePrefix = "micro.collective_";
inline constexpr std::string_view kNasPrefix = "kernel.nas_";

namespace micro {
inline constexpr Known kLatency{"micro.latency", {variant::kGet, variant::kPut, variant::kAm}};
inline constexpr Known kIssue{"micro.issue", {variant::kGet, variant::kPut, variant::kAm}};
inline constexpr Known kFlood{"micro.flood", {variant::kGet, variant::kPut}};
inline constexpr Known kServe{"micro.serve", {variant::kGet, variant::kPut}};
inline constexpr Known kOverlap{"micro.overlap", {variant::kGet, variant::kPut}};
inline constexpr Known kNodeLatency{"micro.node_latency",
                                    {variant::kGet, variant::kPut, variant::kAm}};
inline constexpr Known kNodeIssue{"micro.node_issue", {variant::kGet, variant::kPut, variant::kAm}};
inline constexpr Known kNodeFlood{"micro.node_flood", {variant::kGet, variant::kPut}};
inline constexpr Known kNodeOverlap{"micro.node_overlap", {variant::kGet, variant::kPut}};
inline constexpr Known kCompute{"micro.compute", {"red_in", "red_out", "vec_in", "vec_out", "alu"}};
inline constexpr Known kReceive{"micro.receive", {variant::kGet, variant::kRead}};
inline constexpr Known kStripOverhead{"micro.strip_overhead", {variant::kByHand, variant::kEngine}};
inline constexpr Known kStripSweep{"micro.strip_sweep", {"A", "B"}};
inline constexpr Known kBufferedPut{"micro.buffered_put", {variant::kWaited, variant::kCopied}};
inline constexpr Known kPutCombining{"micro.put_combining", {variant::kAlone, variant::kCombined}};
inline constexpr Known kPutMessage{"micro.put_message", {variant::kCombined}};
inline constexpr Known kAtomic{"micro.atomic", {variant::kProvider, variant::kMessage}};
inline constexpr Known kAttention{"micro.attention", {variant::kGet, variant::kPut, variant::kAm}};
inline constexpr Known kProgressCall{"micro.progress_call", {variant::kCalls, variant::kThread}};
inline constexpr Known kProgressWait{"micro.progress_wait", {variant::kCalls, variant::kThread}};
inline constexpr Known kPack{"micro.pack", {variant::kPack, variant::kUnpack}};
inline constexpr Known kVis{
    "micro.vis", {"pipelined", variant::kNativeIov, "bounding_box", "packed", variant::kCompute}};
inline constexpr Known kVisChunk{"micro.vis_chunk", {variant::kGet, variant::kPut}};
inline constexpr Known kVisWindow{"micro.vis_window", {variant::kGet, variant::kPut}};
inline constexpr Known kUpdateItem{
    "micro.update_item", {variant::kAppend, variant::kMerge, variant::kApply, variant::kMiss}};
inline constexpr Known kSharedUpdate{
    "micro.shared_update", {"plain", "atomic", "lock", "transfer", "box", "fold", "barrier"}};
inline constexpr Known kBulkWindow{"micro.bulk_window", {variant::kGet, variant::kPut}};
inline constexpr Known kBulkCheck{"micro.bulk_check", {variant::kCheck}};
inline constexpr Known kBulkCopy{"micro.bulk_copy", {variant::kWaited, variant::kCopied}};
inline constexpr Known kLoad{"micro.load", {variant::kGet, variant::kPut}};
}  // namespace micro

namespace kernels {
inline constexpr Known kAnalysis{"kernel.analysis", {"run", "analysis"}};
inline constexpr Known kBarnes{"kernel.barnes", {"naive", variant::kByHand, variant::kFineRegion}};
inline constexpr Known kCfd{"kernel.cfd", {"naive", variant::kByHand, variant::kFineRegion}};
inline constexpr Known kEarthquake{"kernel.earthquake",
                                   {"whole", "inspector", "reordered", "ring"}};
inline constexpr Known kFiberForce{"kernel.fiber_force",
                                   {"lock", "atomics", "by_hand", "tuned", "sequential"}};
inline constexpr Known kFish{"kernel.fish", {"naive", "separate", "tuned"}};
inline constexpr Known kGravitation{"kernel.gravitation",
                                    {"lock", "atomics", "by_hand", "tuned", "sequential"}};
inline constexpr Known kGuppie{"kernel.guppie", {"naive", "tuned"}};
inline constexpr Known kGups{"kernel.gups",
                             {"naive", "lock", "atomics", "by_hand", "tuned", "unrolled",
                              variant::kFineRegion, "plain", "plain_hand", "bulk"}};
inline constexpr Known kHistogram{"kernel.histogram",
                                  {"naive", "lock", "atomics", "by_hand", "tuned", "sequential"}};
inline constexpr Known kIndexGather{"kernel.index_gather", {"naive", "whole", "by_hand", "tuned"}};
inline constexpr Known kIndirectSum{"kernel.indirect_sum", {"naive", "by_hand", "tuned"}};
inline constexpr Known kMatvec{"kernel.matvec"};
inline constexpr Known kMcop{"kernel.mcop",
                             {"naive", "tuned", variant::kByHand, variant::kFineRegion}};
inline constexpr Known kMolecules{"kernel.molecules", {"whole", "inspector", "reordered", "ring"}};
inline constexpr Known kNasBt{"kernel.nas_bt"};
inline constexpr Known kNasCg{"kernel.nas_cg"};
inline constexpr Known kNasFt{"kernel.nas_ft"};
inline constexpr Known kNasIs{"kernel.nas_is"};
inline constexpr Known kNasMg{"kernel.nas_mg"};
inline constexpr Known kNasSp{"kernel.nas_sp"};
inline constexpr Known kPermutation{"kernel.permutation", {"naive", "by_hand", "tuned"}};
inline constexpr Known kPhases{"kernel.phases",
                               {"plain", "plain_hand", "bulk", variant::kDeferred}};
inline constexpr Known kPrkSparse{"kernel.prk_sparse"};
inline constexpr Known kPrkStencil{"kernel.prk_stencil"};
inline constexpr Known kPrkTranspose{"kernel.prk_transpose"};
inline constexpr Known kPsearch{"kernel.psearch",
                                {"naive", variant::kByHand, variant::kFineRegion}};
inline constexpr Known kSerialTax{
    "kernel.serial_tax",
    {"plain", "access", "loads", variant::kFineRegion, "stores", "fine_stores"}};
inline constexpr Known kSharedHistogram{"kernel.shared_histogram"};
inline constexpr Known kSobel{"kernel.sobel",
                              {"naive", "tuned", variant::kByHand, variant::kFineRegion}};
inline constexpr Known kSparseCg{"kernel.sparse_cg", {"whole", "inspector", "reordered", "ring"}};
inline constexpr Known kSpmv{"kernel.spmv"};
inline constexpr Known kSpreadForce{"kernel.spread_force"};
inline constexpr Known kStridedReads{
    "kernel.strided_reads", {"naive", "pipelined", "bounding_box", "packed", variant::kFineRegion}};
inline constexpr Known kStructReads{"kernel.struct_reads", {"naive", "separate", "tuned"}};
inline constexpr Known kTile{"kernel.tile",
                             {"blocking", "hand", "untuned", "tuned", "guarded", "forced"}};
inline constexpr Known kTranspose{"kernel.transpose"};
inline constexpr Known kTriad{"kernel.triad"};
inline constexpr Known kTriangleCount{"kernel.triangle_count",
                                      {"naive", "atomics", "by_hand", "tuned"}};
inline constexpr Known kWator{"kernel.wator",
                              {"naive", "tuned", variant::kByHand, variant::kFineRegion}};
}  // namespace kernels

}  // namespace stripline::experiment
