// What it takes to agree on gathers, on a virtual clock.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/gather_plan.h>

#include "runtime/gather/testing/gather_times.h"

namespace stripline::gathers {
namespace {

// Seconds on rank 0 to agree on a gather in which each rank reads the elements of the next one.
double seconds_to_agree(const std::string& model) {
  constexpr uint64_t kEach = 64;
  constexpr rank_t kRanks = 4;
  double seconds = 0;
  on_array(model, kRanks, kEach * kRanks, [&](Context& context, shared_array<uint64_t>& x) {
    std::vector<uint64_t> index(kEach);
    for (uint64_t i = 0; i < kEach; ++i) {
      index[i] = i * kRanks + (context.rank_me() + 1) % kRanks;
    }
    const double begun_s = context.now_s();
    auto plan = GatherPlan<uint64_t>::create(x, index);
    if (context.rank_me() == 0) seconds = context.now_s() - begun_s;
    ASSERT_TRUE(plan.ok());
    EXPECT_EQ(plan->statistics().bound_owners, 1U);
  });
  return seconds;
}

// A loop may gather a few times only: a collective operation more than without a model is felt.
TEST(InspectionTime, AModelOfANetworkAddsNoExchange) {
  model::TunedModel known = exact_model(kItanium);
  std::erase_if(known.network, [](const auto& path) { return path.first != "inter-node"; });
  known.collective.reset();
  const ModelFile model("inspection_time", known);
  EXPECT_DOUBLE_EQ(seconds_to_agree(model.path()), seconds_to_agree(""));
}

}  // namespace
}  // namespace stripline::gathers
