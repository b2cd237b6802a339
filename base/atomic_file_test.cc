#include "base/atomic_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "base/host_name.h"
#include "base/testing/processes.h"
#include "base/whole_file.h"

namespace stripline {
namespace {

namespace fs = std::filesystem;

size_t files_in(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {}));
}

TEST(AtomicFile, IsThereOnceItIsWhole) {
  const TempFolder folder;
  const fs::path path = folder / "file";
  ASSERT_TRUE(write_atomically(path, "before").ok());
  {
    auto file = AtomicFile::create(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write("after").ok());
    EXPECT_EQ(*read_whole_file(path), "before");
    ASSERT_TRUE(file->commit().ok());
  }
  EXPECT_EQ(*read_whole_file(path), "after");
  EXPECT_EQ(files_in(folder / ""), 1U);
}

TEST(AtomicFile, LeavesEverythingAsItWasUnlessCommitted) {
  const TempFolder folder;
  const fs::path path = folder / "file";
  ASSERT_TRUE(write_atomically(path, "before").ok());
  {
    auto file = AtomicFile::create(path);
    ASSERT_TRUE(file->write("half of").ok());
  }
  EXPECT_EQ(*read_whole_file(path), "before");
  EXPECT_EQ(files_in(folder / ""), 1U);
}

TEST(AtomicFile, FollowsLinks) {
  const TempFolder folder;
  const fs::path path = folder / "file";
  const fs::path link = folder / "link";
  ASSERT_TRUE(write_atomically(path, "before").ok());
  fs::create_symlink("file", link);
  ASSERT_TRUE(write_atomically(link, "after").ok());
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(*read_whole_file(path), "after");
}

TEST(AtomicFile, LeavesRightsAsTheyWere) {
  const TempFolder folder;
  const fs::path path = folder / "file";
  ASSERT_TRUE(write_atomically(path, "before").ok());
  const auto mine = fs::perms::owner_read | fs::perms::owner_write;
  fs::permissions(path, mine);
  ASSERT_TRUE(write_atomically(path, "after").ok());
  EXPECT_EQ(fs::status(path).permissions(), mine);
}

// As those of one number on two hosts that share a folder.
TEST(AtomicFile, IsNotThatOfAnotherWriter) {
  const TempFolder folder;
  const fs::path path = folder / "file";
  auto one = AtomicFile::create(path);
  auto other = AtomicFile::create(path);
  ASSERT_TRUE(one.ok() && other.ok());
  ASSERT_TRUE(one->write("one").ok());
  ASSERT_TRUE(other->write("the other").ok());
  ASSERT_TRUE(other->commit().ok());
  ASSERT_TRUE(one->commit().ok());
  EXPECT_EQ(*read_whole_file(path), "one");
  EXPECT_EQ(files_in(folder / ""), 1U);
}

TEST(AtomicFile, ReplacesFilesOnly) {
  const TempFolder folder;
  const fs::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Status written = write_atomically(pipe, "text");
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code(), ErrorCode::unavailable);
  EXPECT_NE(written.error().message().find("it is not a regular file"), std::string::npos);
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_EQ(write_atomically(folder / "", "text").error().code(), ErrorCode::unavailable);
  EXPECT_EQ(write_atomically(folder / "none/file", "text").error().code(), ErrorCode::unavailable);
  EXPECT_EQ(files_in(folder / ""), 1U);
}

TEST(WholeFile, IsReadOrSaidWhyNot) {
  const TempFolder folder;
  const fs::path path = folder / "file";
  std::ofstream(path).flush();
  EXPECT_EQ(*read_whole_file(path), "") << "empty is not missing";
  ASSERT_TRUE(write_atomically(path, std::string(100000, 'x')).ok());
  EXPECT_EQ(read_whole_file(path)->size(), 100000U);
  EXPECT_EQ(read_whole_file(path, 99999).error().code(), ErrorCode::data_loss);
  const auto reason = [](const fs::path& of) { return read_whole_file(of).error().message(); };
  EXPECT_NE(reason(folder / "none").find("No such file"), std::string::npos);
  EXPECT_NE(reason(path / "in a file").find("Not a directory"), std::string::npos);
  EXPECT_NE(reason(folder / "").find("it is a folder"), std::string::npos);
  // What cannot be read to its end is no shorter file: address 0 of this process.
  EXPECT_NE(reason("/proc/self/mem").find("Input/output error"), std::string::npos);
}

TEST(WholeFile, HasAFirstLine) {
  const TempFolder folder;
  const fs::path path = folder / "file";
  EXPECT_EQ(first_line(path), "");
  ASSERT_TRUE(write_atomically(path, "one\ntwo\n").ok());
  EXPECT_EQ(first_line(path), "one");
}

TEST(HostName, IsThatOfTheKernel) {
  const std::string known = *read_whole_file("/proc/sys/kernel/hostname");
  EXPECT_EQ(host_name() + "\n", known);
}

}  // namespace
}  // namespace stripline
