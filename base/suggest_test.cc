#include "base/suggest.h"

#include <gtest/gtest.h>

namespace stripline {
namespace {

TEST(Suggest, FindsWhatWasMeant) {
  const std::vector<std::string> commands = {"run",      "bench", "doctor",
                                             "campaign", "model", "nodes"};
  EXPECT_EQ(edit_distance("watch", "wtach"), 1U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(nearest("campain", commands), "campaign");
  EXPECT_EQ(nearest("camp", commands), "campaign");
  EXPECT_EQ(nearest("node", commands), "nodes");
  EXPECT_EQ(nearest("banch", commands), "bench");
  EXPECT_EQ(nearest("zebra", commands), std::nullopt);
  EXPECT_EQ(nearest("x", commands), std::nullopt);
  EXPECT_EQ(did_you_mean("campain", commands), " (did you mean 'campaign'?)");
  EXPECT_EQ(did_you_mean("zebra", commands), "");
}

}  // namespace
}  // namespace stripline
