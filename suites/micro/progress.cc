// micro.progress_call, micro.progress_wait: what a thread that serves a rank's peers costs, and
// what it leaves.

#include "suites/grids.h"
#include "suites/micro/micro.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

// One of the other experiments, where ranks are served as the variant says.
Result<SampleSeries> run_served(Session& session, const experiment::Point& point,
                                const char* experiment, const char* variant,
                                const experiment::StopRule& rule) {
  experiment::Point inner = point;
  inner.experiment = experiment;
  inner.variant = variant;
  STRIPLINE_ASSIGN_OR_RETURN(
      Session* const served,
      session.served(point.variant == variant::kCalls ? "manual" : variant::kThread));
  return find_benchmark(experiment)->run(*served, inner, rule);
}

Result<SampleSeries> run_call(Session& session, const experiment::Point& point,
                              const experiment::StopRule& rule) {
  return run_served(session, point, micro::kLatency.name, variant::kGet, rule);
}

Result<SampleSeries> run_wait(Session& session, const experiment::Point& point,
                              const experiment::StopRule& rule) {
  return run_served(session, point, micro::kAttention.name, variant::kAm, rule);
}

Benchmark served_benchmark(RunFunction run, const experiment::Known& known, const Benchmark& like) {
  Benchmark benchmark;
  benchmark.run = run;
  experiment::Experiment& e = benchmark.declaration;
  e = like.declaration;
  e.name = known.name;
  e.variants = known.variants();
  for (experiment::Factor& factor : e.factors) {
    if (factor.name == factor::kBytes) factor.values = {int64_t{8}};
  }
  return benchmark;
}

}  // namespace

Benchmark progress_call_benchmark() {
  Benchmark benchmark = served_benchmark(run_call, micro::kProgressCall, latency_benchmark());
  experiment::Experiment& e = benchmark.declaration;
  e.title = "Gets beside a progress thread";
  e.description =
      "The gets of micro.latency through the network, where a rank's calls alone serve its peers, "
      "or a thread of the runtime, too. The difference is what the thread adds to a call that "
      "waits.";
  e.feeds = {"rma.progress.call"};
  return benchmark;
}

Benchmark progress_wait_benchmark() {
  Benchmark benchmark = served_benchmark(run_wait, micro::kProgressWait, attention_benchmark());
  experiment::Experiment& e = benchmark.declaration;
  e.title = "Answers of a rank that computes";
  e.description =
      "The round trips of micro.attention through the network, where the calls of the rank that "
      "computes alone serve its peers, or a thread of the runtime, too. What they take longer with "
      "a thread where that rank computes for long, beside where it hardly does, is what a request "
      "waits in spite of the thread.";
  for (experiment::Factor& factor : e.factors) {
    if (factor.name == factor::kComputeUs) factor.values = {int64_t{1}, int64_t{10000}};
  }
  e.feeds = {"rma.progress.answer"};
  return benchmark;
}

}  // namespace stripline::suites
