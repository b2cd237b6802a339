// Names, units, tables.
#include <gtest/gtest.h>

#include "cli/format.h"
#include "cli/names.h"

namespace stripline::cli {
namespace {

TEST(Names, ShortAndFullFormsMeanTheSame) {
  EXPECT_EQ(*campaign_resource("c3"), "campaigns/c3");
  EXPECT_EQ(*campaign_resource("campaigns/c3"), "campaigns/c3");
  EXPECT_EQ(*run_resource("c3/2"), "campaigns/c3/runs/2");
  EXPECT_EQ(*run_resource("campaigns/c3/runs/2"), "campaigns/c3/runs/2");
  EXPECT_EQ(*operation_resource("o7"), "operations/o7");
  EXPECT_EQ(short_name("operations/o7"), "o7");
  EXPECT_EQ(*model_resource("tcp"), "models/tcp");
  EXPECT_EQ(*model_resource("tcp@2"), "models/tcp/versions/2");
  EXPECT_EQ(*model_resource("models/tcp/versions/2"), "models/tcp/versions/2");
  EXPECT_EQ(*model_resource("tcp@stable"), "models/tcp/labels/stable");
  EXPECT_EQ(*model_resource("models/tcp/labels/stable"), "models/tcp/labels/stable");
  EXPECT_EQ(short_name("models/tcp/labels/stable"), "tcp@stable");
  EXPECT_EQ(model_segment("models/tcp/labels/stable"), "tcp");
  EXPECT_EQ(*node_resource("nodes/a"), "nodes/a");
  EXPECT_EQ(short_name("models/tcp/versions/2"), "tcp@2");
  EXPECT_EQ(short_name("campaigns/c3"), "c3");
  EXPECT_EQ(model_segment("models/tcp/versions/2"), "tcp");
  for (const char* bad : {"", "C3", "a/b", "-x", "tcp@", "models/", "tcp@2@3", "tcp@Stable",
                          "models/tcp/versions/stable"}) {
    EXPECT_FALSE(model_resource(bad).ok()) << bad;
  }
  EXPECT_FALSE(campaign_resource("c3/runs/1").ok());
  EXPECT_FALSE(run_resource("c3").ok());
  EXPECT_FALSE(run_resource("c3/x").ok());
  EXPECT_FALSE(run_resource("/2").ok());
}

TEST(Format, Shares) {
  EXPECT_EQ(percent_text(0.0349), "3.5 %");
  EXPECT_EQ(percent_text(0.0002), "0.02 %");
  EXPECT_EQ(percent_text(0.0999), "10 %");
  EXPECT_EQ(percent_text(1), "100 %");
  EXPECT_EQ(percent_text(1.25), "125 %");
  EXPECT_EQ(percent_text(-1.34), "-134 %");
  EXPECT_EQ(percent_text(-0.0349), "-3.5 %");
}

TEST(Format, Dates) {
  EXPECT_EQ(date_text("2026-11-26T07:34:40.123Z"), "2026-11-26 07:34 UTC");
  EXPECT_EQ(date_text("2026-11-26T07:34Z"), "2026-11-26 07:34 UTC");
  EXPECT_EQ(date_text("yesterday"), "yesterday");
  EXPECT_EQ(date_text(""), "");
}

TEST(Format, FitCutsVisibly) {
  EXPECT_EQ(fit("hello", 5), "hello");
  EXPECT_EQ(fit("hello world", 7), "hello..");
  EXPECT_EQ(fit("hello", 2), "..");
  EXPECT_EQ(fit("\u00e4\u00f6\u00fc\u00e4\u00f6", 4), "\u00e4\u00f6..");
}

}  // namespace
}  // namespace stripline::cli
