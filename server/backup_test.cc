#include "server/backup.h"

#include <atomic>
#include <chrono>
#include <iostream>
#include <random>
#include <thread>

#include "base/testing/test_size.h"
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

}  // namespace
}  // namespace stripline::server
