#include "base/report_socket.h"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "base/testing/processes.h"

namespace stripline {
namespace {

namespace fs = std::filesystem;

TEST(ReportSocket, TakesReportsInTheirOrder) {
  const TempFolder folder;
  const std::vector<fs::path> folders = {folder.path() / "none", folder.path() / "models"};
  EXPECT_EQ(ReportSocket::listen(folders[1]).error().code(), ErrorCode::unavailable);
  fs::create_directory(folders[1]);
  EXPECT_EQ(send_report(folders, "early").error().code(), ErrorCode::not_found);
  ASSERT_OK_AND_ASSIGN(const auto socket, ReportSocket::listen(folders[1]));
  EXPECT_EQ(socket.take(10), std::nullopt);
  const std::string large(size_t{128} << 10, 'x');
  ASSERT_TRUE(send_report(folders, "first").ok());
  ASSERT_TRUE(send_report(folders, large + "x").ok());
  ASSERT_TRUE(send_report(folders, large).ok());
  EXPECT_EQ(socket.take(large.size()), "first");
  EXPECT_EQ(socket.take(large.size()), std::nullopt) << "this one is too large";
  EXPECT_EQ(socket.take(large.size()), large);
  EXPECT_EQ(socket.take(large.size()), std::nullopt);
}

TEST(ReportSocket, NobodyWaitsForAnAgentThatDoesNotRead) {
  const TempFolder folder;
  ASSERT_OK_AND_ASSIGN(const auto socket, ReportSocket::listen(folder.path()));
  Status sent;
  for (int i = 0; sent.ok() && i < 100'000; ++i) sent = send_report({folder.path()}, "report");
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().code(), ErrorCode::unavailable);
}

TEST(ReportSocket, OneProcessListensAndAnyUserMaySend) {
  const TempFolder folder;
  {
    ASSERT_OK_AND_ASSIGN(const auto first, ReportSocket::listen(folder.path()));
    const auto second = ReportSocket::listen(folder.path());
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code(), ErrorCode::already_exists);
    struct stat status {};
    ASSERT_EQ(::stat((folder.path() / "reports.sock").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0666U);
  }
  EXPECT_FALSE(fs::exists(folder.path() / "reports.sock"));
}

TEST(ReportSocket, WhatAKilledAgentHasLeftIsReplaced) {
  const TempFolder folder;
  EXPECT_EXIT(
      {
        const auto socket = ReportSocket::listen(folder.path());
        std::_Exit(socket.ok() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  ASSERT_TRUE(fs::exists(folder.path() / "reports.sock"));
  EXPECT_TRUE(ReportSocket::listen(folder.path()).ok());
  EXPECT_EQ(ReportSocket::listen(folder.path() / std::string(200, 'x')).error().code(),
            ErrorCode::unavailable);
}

}  // namespace
}  // namespace stripline
