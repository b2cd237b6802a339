#include "suites/kernels/indirect/indirect_variants.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace stripline::suites {
namespace {

constexpr const char* kBlockFactor = "block";
constexpr const char* kKeepsFactor = "keeps";

experiment::Factor keeps_factor() {
  return integer_factor(kKeepsFactor, "1",
                        "1: what was read is not fetched again; for fine_region.", {1}, 0, 1);
}

}  // namespace

IndirectVariant indirect_variant_of(const experiment::Point& point) {
  if (point.variant == "naive") return IndirectVariant::naive;
  return point.variant == "separate" ? IndirectVariant::separate : IndirectVariant::tuned;
}

IndirectOptions indirect_options_of(const experiment::Point& point, bool any_order) {
  IndirectOptions options{.any_order = any_order};
  if (indirect_variant_of(point) == IndirectVariant::naive) {
    options.block = 0;
  } else if (const size_t block = size_param(point, kBlockFactor); block > 0) {
    options.block = block;
  }
  return options;
}

FineOptions fine_options_of(const experiment::Point& point) {
  return {.keeps = size_param(point, kKeepsFactor) != 0};
}

Benchmark single_access_benchmark(ExperimentRow row) {
  row.description += " one by one in a fine_region, as the naive program does (fine_region).";
  row.factors.push_back(keeps_factor());
  row.min_ranks = 1;
  return declare(std::move(row));
}

experiment::SampleSeries measure_single_accesses(Session& session, const experiment::StopRule& rule,
                                                 const KernelParts& parts) {
  experiment::SampleSeries series = measure_kernel(session, rule, parts);
  if (!series.verified) series.note = "verification failed: a result is wrong";
  return series;
}

Benchmark indirect_benchmark(ExperimentRow row) {
  row.description +=
      " Elements are read one by one (naive), or by <stripline/indirect.h> in blocks of "
      "iterations as the planner says (tuned); where members of elements are read, "
      "each by itself (naive, separate) or those of an element at once (tuned).";
  row.factors.push_back(integer_factor(
      kBlockFactor, "1", "Iterations of a block; 0: as the planner says; for separate and tuned.",
      {0}, 0, 1 << 16));
  const std::vector<std::string> variants = row.known.variants();
  if (std::ranges::find(variants, variant::kFineRegion) != variants.end()) {
    row.description +=
        " They are fetched by nonblocking gets before the loop (by_hand), or read one by one in a "
        "fine_region, those of an iteration before its computation (fine_region).";
    row.factors.push_back(keeps_factor());
  }
  row.min_ranks = 1;
  return declare(std::move(row));
}

}  // namespace stripline::suites
