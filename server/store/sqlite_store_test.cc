// What the store in an SQLite file does besides what store_test.cc asks of every store: who may
// have the file, what it must be, and files of before.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <vector>

#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/spdlog.h>
#include <sqlite3.h>

#include "base/testing/test_size.h"
#include "server/store/log_bound.h"
#include "server/testing/saboteur.h"
#include "server/testing/store_fixture.h"

namespace stripline::server {
namespace {

TEST_F(StoreTest, WaitsForAnotherWriter) {
  Saboteur other(path_.parent_path());
  other.run("BEGIN IMMEDIATE");
  std::thread ends([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    other.run("COMMIT");
  });
  Changes changes;
  changes.nodes.push_back({"a", "0.1.0", {}, {"tcp"}, {}, 1});
  const Status applied = store_->apply(changes);
  ends.join();
  EXPECT_TRUE(applied.ok()) << applied.error().message();
}

TEST_F(StoreTest, ReadersDoNotWaitForWriters) {
  apply({.campaigns = {campaign(1)}});
  Saboteur other(path_.parent_path());
  other.run("BEGIN IMMEDIATE");
  std::atomic<bool> writing = false;
  Status applied;
  std::thread writer([&] {
    writing = true;
    applied = store_->apply({.campaigns = {campaign(2)}});
  });
  while (!writing) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ((*store_->campaign(1))->message, "queued");
  EXPECT_FALSE(*store_->campaign(2));
  other.run("COMMIT");
  writer.join();
  EXPECT_TRUE(applied.ok()) << applied.error().message();
  EXPECT_TRUE(*store_->campaign(2));
}

// Whoever writes without a pause would never let the log begin again.
TEST_F(StoreTest, TheLogIsCutBetweenTwoSteps) {
  constexpr uintmax_t kMax = LogBound::kMaxBytes;
  const auto log_bytes = [&] { return std::filesystem::file_size(path_.string() + "-wal"); };
  const auto write = [&](int64_t number) {
    CampaignRecord record = campaign(number);
    record.message = std::string(size_t{1} << 20, 'x');
    apply({.campaigns = {record}});
  };
  write(1);
  {
    Saboteur reader(path_.parent_path());
    reader.run("BEGIN; SELECT count(*) FROM campaigns");
    for (int64_t number = 2; log_bytes() <= kMax; ++number) write(number);
    write(1000);
    EXPECT_GT(log_bytes(), kMax) << "another program reads in it";
    reader.run("COMMIT");
  }
  // Within a second of the last attempt.
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (log_bytes() > kMax && std::chrono::steady_clock::now() < patience) {
    apply({.campaigns = {campaign(1)}});
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  for (int64_t number = 1001; number < 1100; ++number) {
    write(number);
    EXPECT_LE(log_bytes(), kMax) << number;
  }
}

// A backup may keep it for long.
TEST_F(StoreTest, StepsWaitForNoReadsWhileAnotherProgramKeepsTheLog) {
  Saboteur backup(path_.parent_path());
  backup.run("BEGIN; SELECT count(*) FROM campaigns");
  for (int64_t number = 1;
       std::filesystem::file_size(path_.string() + "-wal") <= LogBound::kMaxBytes; ++number) {
    CampaignRecord record = campaign(number);
    record.message = std::string(size_t{1} << 20, 'x');
    apply({.campaigns = {record}});
  }
  std::atomic<uint64_t> steps = 0;
  std::atomic<uint64_t> most_in_a_read = 0;
  std::atomic<bool> ended = false;
  std::thread reads([&] {
    while (!ended) {
      const uint64_t before = steps;
      const auto all = store_->campaigns(0, 1000);
      most_in_a_read = std::max<uint64_t>(most_in_a_read, steps - before);
      EXPECT_TRUE(all.ok());
    }
  });
  // Where a step waits for a read, one is made in it, or two.
  constexpr uint64_t kMany = 10;
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (most_in_a_read < kMany && std::chrono::steady_clock::now() < patience) {
    apply({.campaigns = {campaign(1000)}});
    ++steps;
  }
  ended = true;
  reads.join();
  EXPECT_GE(most_in_a_read, kMany);
  backup.run("COMMIT");
}

TEST_F(StoreTest, AReaderDoesNotKeepOthersWaiting) {
  constexpr int64_t kPoints = cases_here(int64_t{100'000});
  CampaignPoints many{1, {}};
  for (int64_t i = 0; i < kPoints; ++i) {
    many.points.push_back({"micro.latency", "put", {{"bytes", i}}});
  }
  apply({.campaigns = {campaign(1)}, .points = {std::move(many)}});
  std::atomic<uint64_t> others = 0;
  std::atomic<uint64_t> most_in_a_read = 0;
  std::atomic<bool> ended = false;
  std::thread reader([&] {
    while (!ended) {
      const uint64_t before = others;
      EXPECT_EQ(store_->points(1, {}, 0, kPoints)->size(), static_cast<size_t>(kPoints));
      most_in_a_read = std::max<uint64_t>(most_in_a_read, others - before);
    }
  });
  // Where others wait for it, one reads beside it, or two.
  constexpr uint64_t kMany = 10;
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (most_in_a_read < kMany && std::chrono::steady_clock::now() < patience) {
    EXPECT_TRUE(*store_->campaign(1));
    ++others;
  }
  ended = true;
  reader.join();
  EXPECT_GE(most_in_a_read, kMany);
}

TEST_F(StoreTest, WhatIsStoredIsSeenByEveryReader) {
  apply({.campaigns = {campaign(1)}});
  std::atomic<bool> ended = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 8; ++i) {
    readers.emplace_back([&] {
      while (!ended) EXPECT_TRUE(*store_->campaign(1));
    });
  }
  for (int64_t number = 2; number < 40; ++number) {
    apply({.campaigns = {campaign(number)}});
    EXPECT_TRUE(*store_->campaign(number));
  }
  ended = true;
  for (auto& reader : readers) reader.join();
}

// The log grows while somebody reads in it; it must not stay as large for ever.
TEST_F(StoreTest, TheLogShrinksWhenNobodyReadsInItAnyMore) {
  const auto log_bytes = [&] { return std::filesystem::file_size(path_.string() + "-wal"); };
  const auto write = [&](int64_t number) {
    CampaignRecord record = campaign(number);
    record.message = std::string(size_t{1} << 20, 'x');
    apply({.campaigns = {record}});
  };
  Saboteur reader(path_.parent_path());
  reader.run("BEGIN");
  reader.run("SELECT count(*) FROM campaigns");
  for (int64_t number = 1; number <= 40; ++number) write(number);
  EXPECT_GT(log_bytes(), size_t{32} << 20);
  reader.run("COMMIT");
  // Each commit is followed by a checkpoint within a second or so.
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  int64_t number = 41;
  while (log_bytes() > size_t{24} << 20 && std::chrono::steady_clock::now() < patience) {
    apply({.campaigns = {campaign(number++)}});
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  EXPECT_LE(log_bytes(), size_t{24} << 20);
}

// Once, and how much of the log the program holds back.
TEST_F(StoreTest, AProgramThatKeepsTheLogIsWarnedOf) {
  const auto log = std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(10);
  spdlog::default_logger()->sinks().push_back(log);
  Saboteur reader(path_.parent_path());
  reader.run("BEGIN; SELECT count(*) FROM campaigns");
  const auto warned = [&] {
    const std::vector<std::string> lines = log->last_formatted();
    return std::ranges::count_if(lines, [](const std::string& line) {
      return std::regex_search(
          line,
          std::regex("the database's write-ahead log has [0-9]+ pages, of which [0-9]+ can be "
                     "copied into the database: a program that reads the file .* has kept a "
                     "transaction open since; end it"));
    });
  };
  // Each commit is followed by a checkpoint within a second or so.
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (int64_t number = 1; warned() == 0 && std::chrono::steady_clock::now() < patience; ++number) {
    CampaignRecord record = campaign(number);
    record.message = std::string(number <= 40 ? size_t{1} << 20 : 1, 'x');
    apply({.campaigns = {record}});
    if (number > 40) std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  EXPECT_EQ(warned(), 1);
  reader.run("COMMIT");
  store_.reset();  // no thread of it uses the log any more
  spdlog::default_logger()->sinks().pop_back();
}

// As after SIGKILL, which leaves the log as large as it was.
TEST_F(StoreTest, TheLogOfAServerThatWasKilledIsCutAtTheStart) {
  Saboteur reader(path_.parent_path());
  reader.run("BEGIN; SELECT count(*) FROM campaigns");
  for (int64_t number = 1; number <= 40; ++number) {
    CampaignRecord record = campaign(number);
    record.message = std::string(size_t{1} << 20, 'x');
    apply({.campaigns = {record}});
  }
  const TempFolder other;
  const std::filesystem::path left = other.path() / path_.filename();
  for (const char* suffix : {"", "-wal"}) {
    std::filesystem::copy_file(path_.string() + suffix, left.string() + suffix);
  }
  reader.run("COMMIT");
  const auto log_bytes = [&] { return std::filesystem::file_size(left.string() + "-wal"); };
  EXPECT_GT(log_bytes(), size_t{32} << 20);
  const auto again = open_sqlite_store(left);
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_LE(log_bytes(), size_t{1} << 20);
  EXPECT_TRUE(*(*again)->campaign(40));
}

TEST_F(StoreTest, ASecondServerIsTurnedAwayWithTheOwnersProcess) {
  const auto second = open_sqlite_store(path_);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code(), ErrorCode::already_exists);
  EXPECT_NE(second.error().message().find("process " + std::to_string(getpid())), std::string::npos)
      << second.error().message();
}

TEST_F(StoreTest, ATruncatedFileIsRefused) {
  for (int64_t i = 1; i <= 200; ++i) apply({.campaigns = {campaign(i)}});
  store_.reset();
  const auto size = std::filesystem::file_size(path_);
  ASSERT_GT(size, 8192U);
  std::filesystem::resize_file(path_, size / 2);
  const auto opened = open_sqlite_store(path_);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), ErrorCode::data_loss);
  EXPECT_NE(opened.error().message().find("damaged or truncated"), std::string::npos)
      << opened.error().message();
}

TEST_F(StoreTest, AFileThatIsNoDatabaseIsRefusedAndLeftAlone) {
  store_.reset();
  const auto other = folder_.path() / "notes.txt";
  std::ofstream(other) << "these are my notes, not a database";
  const auto opened = open_sqlite_store(other);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), ErrorCode::data_loss);
  std::ifstream file(other);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(text, "these are my notes, not a database");
}

// It would have been taken for a new database.
TEST_F(StoreTest, AnEmptyFileIsRefused) {
  apply({.campaigns = {campaign(1)}});
  store_.reset();
  std::filesystem::resize_file(path_, 0);
  const auto opened = open_sqlite_store(path_);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), ErrorCode::data_loss);
  EXPECT_NE(opened.error().message().find("is empty: restore it from a backup"), std::string::npos)
      << opened.error().message();
}

