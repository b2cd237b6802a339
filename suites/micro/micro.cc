#include "suites/micro/micro.h"

#include <utility>

namespace stripline::suites {

std::vector<Benchmark> micro_benchmarks() {
  std::vector<Benchmark> all;
  for (const auto& make : kMicroBenchmarks) all.push_back(make());
  for (Benchmark& one : node_benchmarks()) all.push_back(std::move(one));
  for (Benchmark& one : collective_benchmarks()) all.push_back(std::move(one));
  return all;
}

}  // namespace stripline::suites
