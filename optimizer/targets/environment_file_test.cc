#include "optimizer/targets/environment_file.h"

#include <gtest/gtest.h>

#include "optimizer/targets/lines.h"

namespace stripline::targets {
namespace {

TEST(EnvironmentFile, RoundTrips) {
  const std::vector<Setting> settings = {{"FI_TCP_IFACE", "eth0"},
                                         {"UCX_TLS", "tcp,self"},
                                         {"GASNET_SSH_OPTIONS", "-o Port=22 x"},
                                         {"EMPTY", ""}};
  const auto text = write_environment(settings, {"for tests", "", "second\nline"});
  ASSERT_TRUE(text.ok());
  EXPECT_TRUE(text->starts_with("# for tests\n#\n# secondline\nexport FI_TCP_IFACE=eth0\n"));
  const auto read = read_environment(*text, "file");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(*read, settings);
}

TEST(EnvironmentFile, RefusesWhatAShellWouldExpand) {
  for (const char* bad :
       {"A=$HOME\n", "A=`id`\n", "A=1;rm x\n", "A=b c\n", "A='b\n", "A=\"b$c\"\n", "A=b\\\n", "A\n",
        "1A=b\n", "=b\n", "A=1\nA=2\n", "export A\n", "A=\x01\n", "A=b # c\n", "A='a'b'\n"}) {
    EXPECT_FALSE(read_environment(bad, "file").ok()) << bad;
  }
  EXPECT_FALSE(read_environment(std::string_view("A=b\n# x\0y\n", 10), "file").ok());
  const auto windows = read_environment("A=b\r\nB='c'\r\n", "file");
  ASSERT_FALSE(windows.ok());
  EXPECT_NE(windows.error().message().find("carriage returns"), std::string::npos);
  EXPECT_FALSE(write_environment({{"A", "$(id)"}}, {}).ok());
  EXPECT_FALSE(write_environment({{"A", "a\nb"}}, {}).ok());
  EXPECT_FALSE(write_environment({{"A B", "a"}}, {}).ok());
  EXPECT_FALSE(write_environment({{"A", "a"}, {"A", "b"}}, {}).ok());
}

TEST(Lines, CommentsAtTheHeadAreReadBack) {
  const std::vector<std::string> comments = {"who", "", "# when"};
  EXPECT_EQ(leading_comments(comment_block(comments) + "A=1\n# later\n"), comments);
  EXPECT_EQ(leading_comments("# no end"), std::vector<std::string>{"no end"});
  EXPECT_TRUE(leading_comments("A=1\n").empty());
}

TEST(EnvironmentFile, NamesTheLine) {
  const auto read = read_environment("A=1\n\nB=$C\n", "'x.sh'");
  ASSERT_FALSE(read.ok());
  EXPECT_TRUE(read.error().message().starts_with("'x.sh', line 3: ")) << read.error().message();
}

}  // namespace
}  // namespace stripline::targets
