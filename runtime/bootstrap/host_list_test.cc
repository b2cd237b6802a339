#include "runtime/bootstrap/host_list.h"

#include <gtest/gtest.h>

namespace stripline::bootstrap {
namespace {

std::string refusal(const Result<HostList>& list) {
  if (list.ok()) return "not refused";
  EXPECT_EQ(list.error().code(), ErrorCode::invalid_argument);
  return list.error().message();
}

TEST(HostList, NamesWithAndWithoutSlots) {
  EXPECT_EQ(*parse_host_list("a,b"), (HostList{{{"a", 1}, {"b", 1}}, false}));
  EXPECT_EQ(*parse_host_list("a:4,b:2"), (HostList{{{"a", 4}, {"b", 2}}, true}));
  EXPECT_EQ(*parse_host_list("ada@node-7.cluster:3"),
            (HostList{{{"ada@node-7.cluster", 3}}, true}));
  EXPECT_EQ(*parse_host_list("10.0.0.1,[fe80::1%eth0],ada@[::1]"),
            (HostList{{{"10.0.0.1", 1}, {"fe80::1%eth0", 1}, {"ada@::1", 1}}, false}));
  EXPECT_EQ(*parse_host_list("[::1]:4"), (HostList{{{"::1", 4}}, true}));
}

TEST(HostList, HostsThatAreNamedAgainGetTheSlotsOfBoth) {
  EXPECT_EQ(*parse_host_list("a,b,a"), (HostList{{{"a", 2}, {"b", 1}}, false}));
  EXPECT_EQ(*parse_host_list("a:2,b:2,a:3"), (HostList{{{"a", 5}, {"b", 2}}, true}));
}

TEST(HostList, WhatIsNoListIsRefused) {
  for (const char* text : {"", "a,", ",a", "a,,b", ":4", "@", "ada@"}) {
    EXPECT_NE(refusal(parse_host_list(text)).find("name"), std::string::npos) << text;
  }
  for (const char* text : {"-oProxyCommand=x", "a b", "a;b", "$(id)", "a\nb", "a/b"}) {
    EXPECT_NE(refusal(parse_host_list(text)).find("is not the name of a host"), std::string::npos)
        << text;
  }
  for (const char* text : {"a:0", "a:", "a:x", "a:-1", "a:99999999", "[::1]:"}) {
    EXPECT_NE(refusal(parse_host_list(text)).find("number of slots"), std::string::npos) << text;
  }
  EXPECT_NE(refusal(parse_host_list("fe80::1")).find("brackets"), std::string::npos);
  EXPECT_NE(refusal(parse_host_list("[::1")).find("lacks a ']'"), std::string::npos);
  EXPECT_NE(refusal(parse_host_list("[::1]4")).find("after the ']'"), std::string::npos);
  EXPECT_EQ(refusal(parse_host_list("a:4,b")),
            "there is a number of slots for a and none for b; give one for each host, or for none");
  EXPECT_EQ(refusal(parse_host_list("b,a:4")),
            "there is a number of slots for a and none for b; give one for each host, or for none");
  EXPECT_NE(refusal(parse_host_list("a:1048576,b:1")).find("1048577 slots"), std::string::npos);
}

TEST(HostList, FilesHaveOneHostALine) {
  EXPECT_EQ(*parse_hosts_file("# two\n\na slots=4\n  b:2   # with a word\n[::1]:1", "f"),
            (HostList{{{"a", 4}, {"b", 2}, {"::1", 1}}, true}));
  EXPECT_EQ(*parse_hosts_file("a\r\nb\n", "f"), (HostList{{{"a", 1}, {"b", 1}}, false}));
  EXPECT_EQ(refusal(parse_hosts_file("a\nb max_slots=4\n", "f")),
            "f, line 2: 'max_slots=4' is not understood; write HOST, HOST:4 or HOST slots=4");
  EXPECT_NE(refusal(parse_hosts_file("a:2 slots=2", "f")).find("f, line 1: 'slots=2'"),
            std::string::npos);
  EXPECT_EQ(refusal(parse_hosts_file("# none\n", "f")), "f names no host");
  EXPECT_NE(refusal(parse_hosts_file("a:2\nb\n", "f")).find("f: there is a number"),
            std::string::npos);
}

TEST(HostList, RanksAreSharedOutInBlocks) {
  const auto shared = [](const char* hosts, std::optional<uint32_t> ranks) {
    return *distribute(*parse_host_list(hosts), ranks);
  };
  using Shares = std::vector<HostRanks>;
  EXPECT_EQ(shared("a,b", 4), (Shares{{"a", 0, 2}, {"b", 2, 2}}));
  EXPECT_EQ(shared("a,b,c", 5), (Shares{{"a", 0, 2}, {"b", 2, 2}, {"c", 4, 1}}));
  EXPECT_EQ(shared("a,b,a", 5), (Shares{{"a", 0, 4}, {"b", 4, 1}}));
  EXPECT_EQ(shared("a,b,c", 2), (Shares{{"a", 0, 1}, {"b", 1, 1}}));
  EXPECT_EQ(shared("a,b", std::nullopt), (Shares{{"a", 0, 1}, {"b", 1, 1}}));
  EXPECT_EQ(shared("a:4,b:4", 6), (Shares{{"a", 0, 4}, {"b", 4, 2}}));
  EXPECT_EQ(shared("a:4,b:4", 3), (Shares{{"a", 0, 3}}));
  EXPECT_EQ(shared("a:1,b:2", std::nullopt), (Shares{{"a", 0, 1}, {"b", 1, 2}}));
  const auto refused = distribute(*parse_host_list("a:4,b:4"), 9);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("9 ranks do not fit the 8 slots"), std::string::npos);
}

}  // namespace
}  // namespace stripline::bootstrap
