#include "base/pki/secret_file.h"

#include <fstream>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "base/testing/processes.h"

namespace stripline::pki {
namespace {

mode_t mode_of(const std::filesystem::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

TEST(SecretFile, OnlyItsOwnerMayReadIt) {
  const TempFolder folder;
  ASSERT_TRUE(make_private_folder(folder / "a" / "b").ok());
  EXPECT_EQ(mode_of(folder / "a" / "b"), 0700U);
  const auto path = folder / "a" / "b" / "secret";
  ASSERT_TRUE(write_secret(path, "first line\nsecond\n").ok());
  EXPECT_EQ(mode_of(path), 0600U);
  EXPECT_EQ(*read_secret(path), "first line\nsecond\n");
  EXPECT_EQ(*read_secret_line(path), "first line");
}

TEST(SecretFile, WritingItAgainClosesWhatWasOpen) {
  const TempFolder folder;
  std::ofstream(folder / "secret") << "old";
  ASSERT_EQ(::chmod((folder / "secret").c_str(), 0644), 0);
  ASSERT_TRUE(write_secret(folder / "secret", "new").ok());
  EXPECT_EQ(mode_of(folder / "secret"), 0600U);
}

TEST(SecretFile, WhatOthersCouldReadIsRefusedWithWhatToDo) {
  const TempFolder folder;
  ASSERT_TRUE(write_secret(folder / "secret", "x").ok());
  for (const mode_t mode : {0640, 0604, 0620, 0601}) {
    ASSERT_EQ(::chmod((folder / "secret").c_str(), mode), 0);
    const auto read = read_secret(folder / "secret");
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code(), ErrorCode::failed_precondition);
    EXPECT_NE(read.error().message().find("chmod 600 "), std::string::npos);
  }
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  const Status made = make_private_folder(folder.path());
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message().find("chmod 700 "), std::string::npos);
}

TEST(SecretFile, AMissingOneIsNamed) {
  const auto read = read_secret("/nowhere/secret");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code(), ErrorCode::not_found);
  EXPECT_NE(read.error().message().find("'/nowhere/secret'"), std::string::npos);
}

}  // namespace
}  // namespace stripline::pki