TEST_F(StoreTest, AMissingFileIsRefusedWhereThereWasOne) {
  store_.reset();
  std::filesystem::remove(path_);
  const auto opened = open_sqlite_store(path_);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), ErrorCode::data_loss);
  // To begin with an empty one is asked for.
  std::filesystem::remove(path_.string() + ".lock");
  reopen();
}

// A server that was killed while it made its first database begins again.
TEST_F(StoreTest, ADatabaseThatWasBeingMadeIsMadeAgain) {
  store_.reset();
  std::filesystem::rename(path_, path_.string() + ".new");
  std::filesystem::resize_file(path_.string() + ".new", 0);
  reopen();
  EXPECT_FALSE(std::filesystem::exists(path_.string() + ".new"));
}

// Opening it would wait for ever.
TEST_F(StoreTest, APipeIsRefused) {
  store_.reset();
  std::filesystem::remove(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const auto opened = open_sqlite_store(path_);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message().find("is not a file"), std::string::npos);
}

// What is written into a file that has no name any more is gone when the server ends.
TEST_F(StoreTest, AFileThatIsMovedAwayIsNoticed) {
  for (const char* suffix : {"", "-wal"}) {
    const std::filesystem::path file = path_.string() + suffix;
    const std::filesystem::path away = folder_.path() / "away";
    std::filesystem::rename(file, away);
    const Status stored = store_->apply({.campaigns = {campaign(1)}});
    ASSERT_FALSE(stored.ok()) << file;
    EXPECT_EQ(stored.error().code(), ErrorCode::unavailable);
    EXPECT_NE(stored.error().message().find("was removed or replaced"), std::string::npos)
        << stored.error().message();
    // Another file in its place is not it.
    std::ofstream(file) << "x";
    EXPECT_FALSE(store_->probe().ok());
    ASSERT_TRUE(store_->outage());
    std::filesystem::rename(away, file);
    EXPECT_TRUE(store_->probe().ok());
    EXPECT_FALSE(store_->outage());
  }
  EXPECT_EQ(store_->campaigns(0, 10)->size(), 0U);
  check([&] { EXPECT_EQ(store_->campaigns(0, 10)->size(), 0U); });
}

