// What the store in an SQLite file does besides what store_test.cc asks of every store: who may
// have the file, what it must be, and files of before.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <vector>

#include <sqlite3.h>

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
  constexpr uintmax_t kMost = uintmax_t{64} << 20;
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
    for (int64_t number = 2; log_bytes() <= kMost; ++number) write(number);
    write(1000);
    EXPECT_GT(log_bytes(), kMost) << "another program reads in it";
    reader.run("COMMIT");
  }
  for (int64_t number = 1001; number < 1100; ++number) {
    write(number);
    EXPECT_LE(log_bytes(), kMost) << number;
  }
}

TEST_F(StoreTest, AReaderDoesNotKeepOthersWaiting) {
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
    EXPECT_TRUE(*store_->campaign(number)) << "what is stored is seen by every connection";
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

// The databases that servers have left behind since the first one, each without what came later.
struct EarlierDatabase {
  const char* file;      // in server/testing/databases
  const char* change;    // what makes it one of before
  const char* obstacle;  // a table that one of its migrations makes
  bool declares = true;  // rows of nodes hold whole declarations
  const char* cluster = "default";
  size_t holds = 0;
};

class StoreMigrationTest : public StoreTest, public testing::WithParamInterface<EarlierDatabase> {
 protected:
  void SetUp() override {
    const char* source = std::getenv("STRIPLINE_TEST_SOURCE");  // NOLINT(concurrency-mt-unsafe)
    if (source == nullptr) GTEST_SKIP() << "STRIPLINE_TEST_SOURCE is not set";
    const auto databases = std::filesystem::path(source) / "server/testing/databases";
    execute(path_, read_file(databases / GetParam().file).c_str());
    if (GetParam().declares) {
      execute(path_,
              R"(UPDATE nodes SET experiments = '["{\"name\":\"micro.latency\",\"version\":1}"]')");
    }
    execute(path_, GetParam().change);
  }
};

INSTANTIATE_TEST_SUITE_P(
    Version1, StoreMigrationTest,
    testing::Values(EarlierDatabase{"version1.sql", "SELECT 1", "payloads"},
                    EarlierDatabase{
                        "version1.sql",
                        "DROP TABLE version_marks; ALTER TABLE runs DROP COLUMN points_least",
                        "payloads"},
                    EarlierDatabase{"version1.sql",
                                    "DROP TABLE version_marks; DROP TABLE attempts;"
                                    "ALTER TABLE runs DROP COLUMN points_least",
                                    "payloads"},
                    EarlierDatabase{"version1.sql",
                                    "DROP TABLE version_marks; DROP TABLE attempts;"
                                    "ALTER TABLE runs DROP COLUMN points_least;"
                                    "ALTER TABLE runs DROP COLUMN points_core;"
                                    "ALTER TABLE runs DROP COLUMN points_all",
                                    "payloads"}));
INSTANTIATE_TEST_SUITE_P(Version3, StoreMigrationTest,
                         testing::Values(EarlierDatabase{"version3.sql", "SELECT 1",
                                                         "node_holds"}));
INSTANTIATE_TEST_SUITE_P(Version7, StoreMigrationTest,
                         testing::Values(EarlierDatabase{"version7.sql", "SELECT 1",
                                                         "compressed_payloads", false, "big", 1}));
INSTANTIATE_TEST_SUITE_P(Version9, StoreMigrationTest,
                         testing::Values(EarlierDatabase{"version9.sql", "SELECT 1", "validations",
                                                         false, "big", 1}));

TEST_P(StoreMigrationTest, LosesNothing) {
  reopen();
  check([&] {
    EXPECT_EQ(store_->installation_id(), "28ae4a58");
    EXPECT_EQ(store_->nodes("", 10)->size(), 2U);
    EXPECT_EQ((*store_->node("a"))->cluster, GetParam().cluster);
    EXPECT_EQ(store_->node_holds()->size(), GetParam().holds);
    EXPECT_EQ(store_->campaigns(0, 10)->size(), 2U);
    EXPECT_EQ(store_->runs(2)->size(), 8U);
    EXPECT_EQ(store_->runs(2)->front().points_total, 64U);
    EXPECT_GE(store_->runs(2)->front().points_all, 64U);
    const auto points = *store_->points(1, {}, 0, 1000);
    ASSERT_EQ(points.size(), store_->runs(1)->front().points_total);
    const experiment::Point first{"micro.latency", "put", {{"bytes", int64_t{524288}}}};
    EXPECT_EQ(points.front().point, first);
    EXPECT_EQ(store_->runs(2)->front().grid, 64U);
    // What was sampled before there were rows of it is summed up.
    const auto measured = std::ranges::find_if(
        points, [](const PointRecord& one) { return one.estimate.has_value(); });
    ASSERT_NE(measured, points.end());
    EXPECT_EQ(measured->runs, 1U);
    EXPECT_GT(measured->samples, 0U);
    EXPECT_EQ(*store_->sampling_node({2, 8}, 1), "a");
    EXPECT_EQ(*store_->contiguous_batches({1, 1}, 1), 2U);
    const auto batches = *store_->batches(1, 0, 10);
    ASSERT_EQ(batches.size(), 2U);
    EXPECT_EQ(batches[0].data.size(), 26660U);
    EXPECT_EQ(*store_->has_batch({1, 1}, 1, 2, "[]"), true);
    const ModelVersionRecord version = **store_->model_version({"tcp", 0});
    EXPECT_EQ(version.size_bytes, store_->model_content({"tcp", 1})->size());
    EXPECT_TRUE(version.findings.empty());
    EXPECT_EQ(version.validation, std::nullopt);
    EXPECT_TRUE(store_->labels("tcp")->empty());
    EXPECT_EQ(store_->events(2, 0, 10)->size(), 2U);
    EXPECT_EQ(*store_->next_campaign_number(), 3);
    EXPECT_EQ((*store_->node("a"))->experiments, std::vector<std::string>{"micro.latency"});
  });
  // It goes on: what is new is stored beside it.
  apply({.attempts = {{{1, 1}, 2, "b"}}, .batches = {batch({1, 1}, 2, 1)}});
  EXPECT_EQ(*store_->contiguous_batches({1, 1}, 2), 1U);
}

TEST_P(StoreMigrationTest, ADatabaseThatCannotBeMigratedIsLeftAsItIs) {
  const std::string obstacle = GetParam().obstacle;
  execute(path_, ("CREATE TABLE " + obstacle + " (x)").c_str());
  const auto opened = open_sqlite_store(path_);
  ASSERT_FALSE(opened.ok());
  execute(path_, ("DROP TABLE " + obstacle).c_str());
  reopen();
  EXPECT_EQ(store_->batches(1, 0, 10)->size(), 2U);
}

// What labels have named is known from the audit trail where no one remembered it.
TEST_F(StoreTest, AnEarlierDatabaseLearnsWhatHasHappenedToVersions) {
  std::vector<NewModelVersion> versions(2);
  for (size_t i = 0; i < 2; ++i) {
    versions[i].record.key = {"tcp", static_cast<int64_t>(i) + 1};
    versions[i].fabric = "tcp";
    versions[i].content = "{}";
  }
  apply({.versions = versions,
         .staled = {{{"tcp", 1}, "sentinels are off", 9}, {{"tcp", 2}, "sentinels are off", 9}},
         .audit = {{0, 5, "users/a", "promote model version to stable", "models/tcp/versions/1"},
                   {0, 6, "users/a", "promote model version to stable", "models/tcp/versions/1"},
                   {0, 7, "server", "promote model version to canary", "models/tcp/versions/2"}}});
  store_.reset();
  execute(path_,
          "DROP TABLE version_past; DROP TABLE operations; DROP INDEX campaigns_by_owner;"
          "ALTER TABLE campaigns DROP COLUMN owner; ALTER TABLE campaigns DROP COLUMN labels;"
          "ALTER TABLE tokens DROP COLUMN count;"
          "ALTER TABLE tokens DROP COLUMN uses; ALTER TABLE tokens DROP COLUMN last_used;"
          "ALTER TABLE node_bounds DROP COLUMN until;"
          "UPDATE meta SET value = '13' WHERE key = 'schema_version'");
  reopen();
  const auto first = *store_->model_version({"tcp", 1});
  EXPECT_TRUE(first->was_stable);
  EXPECT_TRUE(first->stale_in_use);
  EXPECT_FALSE(first->was_canary);
  const auto second = *store_->model_version({"tcp", 2});
  EXPECT_TRUE(second->was_canary);
  EXPECT_FALSE(second->was_stable);
  EXPECT_FALSE(second->stale_in_use);
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
  execute(path_, "UPDATE meta SET value = '99' WHERE key = 'schema_version'");
  const auto opened = open_sqlite_store(path_);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), ErrorCode::failed_precondition);
  EXPECT_NE(opened.error().message().find("99"), std::string::npos);
}

}  // namespace
}  // namespace stripline::server
