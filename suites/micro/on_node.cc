// micro.node_*: single operations between ranks of one node, past the network.
#include <string>
#include <utility>

#include "suites/grids.h"
#include "suites/micro/micro.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

Result<SampleSeries> run_on_node(Session& session, const experiment::Point& point,
                                 const experiment::StopRule& rule) {
  experiment::Point inner = point;
  inner.experiment.replace(0, experiment::kNodePrefix.size(), experiment::kMicroPrefix);
  inner.params.erase(std::string(factor::kSameNode));
  STRIPLINE_ASSIGN_OR_RETURN(Session* const on_node,
                             session.on_node(*experiment::text_param(point, factor::kSameNode)));
  if (on_node == nullptr) return SampleSeries{};  // on another node
  return find_benchmark(inner.experiment)->run(*on_node, inner, rule);
}

// The same experiment for ranks of one node. One size an octave will do: there is no network whose
// protocols would switch.
Benchmark on_node(const Benchmark& of_network) {
  Benchmark benchmark;
  benchmark.run = run_on_node;
  experiment::Experiment& e = benchmark.declaration;
  e = of_network.declaration;
  e.name.replace(0, experiment::kMicroPrefix.size(), experiment::kNodePrefix);
  e.title += " on a node";
  e.description += " Here both ranks are of one node and reach each other past the network.";
  for (experiment::Factor& factor : e.factors) {
    if (factor.name == factor::kBytes) factor.values = size_grid(8, int64_t{4} << 20, 1);
  }
  experiment::Factor path;
  path.name = factor::kSameNode;
  path.description =
      "How they do: by loads and stores of mapped memory, or by copies that the kernel makes "
      "(Options::same_node).";
  path.values = {std::string("mapped"), std::string("cma")};
  e.factors.push_back(std::move(path));
  e.feeds = {"network.intra-node", "network.intra-node-cma"};
  return benchmark;
}

}  // namespace

std::vector<Benchmark> node_benchmarks() {
  std::vector<Benchmark> all;
  for (const Benchmark& one :
       {latency_benchmark(), issue_benchmark(), flood_benchmark(), overlap_benchmark()}) {
    all.push_back(on_node(one));
  }
  return all;
}

}  // namespace stripline::suites
