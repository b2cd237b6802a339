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
  EXPECT_FALSE(reports.any());
  int sent = 0;
  while (sent < 1000 && send_report({models}, std::to_string(sent)).ok()) {
    if (reports.fd() >= 0) reports.read();
    ++sent;
  }
  EXPECT_LT(sent, 1000) << "a sender of more than there is room for learns of it";
  EXPECT_GE(sent, 16);
  EXPECT_EQ(reports.fd(), -1) << "no reader is woken for what there is no room for";
  EXPECT_EQ(reports.take(), "0");
  EXPECT_GE(reports.fd(), 0);
  for (int i = 1; i < sent; ++i) {
    reports.read();
    EXPECT_EQ(reports.take(), std::to_string(i));
  }
  EXPECT_FALSE(reports.any());
  EXPECT_EQ(reports.take(), std::nullopt);
}

TEST(RunReports, OnesThatAreTooLargeKeepNobodyFromTheRest) {
  const TempFolder folder;
  RunReports reports(folder.path().string());
  reports.listen();
  ASSERT_TRUE(send_report({folder.path()}, std::string(129 << 10, 'x')).ok());
  ASSERT_TRUE(send_report({folder.path()}, "small").ok());
  reports.read();
  EXPECT_FALSE(reports.any());
  reports.read();
  EXPECT_EQ(reports.take(), "small");
}

TEST(RunReports, AnAgentWithoutAFolderTakesNone) {
  RunReports reports("");
  reports.listen();
  EXPECT_EQ(reports.fd(), -1);
  EXPECT_EQ(reports.take(), std::nullopt);
}

}  // namespace
}  // namespace stripline::agent
