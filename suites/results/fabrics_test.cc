#include "suites/results/fabrics.h"

#include <gtest/gtest.h>

namespace stripline::suites::results {
namespace {

TEST(Networks, AreTcpAndEveryProfileOrThoseOfOneName) {
  Options options;
  const auto all = networks(options, true);
  ASSERT_TRUE(all.ok());
  EXPECT_GT(all->size(), 2U);
  EXPECT_FALSE(all->front().emulated());
  options.only = "opteron";
  const auto one = networks(options, false);
  ASSERT_TRUE(one.ok());
  ASSERT_EQ(one->size(), 1U);
  EXPECT_EQ(one->front().fabric, "emulated:opteron-vapi,compute=none");
  EXPECT_TRUE(one->front().emulated());
  EXPECT_FALSE(one->front().computes);
}

TEST(Networks, FurtherProvidersAreChosenByTheirWholeName) {
  Options options;
  EXPECT_EQ(networks(options, true, {"net", "shm"})->size(), networks(options, true)->size() + 2);
  options.only = "net";
  const auto net = networks(options, true, {"net", "shm"});
  ASSERT_TRUE(net.ok());
  ASSERT_EQ(net->size(), 1U);  // and not what is called ethernet
  EXPECT_EQ(net->front().fabric, "net");
  EXPECT_FALSE(net->front().emulated());
}

TEST(Networks, ANameThatSelectsNoneIsAnError) {
  Options options;
  options.only = "carrier-pigeon";
  const auto none = networks(options, true);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code(), ErrorCode::invalid_argument);
  EXPECT_NE(none.error().message().find("emulated:opteron-vapi"), std::string::npos);
}

TEST(Networks, AModelOfNoNetworkIsAnError) {
  Options options;
  options.models.emplace("emulated:opteron-vapi", "a.json");
  EXPECT_TRUE(check_models(options).ok());
  options.models.emplace("emulated:opteron", "b.json");
  const Status checked = check_models(options);
  ASSERT_FALSE(checked.ok());
  EXPECT_NE(checked.error().message().find("'emulated:opteron'"), std::string::npos);
}

TEST(Networks, FileNamesHoldNoSeparators) {
  EXPECT_EQ(file_name("emulated:opteron-vapi,compute=none"), "emulated-opteron-vapi-compute-none");
}

}  // namespace
}  // namespace stripline::suites::results
