#include "suites/micro/micro.h"

namespace stripline::suites {

std::vector<Benchmark> micro_benchmarks() {
  return {latency_benchmark(),        issue_benchmark(),      flood_benchmark(),
          overlap_benchmark(),        compute_benchmark(),    receive_benchmark(),
          strip_overhead_benchmark(), strip_sweep_benchmark()};
}

}  // namespace stripline::suites
