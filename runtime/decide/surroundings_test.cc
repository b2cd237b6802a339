#include "runtime/decide/surroundings.h"

#include <gtest/gtest.h>

namespace stripline::decide {
namespace {

using plan::Fact;

constexpr Fact kAll = Fact::nic_ranks | Fact::target_polls_only | Fact::alone |
                      Fact::flag_with_data | Fact::service_delay | Fact::load;

fabric::Info everything() {
  fabric::Info info;
  info.nic_ranks = 4;
  info.flag_with_data = true;
  info.gets_need_target = true;
  return info;
}

TEST(Surroundings, AreWhatTheFabricSays) {
  const plan::Surroundings around = surroundings_of(everything(), kAll, {.gets = true});
  EXPECT_EQ(around.nic_ranks, 4U);
  EXPECT_TRUE(around.target_polls_only);
  EXPECT_TRUE(around.flag_with_data);
  EXPECT_FALSE(around.alone);
  EXPECT_FALSE(surroundings_of(everything(), kAll, {.puts = true}).target_polls_only);
  EXPECT_TRUE(surroundings_of(everything(), kAll, {.gets = true, .puts = true}).target_polls_only);
  EXPECT_FALSE(surroundings_of(everything(), kAll, {.signals = false}).flag_with_data);
}

TEST(Surroundings, OfANodeNeedNobody) {
  for (const auto path : {model::Path::mapped, model::Path::cma}) {
    EXPECT_FALSE(
        surroundings_of(everything(), kAll, {.path = path, .gets = true}).target_polls_only);
  }
}

TEST(Surroundings, AreQuietWhereARankIsAlone) {
  const plan::Surroundings around =
      surroundings_of(everything(), kAll, {.gets = true, .alone = true});
  EXPECT_TRUE(around.alone);
  EXPECT_EQ(around.nic_ranks, 1U);
  EXPECT_FALSE(around.target_polls_only);
}

// What a planner does not look at would make equal requests differ.
TEST(Surroundings, HoldNothingElse) {
  const Operations operations{.gets = true};
  const plan::Surroundings usual;
  EXPECT_EQ(surroundings_of(everything(), Fact::service_delay | Fact::load, operations), usual);
  plan::Surroundings expected;
  expected.nic_ranks = 4;
  EXPECT_EQ(surroundings_of(everything(), Fact::nic_ranks, operations), expected);
}

}  // namespace
}  // namespace stripline::decide
