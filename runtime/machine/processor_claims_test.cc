#include "runtime/machine/processor_claims.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing/processes.h"
#include "runtime/machine/placement.h"

namespace stripline::machine {
namespace {

class ClaimsTest : public ::testing::Test {
 private:
  const TempFolder temporary_;

 protected:
  const std::string folder_ = temporary_.path().string();  ///< where no job of this host looks
};

TEST_F(ClaimsTest, ExcludeOtherJobsUntilTheyEnd) {
  auto later = ProcessorClaims::open(folder_);
  ASSERT_TRUE(later.ok()) << later.error().message();
  {
    auto first = ProcessorClaims::open(folder_);
    ASSERT_TRUE(first.ok());
    EXPECT_TRUE(first->claim(std::vector<uint32_t>{1, 2, 70}));
    EXPECT_FALSE(first->taken(2)) << "its own";
    EXPECT_TRUE(later->taken(70));
    EXPECT_FALSE(later->taken(3));
    EXPECT_FALSE(later->claim(std::vector<uint32_t>{0, 2}));
    EXPECT_FALSE(first->taken(0)) << "a claim that fails claims nothing";
    EXPECT_TRUE(later->claim(std::vector<uint32_t>{0, 3}));
    EXPECT_TRUE(first->taken(3));
  }
  EXPECT_FALSE(later->taken(70));
  EXPECT_TRUE(later->claim(std::vector<uint32_t>{2}));
}

TEST_F(ClaimsTest, NeedAFolder) {
  EXPECT_EQ(ProcessorClaims::open(folder_ + "/none").error().code(), ErrorCode::unavailable);
  // Ranks are bound all the same.
  EXPECT_EQ(claim_places(1, folder_ + "/none").processors.size(), 1U);
}

TEST_F(ClaimsTest, PlacesOfJobsDoNotOverlap) {
  const auto processors = allowed_processors();
  const Places first = claim_places(1, folder_);
  ASSERT_EQ(first.processors.size(), 1U);
  EXPECT_EQ(first.processors, place_ranks(processors, 1));
  const Places second = claim_places(1, folder_);
  EXPECT_EQ(second.taken, first.processors[0].size());
  if (first.processors[0].size() < processors.size()) {
    ASSERT_EQ(second.processors.size(), 1U);
    for (const uint32_t mine : first.processors[0]) {
      EXPECT_EQ(std::ranges::find(second.processors[0], mine), second.processors[0].end());
    }
  } else {
    EXPECT_TRUE(second.processors.empty());
  }
  EXPECT_TRUE(claim_places(static_cast<uint32_t>(processors.size()), folder_).processors.empty());
}

}  // namespace
}  // namespace stripline::machine
