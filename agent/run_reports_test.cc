#include "agent/run_reports.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/testing/processes.h"

namespace stripline::agent {
namespace {

TEST(RunReports, AreKeptUntilTheServerCanBeToldWithinBounds) {
  const TempFolder folder;
  const std::filesystem::path models = folder.path() / "models";
  RunReports reports(models.string());
  reports.listen();
  EXPECT_EQ(reports.fd(), -1);
  std::filesystem::create_directory(models);
  reports.listen();
  reports.listen();
  ASSERT_GE(reports.fd(), 0);
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(send_report({models}, std::to_string(i)).ok());
    reports.read();
  }
  const auto kept = reports.take();
  ASSERT_EQ(kept.size(), 16U);
  EXPECT_EQ(kept.front(), "0");
  EXPECT_TRUE(reports.take().empty());
  ASSERT_TRUE(send_report({models}, "later").ok());
  reports.read();
  EXPECT_EQ(reports.take(), std::vector<std::string>{"later"});
}

TEST(RunReports, AnAgentWithoutAFolderTakesNone) {
  RunReports reports("");
  reports.listen();
  EXPECT_EQ(reports.fd(), -1);
  EXPECT_TRUE(reports.take().empty());
}

}  // namespace
}  // namespace stripline::agent
