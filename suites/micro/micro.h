// The experiments that feed the models (docs/measurement.md). One function per file declares one.
#pragma once

#include <vector>

#include "suites/registry.h"

namespace stripline::suites {

Benchmark latency_benchmark();
Benchmark attention_benchmark();
Benchmark issue_benchmark();
Benchmark flood_benchmark();
Benchmark serve_benchmark();
Benchmark overlap_benchmark();
Benchmark compute_benchmark();
Benchmark receive_benchmark();
Benchmark buffered_put_benchmark();
Benchmark put_combining_benchmark();
Benchmark put_message_benchmark();
Benchmark progress_call_benchmark();
Benchmark progress_wait_benchmark();
Benchmark atomic_benchmark();
Benchmark pack_benchmark();
Benchmark strip_overhead_benchmark();
Benchmark vis_benchmark();
Benchmark vis_chunk_benchmark();
Benchmark vis_window_benchmark();
Benchmark strip_sweep_benchmark();
Benchmark load_benchmark();
std::vector<Benchmark> collective_benchmarks();  ///< one per operation

/// Latency, issue, flood and overlap between ranks of one node.
std::vector<Benchmark> node_benchmarks();

/// All of the above.
std::vector<Benchmark> micro_benchmarks();

}  // namespace stripline::suites
