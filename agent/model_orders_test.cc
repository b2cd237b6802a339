#include "agent/model_orders.h"

#include <atomic>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "agent/testing/held_tune.h"
#include "base/pushed_models.h"
#include "base/testing/processes.h"

namespace stripline::agent {
namespace {

class ModelOrdersTest : public testing::Test {
 protected:
  ModelOrdersTest() { node_.fabrics = {"tcp", HeldTune::fabric()}; }

  // A version for a network that this node does not have.
  static ModelOffer unwanted(const std::string& number) {
    return {"models/far/versions/" + number, std::string(64, '0'), "stable", "verbs",
            std::make_shared<const std::string>()};
  }

  static constexpr double kLimit_s = 20;

  const TempFolder folder_;
  const HeldTune tune_;
  Description node_;
  std::atomic<int> woken_ = 0;
  ModelOrders orders_{folder_.path(), tune_.options(), node_, [this] { ++woken_; }};
};

TEST_F(ModelOrdersTest, OffersAreAnsweredInTheirOrderWhenTheyMayBegin) {
  orders_.add(unwanted("1"));
  orders_.add(unwanted("2"));
  EXPECT_TRUE(orders_.follow(false).empty());
  const auto answers = orders_.follow(true);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].version, "models/far/versions/1");
  EXPECT_FALSE(answers[0].applied);
  EXPECT_NE(answers[0].reason.find("cannot open the network 'verbs'"), std::string::npos)
      << answers[0].reason;
  EXPECT_EQ(answers[1].version, "models/far/versions/2");
  EXPECT_TRUE(orders_.follow(true).empty());
}

TEST_F(ModelOrdersTest, WhatIsWithdrawnIsTakenAwayWithoutAnAnswer) {
  const std::string sha256(64, 'a');
  ASSERT_TRUE(install_pushed_model(folder_.path(), "tcp", "tcp@1", sha256, "{}").ok());
  orders_.add(ModelWithdrawal{"tcp", sha256.substr(0, 12), "stale"});
  EXPECT_TRUE(orders_.follow(true).empty());
  EXPECT_FALSE(find_pushed_model({folder_.path()}, "tcp"));
}

TEST_F(ModelOrdersTest, SettingsAreInstalledBesideTheLoopAndLaterOrdersWait) {
  orders_.add(HeldTune::offer());
  orders_.add(unwanted("1"));
  EXPECT_FALSE(orders_.installing());
  EXPECT_TRUE(orders_.follow(true).empty());
  EXPECT_TRUE(orders_.installing());
  EXPECT_TRUE(orders_.follow(true).empty());
  EXPECT_EQ(woken_.load(), 0);
  tune_.release();
  ASSERT_TRUE(eventually([this] { return woken_ == 1; }, kLimit_s));
  EXPECT_TRUE(orders_.installing()) << "its end has not been noted";
  const auto answers = orders_.follow(false);
  EXPECT_FALSE(orders_.installing());
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].version, HeldTune::offer().version);
  EXPECT_TRUE(answers[0].applied) << answers[0].reason;
  EXPECT_TRUE(find_pushed_model({folder_.path()}, HeldTune::fabric()));
  EXPECT_EQ(orders_.follow(true).size(), 1U);
}

TEST_F(ModelOrdersTest, WithdrawalsArePassedOverWithoutAFolder) {
  ModelOrders without("", tune_.options(), node_, [] {});
  without.add(ModelWithdrawal{HeldTune::fabric(), "0123456789ab", "stale"});
  EXPECT_TRUE(without.follow(true).empty());
  EXPECT_FALSE(without.installing());
}

}  // namespace
}  // namespace stripline::agent
