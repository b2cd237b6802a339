// Every kernel says what it computes, whoever runs its bodies.
#include "suites/kernels/counted_work.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "suites/registry.h"
#include "suites/testing/point_time.h"

namespace stripline::suites {
namespace {

// The time of a repetition on four ranks, with its smallest problem but for `params`.
double time_s(const std::string& kernel, const std::string& variant, const std::string& compute,
              const experiment::Params& params = {}) {
  return point_time_s(4, {kernel, variant, params}, compute);
}

std::vector<std::string> kernels() {
  std::vector<std::string> names;
  for (const Benchmark& benchmark : benchmarks()) {
    const experiment::Experiment& declaration = benchmark.declaration;
    if (!declaration.name.starts_with("kernel.")) continue;
    const auto& variants = declaration.variants;
    if (std::ranges::find(variants, "blocking") == variants.end()) continue;
    names.push_back(declaration.name);
  }
  return names;
}

class CountedWork : public testing::TestWithParam<std::string> {};

TEST_P(CountedWork, OfKernelsTakesTime) {
  const double by_hand_s = time_s(GetParam(), "blocking", "declared");
  const double communication_s = time_s(GetParam(), "blocking", "none");
  const double engine_s = time_s(GetParam(), "untuned", "declared");
  EXPECT_GT(by_hand_s, 1.05 * communication_s);
  // The same work; what is not made of it differs by how it is transferred.
  const double untuned_communication_s = time_s(GetParam(), "untuned", "none");
  EXPECT_GT(engine_s, 1.05 * untuned_communication_s);
}

INSTANTIATE_TEST_SUITE_P(Kernels, CountedWork, testing::ValuesIn(kernels()),
                         [](const testing::TestParamInfo<std::string>& kernel) {
                           std::string name = kernel.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

// Kernels of updates, by one rank and by all.
struct UpdateKernel {
  std::string name;
  experiment::Params params;
};

class CountedUpdates : public testing::TestWithParam<UpdateKernel> {};

TEST_P(CountedUpdates, TakeTime) {
  const auto& [name, params] = GetParam();
  for (const char* const variant : {"by_hand", "tuned", "sequential"}) {
    SCOPED_TRACE(variant);
    EXPECT_GT(time_s(name, variant, "declared", params),
              1.05 * time_s(name, variant, "none", params));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, CountedUpdates,
    testing::Values(UpdateKernel{"kernel.histogram",
                                 {{"updates", int64_t{20000}}, {"bins_per_rank", int64_t{100}}}},
                    UpdateKernel{"kernel.gravitation", {{"bodies_per_rank", int64_t{64}}}},
                    UpdateKernel{"kernel.fiber_force",
                                 {{"n", int64_t{16}}, {"points_per_rank", int64_t{1000}}}}),
    [](const testing::TestParamInfo<UpdateKernel>& kernel) {
      std::string name = kernel.param.name;
      std::ranges::replace(name, '.', '_');
      return name;
    });

}  // namespace
}  // namespace stripline::suites
