// Names, suggestions, units, tables.
#include <gtest/gtest.h>

#include "cli/format.h"
#include "cli/names.h"
#include "cli/suggest.h"

namespace stripline::cli {
namespace {

TEST(Names, ShortAndFullFormsMeanTheSame) {
  EXPECT_EQ(*campaign_resource("c3"), "campaigns/c3");
  EXPECT_EQ(*campaign_resource("campaigns/c3"), "campaigns/c3");
  EXPECT_EQ(*model_resource("tcp"), "models/tcp");
  EXPECT_EQ(*model_resource("tcp@2"), "models/tcp/versions/2");
  EXPECT_EQ(*model_resource("models/tcp/versions/2"), "models/tcp/versions/2");
  EXPECT_EQ(*node_resource("nodes/a"), "nodes/a");
  EXPECT_EQ(short_name("models/tcp/versions/2"), "tcp@2");
  EXPECT_EQ(short_name("campaigns/c3"), "c3");
  EXPECT_EQ(model_segment("models/tcp/versions/2"), "tcp");
  for (const char* bad : {"", "C3", "a/b", "-x", "tcp@", "models/"}) {
    EXPECT_FALSE(model_resource(bad).ok()) << bad;
  }
  EXPECT_FALSE(campaign_resource("c3/runs/1").ok());
}

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
}

TEST(Format, Units) {
  EXPECT_EQ(seconds_per_byte_text(0.28e-9), "0.28 ns/B");
  EXPECT_EQ(duration_text(58.4), "58 s");
  EXPECT_EQ(duration_text(185), "3:05");
  EXPECT_EQ(duration_text(3723), "1:02:03");
}

TEST(Format, FitCutsVisibly) {
  EXPECT_EQ(fit("hello", 5), "hello");
  EXPECT_EQ(fit("hello world", 7), "hello..");
  EXPECT_EQ(fit("hello", 2), "..");
  EXPECT_EQ(fit("\u00e4\u00f6\u00fc\u00e4\u00f6", 4), "\u00e4\u00f6..");
}

TEST(Format, TablesAlign) {
  Table table({{"NAME"}, {"N", Table::Align::right}, {"LAST"}});
  table.add({"a", "1", ""});
  table.add({"longer", "100", "x"});
  EXPECT_EQ(table.text(2),
            "  NAME      N  LAST\n"
            "  a         1\n"
            "  longer  100  x\n");
}

}  // namespace
}  // namespace stripline::cli
