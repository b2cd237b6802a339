// Loops that read through an index, on a virtual clock with a model that is right.
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/indirect.h>

#include "base/random.h"
#include "runtime/gather/testing/gather_times.h"

namespace stripline::gathers {
namespace {

// Seconds of the executions of one loop, which reads `count` random elements of three ranks.
std::vector<double> seconds_of(const std::string& model, size_t count, size_t times,
                               const IndirectOptions& options, const std::string& tuning = "") {
  constexpr uint64_t kElements = 3000;
  std::vector<double> seconds;
  const auto run = [&](Context& context, shared_array<uint64_t>& x) {
    for (size_t time = 0; time < times; ++time) {
      if (context.rank_me() == 0) {
        std::vector<uint64_t> index(count);
        for (size_t i = 0; i < count; ++i) index[i] = hash_of(time, i) % kElements;
        uint64_t sum = 0;
        const double begun_s = context.now_s();
        for_each_indirect(
            context, range(0, static_cast<int64_t>(count)), options,
            [&sum](int64_t, uint64_t value) { sum += value; }, read(x, index));
        seconds.push_back(context.now_s() - begun_s);
        ASSERT_EQ(sum, std::accumulate(index.begin(), index.end(), uint64_t{0}));
      }
      context.barrier();
    }
  };
  on_array(model, 3, kElements, run, tuning);
  return seconds;
}

TEST(IndirectTime, BlocksAreTakenWhereTheyAreFaster) {
  const ModelFile model("indirect_time", exact_model(kItanium));
  const double one_by_one_s = seconds_of(model.path(), 600, 1, {.block = 0}).front();
  const std::vector<double> planned_s = seconds_of(model.path(), 600, 40, {});
  double all_s = 0;
  for (const double seconds : planned_s) all_s += seconds;
  EXPECT_LT(planned_s.front(), one_by_one_s / 2);
  // What comparing them costs counts.
  EXPECT_LT(all_s / static_cast<double>(planned_s.size()), one_by_one_s / 2);
  // Few reads give nothing to be put together.
  const double one_s = seconds_of(model.path(), 1, 1, {.block = 0}).front();
  EXPECT_LE(seconds_of(model.path(), 1, 1, {}).front(), 1.03 * one_s);
}

// The rule holds for elements of one size, unless the program says itself how long blocks are.
TEST(IndirectTime, BlocksAreThoseOfARule) {
  const ModelFile model("indirect_time", exact_model(kItanium));
  const auto seconds = [&](const IndirectOptions& options, const std::string& tuning = "") {
    return seconds_of(model.path(), 600, 1, options, tuning).front();
  };
  const double one_by_one_s = seconds({.block = 0});
  const double in_blocks_s = seconds({.block = 100});
  EXPECT_LT(in_blocks_s, one_by_one_s / 2);
  constexpr double kTolerance = 0.01;
  EXPECT_NEAR(seconds({}, "indirect:8:0"), one_by_one_s, kTolerance * one_by_one_s);
  EXPECT_NEAR(seconds({}, "indirect:8:100"), in_blocks_s, kTolerance * in_blocks_s);
  EXPECT_NEAR(seconds({.block = 100}, "indirect:8:0"), in_blocks_s, kTolerance * in_blocks_s);
  EXPECT_LT(seconds({}, "indirect:4:0"), one_by_one_s / 2) << "of elements of 8 bytes";
}

// Whatever a model of another network says: the first executions go as without one, and what they
// take says how far it may be trusted.
TEST(IndirectTime, AModelOfAnotherNetworkCostsNothing) {
  const auto sum = [](const std::vector<double>& seconds) {
    return std::accumulate(seconds.begin(), seconds.end(), 0.0);
  };
  for (const char* network : {"emulated:cloud-ethernet", "emulated:opteron-vapi"}) {
    const std::string fabric = std::string(network) + ",compute=none,jitter=off";
    const ModelFile model("indirect_time", exact_model(fabric));
    const double without_s = sum(seconds_of("", 9000, 40, {}));
    EXPECT_LE(sum(seconds_of(model.path(), 9000, 40, {})), 1.05 * without_s) << network;
  }
}

}  // namespace
}  // namespace stripline::gathers
