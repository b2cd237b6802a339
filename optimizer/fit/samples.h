// The rows of the sample table as the fits of operations, primitives, loops and collectives read
// them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "optimizer/fit/sample_table.h"
#include "optimizer/model/collective.h"

namespace stripline::fit {

/// Everything measured of one operation (get, put or am). Sizes in bytes, times in seconds.
struct OperationSamples {
  std::map<uint64_t, RunMedians> latency;                        ///< By size.
  std::map<uint64_t, std::map<uint64_t, RunMedians>> issue;      ///< By size, then burst.
  std::map<uint64_t, std::map<uint64_t, RunMedians>> flood;      ///< By size, then count.
  std::map<uint64_t, double> latency_scatter;                    ///< By size; SampleRow::scatter.
  std::map<uint64_t, std::map<uint64_t, double>> flood_scatter;  ///< By size, then count; the same.
  std::map<uint64_t, RunMedians> overlap;                        ///< By size: exposed time.
  std::map<uint64_t, RunMedians> serve;                          ///< By size: of the target.
  uint32_t raw_samples = 0;                                      ///< Repetitions in all of these.
};

/// micro.receive with one size of gets: seconds per get, by size of the buffer.
struct ReceiveSamples {
  std::map<uint64_t, RunMedians> get;   ///< blocking gets
  std::map<uint64_t, RunMedians> read;  ///< going through what has come
  uint32_t raw_samples = 0;
};

/// micro.strip_overhead of one size and number of strips: times of whole loops.
struct StripLoopSamples {
  RunMedians engine;
  RunMedians by_hand;
};

/// micro.collective_OPERATION of one size: times by algorithm.
struct CollectiveSamples {
  std::map<model::CollectiveAlgorithm, RunMedians> times;
  std::map<model::CollectiveAlgorithm, uint32_t> raw_samples;
};

/// All samples that a model is fitted from.
struct SortedSamples {
  std::map<std::string, OperationSamples> operations;  ///< "get", "put", "am"
  /// micro.compute: by primitive, then footprint in bytes.
  std::map<std::string, std::map<uint64_t, RunMedians>> compute;
  std::map<std::string, std::map<uint64_t, uint32_t>> compute_raw;  ///< Raw samples per footprint.
  std::map<uint64_t, ReceiveSamples> receive;                       ///< By size of a get in bytes.
  /// By size of a strip in bytes, then number of strips.
  std::map<uint64_t, std::map<uint64_t, StripLoopSamples>> strip_loops;
  uint32_t strip_loops_raw = 0;  ///< Raw samples of these.
  /// By operation, then size in bytes.
  std::map<model::CollectiveOperation, std::map<uint64_t, CollectiveSamples>> collectives;
};

SortedSamples sort_samples(const SampleTable& table);

/// The operations of micro.node_latency, micro.node_issue, micro.node_flood and
/// micro.node_overlap, by path between ranks of a node.
std::map<std::string, SortedSamples> sort_node_samples(const SampleTable& table);

}  // namespace stripline::fit
