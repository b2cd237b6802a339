#include "suites/micro/micro.h"

#include <utility>

namespace stripline::suites {

std::vector<Benchmark> micro_benchmarks() {
  std::vector<Benchmark> all = {
      latency_benchmark(),        issue_benchmark(),         flood_benchmark(),
      serve_benchmark(),          overlap_benchmark(),       compute_benchmark(),
      receive_benchmark(),        buffered_put_benchmark(),  put_combining_benchmark(),
      put_message_benchmark(),    atomic_benchmark(),        pack_benchmark(),
      strip_overhead_benchmark(), strip_sweep_benchmark(),   vis_benchmark(),
      vis_chunk_benchmark(),      vis_window_benchmark(),    attention_benchmark(),
      progress_call_benchmark(),  progress_wait_benchmark(), load_benchmark()};
  for (Benchmark& one : node_benchmarks()) all.push_back(std::move(one));
  for (Benchmark& one : collective_benchmarks()) all.push_back(std::move(one));
  return all;
}

}  // namespace stripline::suites