// No one writes, and it is noticed all the same.
TEST_F(StoreTest, AFileThatIsRemovedIsNoticedWithoutAStep) {
  EXPECT_TRUE(store_->probe().ok());
  std::filesystem::remove(path_);
  EXPECT_FALSE(store_->probe().ok());
}

void execute(const std::filesystem::path& path, const char* sql) {
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &raw), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(raw, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(raw);
}

TEST_F(StoreTest, TheDatabaseIsItsOwnersAlone) {
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(path_).permissions(), perms::owner_read | perms::owner_write);
}

// Databases before the first release had versions of their own, up to 17.
TEST_F(StoreTest, ADatabaseOfBeforeTheFirstReleaseIsRefused) {
  store_.reset();
  const auto earlier = folder_.path() / "earlier.db";
  execute(earlier,
          "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;"
          "INSERT INTO meta VALUES ('schema_version', '1'); PRAGMA application_id = 0x53544c4e");
  const auto opened = open_sqlite_store(earlier);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), ErrorCode::failed_precondition);
  for (const char* advice : {"model fetch", "campaign export", "model import"}) {
    EXPECT_NE(opened.error().message().find(advice), std::string::npos) << advice;
  }
}

TEST_F(StoreTest, AnotherProgramsDatabaseIsRefused) {
  store_.reset();
  const auto other = folder_.path() / "other.db";
  execute(other, "CREATE TABLE t (x)");
  const auto opened = open_sqlite_store(other);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), ErrorCode::failed_precondition);
}

TEST_F(StoreTest, ANewerSchemaIsRefused) {
  store_.reset();
  execute(path_, "UPDATE meta SET value = '99' WHERE key = 'tables_version'");
  const auto opened = open_sqlite_store(path_);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), ErrorCode::failed_precondition);
  EXPECT_NE(opened.error().message().find("99"), std::string::npos);
}

}  // namespace
}  // namespace stripline::server
