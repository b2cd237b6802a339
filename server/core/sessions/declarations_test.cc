#include "server/core/sessions/declarations.h"

#include <gtest/gtest.h>

#include "optimizer/experiment/json.h"
#include "server/testing/experiments.h"

namespace stripline::server {
namespace {

std::vector<std::string> texts_of(const std::vector<experiment::Experiment>& experiments) {
  std::vector<std::string> texts;
  for (const auto& experiment : experiments)
    texts.push_back(experiment::to_json(experiment).dump());
  return texts;
}

TEST(Declarations, EqualOnesAreHeldOnce) {
  Declarations declarations;
  const auto first = declarations.read(texts_of(test_experiments()));
  const auto again = declarations.read(texts_of(test_experiments()));
  ASSERT_TRUE(first && again);
  EXPECT_EQ(*first, *again);
  EXPECT_EQ((*first)->experiments.size(), test_experiments().size());
  EXPECT_TRUE((*first)->versions.contains({"micro.latency", 1}));
  const auto others = declarations.read(texts_of(test_experiments(64)));
  ASSERT_TRUE(others);
  EXPECT_NE(*first, *others);
}

TEST(Declarations, WhatIsNoneIsRefusedEachTime) {
  Declarations declarations;
  for (int i = 0; i < 2; ++i) {
    const auto refused = declarations.read({"{\"name\":"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.problem().reason, "INVALID_FIELD");
  }
}

}  // namespace
}  // namespace stripline::server
