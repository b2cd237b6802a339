#include "optimizer/targets/sources.h"

#include <gtest/gtest.h>

namespace stripline::targets {
namespace {

TEST(Sources, WhatIsOverriddenElsewhereIsNamed) {
  const std::vector<Setting> exported = {{"coll_tuned_use_dynamic_rules", "1"},
                                         {"btl_tcp_links", "2"}};
  const std::vector<Source> stronger = {
      {"/etc/openmpi/openmpi-mca-params-override.conf", {{"coll_tuned_use_dynamic_rules", "0"}}},
      {"the environment", {{"coll_tuned_use_dynamic_rules", "1"}, {"btl_tcp_links", "2"}}}};
  const auto found = overridden(exported, stronger);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("coll_tuned_use_dynamic_rules"), std::string::npos);
  EXPECT_NE(found[0].find("override.conf"), std::string::npos);
}

TEST(Sources, TheSameFlagInOtherWordsIsNotOverridden) {
  const std::vector<Setting> exported = {{"coll_tuned_use_dynamic_rules", "1"}};
  const auto by = [&](const char* value) {
    const Source source{"the environment", {Setting{"coll_tuned_use_dynamic_rules", value}}};
    return overridden(exported, {source});
  };
  EXPECT_TRUE(by("true").empty());
  EXPECT_EQ(by("false").size(), 1U);
}

}  // namespace
}  // namespace stripline::targets
