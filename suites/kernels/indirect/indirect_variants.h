// Kernels whose loops read elements of shared arrays through an index, by the methods by which
// programs can be carried out that say no more than that: one by one, and by for_each_indirect.
#pragma once

#include <cstdint>

#include <stripline/fine.h>
#include <stripline/indirect.h>

#include "base/result.h"
#include "optimizer/experiment/catalogue.h"
#include "optimizer/experiment/experiment.h"
#include "suites/grids.h"
#include "suites/kernels/measure_kernel.h"
#include "suites/registry.h"

namespace stripline::suites {

/// Variants of these names; those of a kernel are some of them.
enum class IndirectVariant : uint8_t {
  naive,     ///< one by one, a read for each member
  separate,  ///< as the planner says, a read for each member
  tuned,     ///< the same, all members by one read
};
IndirectVariant indirect_variant_of(const experiment::Point& point);
IndirectOptions indirect_options_of(const experiment::Point& point, bool any_order = false);

/// For variant fine_region of kernels that have it.
FineOptions fine_options_of(const experiment::Point& point);

/// Kernels whose single accesses have no loop that says what it reads: variants naive, by_hand and
/// fine_region. `row` is without what all of them have in common; its description ends before how
/// the last variant reads. Collective: measures one, and says if a result was wrong.
Benchmark single_access_benchmark(ExperimentRow row);
experiment::SampleSeries measure_single_accesses(Session& session, const experiment::StopRule& rule,
                                                 const KernelParts& parts);

/// Factors of several of them.
namespace indirect_factor {
inline constexpr const char* kElements = "elements_per_rank";
inline constexpr const char* kIterations = "iterations";
}  // namespace indirect_factor

/// Collective: measures a kernel by its parts, frees `array` and says if a result was wrong.
template <typename Array>
experiment::SampleSeries measure_indirect(Session& session, const experiment::StopRule& rule,
                                          const KernelParts& parts, Array& array) {
  experiment::SampleSeries series = measure_kernel(session, rule, parts);
  array.destroy();
  if (!series.verified) series.note = "verification failed: a sum of what was read is wrong";
  return series;
}

/// One of these kernels; `row` is without what all of them have in common.
Benchmark indirect_benchmark(ExperimentRow row);

}  // namespace stripline::suites
