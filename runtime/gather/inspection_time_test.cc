// What it takes to agree on gathers, on a virtual clock.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/gather_plan.h>

#include "runtime/bootstrap/fabrics_under_test.h"
#include "runtime/bootstrap/thread_group.h"
#include "runtime/loop/exact_costs.h"
#include "runtime/loop/model_file.h"

namespace stripline {
namespace {

constexpr const char* kItanium = "emulated:itanium-gm,compute=none,jitter=off";

// Seconds on rank 0 to agree on a gather in which each rank reads the elements of the next one.
double seconds_to_agree(const std::string& model) {
  constexpr uint64_t kEach = 64;
  double seconds = 0;
  auto group = bootstrap::group_on({"", kItanium, "virtual"}, 4);
  group.context.model_path = model;
  const Status ran = bootstrap::run_ranks(group, [&](Context& context) {
    auto x = shared_array<uint64_t, cyclic>::create(context, kEach * context.rank_n());
    ASSERT_TRUE(x.ok());
    std::vector<uint64_t> index(kEach);
    for (uint64_t i = 0; i < kEach; ++i) {
      index[i] = i * context.rank_n() + (context.rank_me() + 1) % context.rank_n();
    }
    context.barrier();
    const double begun_s = context.now_s();
    auto plan = GatherPlan<uint64_t>::create(*x, index);
    if (context.rank_me() == 0) seconds = context.now_s() - begun_s;
    ASSERT_TRUE(plan.ok());
    EXPECT_EQ(plan->statistics().bound_owners, 1U);
    context.barrier();
    x->destroy();
  });
  EXPECT_TRUE(ran.ok()) << ran.error().message();
  return seconds;
}

// A loop may gather a few times only: a collective operation more than without a model is felt.
TEST(InspectionTime, AModelOfANetworkAddsNoExchange) {
  model::TunedModel known = model::example_model();
  known.network = {{"inter-node", exact_path(kItanium)}};
  known.strip = exact_strip(kItanium);
  known.collective.reset();
  const ModelFile model("inspection_time", known);
  EXPECT_DOUBLE_EQ(seconds_to_agree(model.path()), seconds_to_agree(""));
}

}  // namespace
}  // namespace stripline
