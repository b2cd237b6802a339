// The experiments that can be run: a declaration (optimizer/experiment) with the function that runs
// one of its points. One table serves the worker, `stripline-bench`, the tests and
// docs/experiments.md.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimizer/experiment/catalogue.h"
#include "optimizer/experiment/experiment.h"
#include "suites/session.h"

namespace stripline::suites {

namespace factor = experiment::factor;
namespace kernels = experiment::kernels;
namespace micro = experiment::micro;
namespace variant = experiment::variant;

/// Runs one completed point within one run. Collective over all ranks of the job; the series is
/// valid on rank 0. Errors are the same on every rank and mean that the point cannot be measured
/// here (no model loaded, message larger than the fabric takes, not enough memory); the job goes
/// on.
using RunFunction = Result<experiment::SampleSeries> (*)(Session& session,
                                                         const experiment::Point& point,
                                                         const experiment::StopRule& rule);

struct Benchmark {
  experiment::Experiment declaration;
  RunFunction run = nullptr;
};

/// What is particular to one experiment, as a row: what it is, how a point of it is run (which
/// loops, communicates and verifies as the point's variant says), and what its samples are.
struct ExperimentRow {
  const experiment::Known& known;  ///< its name and, unless they are given, its variants
  RunFunction run = nullptr;
  std::string title;
  std::string description;
  std::vector<experiment::Factor> factors;
  std::vector<std::string> variants;
  experiment::Metric metric;
  uint32_t min_ranks = 2;
  experiment::RankCount rank_count = experiment::RankCount::any;
  std::string verification;
  std::vector<std::string> feeds;
  int version = 1;
};
Benchmark declare(ExperimentRow row);

/// Factors of one experiment after those of another list.
std::vector<experiment::Factor> joined(std::vector<experiment::Factor> factors,
                                       std::vector<experiment::Factor> more,
                                       std::vector<experiment::Factor> last = {});

/// The lists of suites/micro and of suites/kernels, which define these functions: their headers
/// include this one, and it none of theirs.
std::vector<Benchmark> micro_benchmarks();
std::vector<Benchmark> kernel_benchmarks();

/// All of them, in the order of the reference page. Built once; thread-safe.
const std::vector<Benchmark>& benchmarks();

/// The one of this name, or nullptr.
const Benchmark* find_benchmark(std::string_view name);

/// The registered names nearest to `name` by edit distance, best first, at most `count`.
std::vector<std::string> nearest_benchmarks(std::string_view name, size_t count = 3);

/// Looks the point's experiment up, completes and checks the point, the rule and the number of
/// ranks, and runs it. Collective. Errors: not_found (with the nearest names), invalid_argument,
/// and those of the RunFunction.
Result<experiment::SampleSeries> run_point(Session& session, experiment::Point point,
                                           const experiment::StopRule& rule);

/// What run_point() returned, as a series that can be reported: an error becomes a series without
/// values and with the reason as its note (and therefore never a number), and one that is not
/// verified and does not say why gets a note that its data are wrong.
experiment::SampleSeries as_series(Result<experiment::SampleSeries> result,
                                   const experiment::Point& point, uint32_t run);

}  // namespace stripline::suites
