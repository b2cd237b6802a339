#include "runtime/fabric/emulated/profile.h"

#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/json.h"

namespace stripline::fabric {
namespace {

Json builtin(std::string_view name) { return *parse_json(builtin_profile_text(name), name); }

std::string error_of(const Json& profile) {
  const auto result = parse_profile(profile.dump(), "test");
  return result.ok() ? std::string() : result.error().message();
}

TEST(Profile, EveryBuiltinParses) {
  ASSERT_EQ(builtin_profile_names().size(), 7U);
  for (const std::string& name : builtin_profile_names()) {
    const auto profile = parse_profile(builtin_profile_text(name), name);
    ASSERT_TRUE(profile.ok()) << profile.error().message();
    EXPECT_EQ(profile->name, name);
  }
}

// Chen 2007, table 3.1: blocking 8-byte round trips.
TEST(Profile, ReproducesPublishedRoundTrips) {
  struct Row {
    const char* name;
    double get_s;
    double put_s;
  };
  for (const Row& row : {Row{"opteron-vapi", 11.6e-6, 8.4e-6}, Row{"itanium-gm", 23.3e-6, 19.7e-6},
                         Row{"power5-lapi", 9.2e-6, 8.2e-6}}) {
    const auto profile = parse_profile(builtin_profile_text(row.name), row.name);
    ASSERT_TRUE(profile.ok());
    const auto blocking = [](const ProfileSegment& s) {
      return s.o_base_s + s.r_base_s + 2 * s.L_s +
             8 * (s.G_s_per_byte + s.o_per_byte_s + s.r_per_byte_s);
    };
    EXPECT_NEAR(blocking(profile->get.at(8)), row.get_s, 0.01 * row.get_s);
    EXPECT_NEAR(blocking(profile->put.at(8)), row.put_s, 0.01 * row.put_s);
  }
}

TEST(Profile, RefusesWhatCannotExist) {
  Json negative = builtin("opteron-vapi");
  negative["get"]["segments"][0]["L_s"]["value"] = -1e-6;
  EXPECT_NE(error_of(negative).find("get.segments[0].L_s"), std::string::npos);

  Json unmarked = builtin("opteron-vapi");
  unmarked["get"]["segments"][0]["g_s"] = {{"value", 1e-6}};
  EXPECT_NE(error_of(unmarked).find("published"), std::string::npos);

  Json descending = builtin("opteron-vapi");
  descending["put"]["segments"][1]["from_bytes"] = 0;
  EXPECT_NE(error_of(descending).find("ascend"), std::string::npos);

  Json serving = builtin("opteron-vapi");
  serving["get"]["segments"][0]["s_base_s"] = {{"value", 1e-6}, {"assumed", "a call"}};
  EXPECT_NE(error_of(serving).find("profile.get.segments[0].s_base_s: a target that is not needed"),
            std::string::npos);
  serving["get"]["needs_target"] = true;
  EXPECT_EQ(error_of(serving), "");
  serving["am"]["segments"][0]["s_base_s"] = {{"value", 1e-6}, {"assumed", "a call"}};
  EXPECT_NE(error_of(serving).find("serving a message takes is r_base_s"), std::string::npos);

  Json future = builtin("opteron-vapi");
  future["schema_version"] = 2;
  EXPECT_NE(error_of(future).find("version"), std::string::npos);
}

TEST(Profile, TruncationIsRefusedEverywhere) {
  const std::string_view text = builtin_profile_text("modern-rdma");
  const size_t last_brace = text.rfind('}');
  for (size_t n = 0; n < last_brace; n += 7) {
    EXPECT_FALSE(parse_profile(text.substr(0, n), "truncated").ok()) << n;
  }
}

TEST(ProfileRequest, AppliesOptions) {
  const auto request =
      resolve_profile("emulated:opteron-vapi,compute=none,jitter=off,ranks_per_node=2,lose=1@0.5");
  ASSERT_TRUE(request.ok()) << request.error().message();
  EXPECT_EQ(request->compute, ComputeMode::none);
  EXPECT_EQ(request->profile.jitter_within_run, 0);
  EXPECT_EQ(request->profile.ranks_per_node, 2U);
  EXPECT_EQ(request->profile.lost_rank, 1U);
}

TEST(ProfileRequest, DeclaredWorkNeedsAProcessor) {
  for (const std::string& name : builtin_profile_names()) {
    const auto request = resolve_profile("emulated:" + name + ",compute=declared");
    ASSERT_TRUE(request.ok()) << request.error().message();
    EXPECT_EQ(request->compute, ComputeMode::declared);
  }
  Json profile = builtin("opteron-vapi");
  EXPECT_EQ(error_of(profile), "");
  profile["processor"]["flops_per_s"]["value"] = 2e9;
  const auto parsed = parse_profile(profile.dump(), "test");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message();
  EXPECT_DOUBLE_EQ(parsed->processor->seconds({.flops = 4, .bytes = 0, .rows = 0}), 2e-9);
  EXPECT_DOUBLE_EQ(parsed->processor->seconds({.flops = 4, .bytes = 6, .rows = 1}),
                   2e-9 + 2e-9 + 2e-8);
  profile["processor"]["flops_per_s"]["value"] = 0;
  EXPECT_NE(error_of(profile).find("processor.flops_per_s"), std::string::npos);
  profile["processor"].erase("flops_per_s");
  EXPECT_NE(error_of(profile).find("flops_per_s"), std::string::npos);

  profile.erase("processor");
  const std::string path = testing::TempDir() + "no-processor.json";
  std::ofstream(path) << profile.dump();
  const auto refused = resolve_profile("emulated:" + path + ",compute=declared");
  std::remove(path.c_str());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("'processor'"), std::string::npos);
}

TEST(ProfileRequest, NamesTheTrace) {
  const auto record = resolve_profile("emulated:opteron-vapi,compute=record:/tmp/a:b,jitter=off");
  ASSERT_TRUE(record.ok()) << record.error().message();
  EXPECT_EQ(record->compute, ComputeMode::record);
  EXPECT_EQ(record->trace_path, "/tmp/a:b");
  EXPECT_EQ(resolve_profile("emulated:opteron-vapi,compute=replay:x")->compute,
            ComputeMode::replay);
}

TEST(ProfileRequest, NamesWhatIsKnown) {
  const auto unknown = resolve_profile("emulated:nonsense");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code(), ErrorCode::invalid_argument);
  EXPECT_NE(unknown.error().message().find("opteron-vapi"), std::string::npos);
  EXPECT_FALSE(resolve_profile("emulated:opteron-vapi,speed=11").ok());
  EXPECT_FALSE(resolve_profile("emulated:opteron-vapi,compute=-1").ok());
  EXPECT_FALSE(resolve_profile("emulated:opteron-vapi,compute=replay:").ok());
  EXPECT_FALSE(resolve_profile("emulated:opteron-vapi,host_delays=often").ok());
}

