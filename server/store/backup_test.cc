#include "server/store/backup.h"

#include <atomic>
#include <chrono>
#include <iostream>
#include <random>
#include <thread>

#include "base/testing/assert_ok.h"
#include "base/testing/test_size.h"
#include "server/security/authority.h"
#include "server/store/sql_copy.h"
#include "server/store/sqlite.h"
#include "server/testing/store_fixture.h"

namespace stripline::server {
namespace {

using BackupTest = StoreTest;

TEST_F(BackupTest, IsWhole) {
  apply({.campaigns = {campaign(1)}, .runs = {run(1, 1)}, .attempts = {{{1, 1}, 1, "a"}}});
  apply({.batches = {batch({1, 1}, 1, 1)}});
  const auto target = folder_ / "it's a copy.db";
  // While the server has it open.
  ASSERT_TRUE(back_up(path_, target).ok());
  EXPECT_EQ(std::filesystem::status(target).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_FALSE(std::filesystem::exists(target.string() + ".part"));
  apply({.batches = {batch({1, 1}, 1, 2)}});
  EXPECT_EQ(back_up(path_, target).error().code(), ErrorCode::already_exists);
  EXPECT_EQ(back_up(folder_ / "none", folder_ / "b").error().code(), ErrorCode::not_found);
  EXPECT_EQ(store_->fence_base(), 0U);
  path_ = target;
  reopen();
  check([&] {
    EXPECT_EQ(store_->batches(1, 0, 10)->size(), 1U);
    // Once: agents may still work on what was given out after it.
    EXPECT_EQ(store_->fence_base(), uint64_t{1} << 32);
  });
}

// `size` bytes that do not compress.
std::string noise(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// Whoever writes meanwhile does not make it begin again, and what was stored before is in it. How
// large the database is, `scripts/check.sh backup` says.
TEST_F(BackupTest, EndsUnderLoad) {
  const uint64_t before = test_size("STRIPLINE_TEST_BACKUP_MIB", 8);
  apply({.campaigns = {campaign(1)}, .runs = {run(1, 1)}, .attempts = {{{1, 1}, 1, "a"}}});
  BatchRecord big = batch({1, 1}, 1, 1);
  for (; big.seq <= before; ++big.seq) {
    big.data = noise(size_t{1} << 20, big.seq);
    apply({.batches = {big}});
  }
  std::atomic<bool> stop = false;
  std::atomic<uint64_t> stored = 0;
  std::thread writer([&] {
    for (uint64_t seq = before + 1; !stop; ++seq, ++stored) {
      apply({.batches = {batch({1, 1}, 1, seq)}});
    }
  });
  while (stored == 0) std::this_thread::yield();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(back_up(path_, folder_ / "copy.db").ok());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const uint64_t during = stored;
  stop = true;
  writer.join();
  std::cout << "backup of " << store_->size()->bytes << " bytes: " << took.count() << " s, "
            << during << " batches stored meanwhile\n";

  // Restored, it has all of that, and goes on.
  path_ = folder_ / "copy.db";
  reopen();
  const uint64_t last = *store_->contiguous_batches({1, 1}, 1);
  EXPECT_GT(last, before);
  EXPECT_EQ(*store_->has_batch({1, 1}, 1, 1, noise(size_t{1} << 20, 1)), true);
  EXPECT_EQ(*store_->has_batch({1, 1}, 1, before, noise(size_t{1} << 20, before)), true);
  EXPECT_EQ(*store_->has_batch({1, 1}, 1, last, batch({1, 1}, 1, last).data), true);
  apply({.batches = {batch({1, 1}, 1, last + 1)}});
}

// Without them every node and every user would be a stranger to the restored server.
TEST_F(BackupTest, CertificatesAndKeysAreInIt) {
  const TempFolder data;
  ASSERT_TRUE(Authority::create(data.path(), {"head"}, 2e9).ok());
  const auto copy = folder_ / "copy.db";
  ASSERT_TRUE(back_up(path_, copy, data.path()).ok());

  const TempFolder next;
  ASSERT_OK_AND_ASSIGN(const auto restored, restore(copy, next / "stripline.db", next.path()));
  EXPECT_TRUE(restored);
  const auto before = Authority::open(data.path(), 2e9);
  ASSERT_OK_AND_ASSIGN(const auto after, Authority::open(next.path(), 2e9));
  EXPECT_EQ(after.sha256(), before->sha256());
  // The server's database does not hold them.
  path_ = next / "stripline.db";
  reopen();
  store_.reset();
  EXPECT_EQ(read_file(path_).find("PRIVATE KEY"), std::string::npos);

  // What is there stays.
  const TempFolder other;
  ASSERT_TRUE(Authority::create(other.path(), {"head"}, 2e9).ok());
  const auto own = Authority::open(other.path(), 2e9)->sha256();
  ASSERT_OK_AND_ASSIGN(const auto kept, restore(copy, other / "stripline.db", other.path()));
  EXPECT_FALSE(kept);
  EXPECT_EQ(Authority::open(other.path(), 2e9)->sha256(), own);
}

TEST_F(BackupTest, FilesOfOtherNamesAreNotWritten) {
  const auto copy = folder_ / "copy.db";
  ASSERT_TRUE(back_up(path_, copy).ok());
  auto database = SqliteDatabase::open(copy.string());
  ASSERT_TRUE(database.ok());
  ASSERT_TRUE(database
                  ->execute("CREATE TABLE backup_files (name TEXT PRIMARY KEY, content TEXT);"
                            "INSERT INTO backup_files VALUES ('../../evil', 'x')")
                  .ok());
  const TempFolder next;
  const auto restored = restore(copy, next / "stripline.db", next.path());
  ASSERT_FALSE(restored.ok());
  EXPECT_EQ(restored.error().code(), ErrorCode::data_loss);
  EXPECT_FALSE(std::filesystem::exists(next / "stripline.db"));
}

// Its names become part of statements for the database that it is restored into.
TEST_F(BackupTest, NamesThatAreNoneOfOursAreRefused) {
  const auto copy = folder_ / "copy.db";
  ASSERT_TRUE(back_up(path_, copy).ok());
  auto database = SqliteDatabase::open(copy.string());
  ASSERT_TRUE(database.ok());
  ASSERT_TRUE(database->execute(R"(CREATE TABLE "t (x); DROP TABLE campaigns; --" (a))").ok());
  const ForEachRow none = [](const std::string& /*sql*/, const auto& /*row*/) { return Status(); };
  const Status copied = copy_rows(*database, none, *database);
  ASSERT_FALSE(copied.ok());
  EXPECT_EQ(copied.error().code(), ErrorCode::data_loss);
  EXPECT_NE(copied.error().message().find("is not the name of a table"), std::string::npos);
}

}  // namespace
}  // namespace stripline::server
