// The experiments that feed the models (docs/measurement.md). One function per file declares one.
#pragma once

#include <array>
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
Benchmark update_item_benchmark();
Benchmark shared_update_benchmark();
Benchmark bulk_window_benchmark();
Benchmark bulk_check_benchmark();
Benchmark bulk_copy_benchmark();
std::vector<Benchmark> collective_benchmarks();  ///< one per operation

/// Latency, issue, flood and overlap between ranks of one node.
std::vector<Benchmark> node_benchmarks();

/// All of the above; a new experiment is added here and nowhere else. The order is that of lists.
inline constexpr std::array kMicroBenchmarks = {
    latency_benchmark,        issue_benchmark,         flood_benchmark,
    serve_benchmark,          overlap_benchmark,       compute_benchmark,
    receive_benchmark,        buffered_put_benchmark,  put_combining_benchmark,
    put_message_benchmark,    atomic_benchmark,        pack_benchmark,
    strip_overhead_benchmark, strip_sweep_benchmark,   vis_benchmark,
    vis_chunk_benchmark,      vis_window_benchmark,    attention_benchmark,
    progress_call_benchmark,  progress_wait_benchmark, load_benchmark,
    update_item_benchmark,    shared_update_benchmark, bulk_window_benchmark,
    bulk_check_benchmark,     bulk_copy_benchmark};

}  // namespace stripline::suites