TEST(Profile, SwitchesHoldEverythingUnlessItSaysHowMuch) {
  const auto packets_of = [](const char* name) {
    return parse_profile(builtin_profile_text(name), name)->tree.packets();
  };
  EXPECT_EQ(packets_of("opteron-vapi").packet_bytes, 0U);
  EXPECT_EQ(packets_of("congested-tree").packet_bytes, 0U);
  EXPECT_EQ(packets_of("congested-tree").buffer_bytes, 0U);
  EXPECT_EQ(packets_of("small-buffer-tree").packet_bytes, 2048U);
  EXPECT_EQ(packets_of("small-buffer-tree").buffer_bytes, 16384U);
}

TEST(Profile, RefusesTreesThatCannotBeBuilt) {
  EXPECT_FALSE(parse_profile(builtin_profile_text("congested-tree"), "test")->tree.empty());
  const auto with = [](const char* member, const Json& value) {
    Json profile = builtin("congested-tree");
    profile[Json::json_pointer(std::string("/fat_tree/") + member)] = value;
    return error_of(profile);
  };
  EXPECT_EQ(with("levels/0/up", 1), "");
  EXPECT_NE(with("levels/0/up", 0).find("fat_tree.levels[0].up"), std::string::npos);
  EXPECT_NE(with("levels/1/down", 1000).find("fat_tree.levels[1].down"), std::string::npos);
  EXPECT_NE(with("levels/2/up", 1).find("uppermost"), std::string::npos);
  EXPECT_NE(with("levels", Json::array()).find("1 to 6 levels"), std::string::npos);
  const auto bytes = [](double value) { return Json{{"value", value}, {"assumed", "for a test"}}; };
  EXPECT_EQ(with("packet_bytes", bytes(256)), "");
  EXPECT_NE(with("packet_bytes", bytes(0)).find("fat_tree.packet_bytes"), std::string::npos);
  EXPECT_NE(with("packet_bytes", 256).find("packet_bytes"), std::string::npos);
  EXPECT_NE(with("buffer_bytes", bytes(16384)).find("give packet_bytes"), std::string::npos);
  Json packets = builtin("small-buffer-tree");
  for (const auto& [value, accepted] : {std::pair(2048.0, true), std::pair(2047.0, false),
                                        std::pair(0.0, false), std::pair(1e12, false)}) {
    packets["fat_tree"]["buffer_bytes"] = bytes(value);
    EXPECT_EQ(error_of(packets).find("fat_tree.buffer_bytes") == std::string::npos, accepted)
        << value;
  }
  EXPECT_NE(with("levels/0/G_s_per_byte", 1e-9).find("G_s_per_byte"), std::string::npos);
}

}  // namespace
}  // namespace stripline::fabric
