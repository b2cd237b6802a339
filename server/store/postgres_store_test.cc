// What the store in PostgreSQL does besides what store_test.cc asks of every store: the database
// goes away and comes back, and servers take turns.
#include "server/store/postgres_store.h"

#include <future>
#include <optional>
#include <thread>

#include "base/testing/assert_ok.h"
#include "server/security/authority.h"
#include "server/store/postgres_copy.h"
#include "server/testing/postgres_server.h"
#include "server/testing/store_fixture.h"

namespace stripline::server {
namespace {

class PostgresStoreTest : public StoreTest {
 protected:
  void SetUp() override {
    if (const std::string why = PostgresServer::missing(); !why.empty()) GTEST_SKIP() << why;
    database().run("DROP SCHEMA IF EXISTS stripline CASCADE");
    reopen();
  }
  void TearDown() override { store_.reset(); }

  static PostgresServer& database() { return PostgresServer::shared(); }
  Result<std::unique_ptr<Store>> open() override { return open_postgres_store(database().url()); }

  static Changes node(const std::string& name) {
    return {.nodes = {{name, "0.1.0", {}, {}, {}, 1}}};
  }

  static std::unique_ptr<PostgresTurn> queue(const std::string& address, double lease_s) {
    auto turn = queue_for_postgres({database().url(), address, lease_s});
    EXPECT_TRUE(turn.ok()) << turn.error().message();
    return std::move(*turn);
  }
  static std::unique_ptr<Store> take(PostgresTurn& turn) {
    auto taken = turn.take();
    EXPECT_TRUE(taken.ok()) << taken.error().message();
    return taken.ok() ? std::move(*taken) : nullptr;
  }
  static std::unique_ptr<Store> wait_for(PostgresTurn& turn) {
    std::unique_ptr<Store> store;
    EXPECT_TRUE(eventually([&] { return (store = take(turn)) != nullptr; }, kPatience_s));
    return store;
  }

  // The process of the database that carries out a step now.
  static std::string process_of_step() {
    return database().run(
        "SELECT pid FROM pg_locks WHERE relation = 'writer'::regclass AND granted"
        " AND mode = 'RowExclusiveLock'");
  }

  static constexpr double kPatience_s = 30;
};

TEST_F(PostgresStoreTest, AStepWaitsForNoDatabaseAndTheNextIsStored) {
  apply(node("a"));
  database().kill();
  const Status down = store_->apply(node("b"));
  ASSERT_FALSE(down.ok());
  EXPECT_EQ(down.error().code(), ErrorCode::unavailable);
  EXPECT_FALSE(store_->probe().ok());
  EXPECT_EQ(store_->nodes("", 10).error().code(), ErrorCode::unavailable);
  database().start();
  ASSERT_TRUE(eventually([&] { return store_->probe().ok(); }, kPatience_s));
  apply(node("c"));
  ASSERT_TRUE(eventually([&] { return store_->nodes("", 10).ok(); }, kPatience_s));
  check([&] {
    EXPECT_TRUE(*store_->node("a"));
    EXPECT_FALSE(*store_->node("b"));
    EXPECT_TRUE(*store_->node("c"));
  });
}

TEST_F(PostgresStoreTest, AReadThatWaitsHoldsUpNoOther) {
  apply({.campaigns = {campaign(1)}});
  const auto locks = [](const std::string& which) {
    return database().run("SELECT count(*) FROM pg_locks WHERE relation = 'events'::regclass AND " +
                          which);
  };
  auto holds = std::async(std::launch::async, [] {
    database().run("BEGIN; LOCK TABLE events IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(5); COMMIT");
  });
  ASSERT_TRUE(eventually([&] { return locks("granted").starts_with("1"); }, kPatience_s));
  auto waits = std::async(std::launch::async, [&] { return store_->events(1, 0, 10).ok(); });
  ASSERT_TRUE(eventually([&] { return locks("NOT granted").starts_with("1"); }, kPatience_s));
  EXPECT_TRUE(*store_->campaign(1));
  EXPECT_EQ(waits.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  EXPECT_TRUE(waits.get());
  holds.get();
}

// The connection breaks while the step waits for a lock: it is not stored, and that is what the
// store says.
TEST_F(PostgresStoreTest, AStepThatIsCutOffIsNotStored) {
  std::thread cut([&] {
    ASSERT_TRUE(eventually([&] { return !process_of_step().empty(); }, kPatience_s));
    database().run("SELECT pg_terminate_backend(" + process_of_step() + ")");
  });
  std::thread lock([&] { database().run("BEGIN; LOCK TABLE nodes; SELECT pg_sleep(1); COMMIT"); });
  ASSERT_TRUE(eventually(
      [&] {
        return database().run(
                   "SELECT count(*) FROM pg_locks WHERE relation = 'nodes'::regclass"
                   " AND mode = 'AccessExclusiveLock' AND granted") == "1\n";
      },
      kPatience_s));
  const Status cut_off = store_->apply(node("a"));
  cut.join();
  lock.join();
  ASSERT_FALSE(cut_off.ok());
  EXPECT_EQ(cut_off.error().code(), ErrorCode::unavailable);
  check([&] { EXPECT_FALSE(*store_->node("a")); });
  apply(node("a"));
}

// The database has committed the step, but the connection breaks before it says so: it is stored,
// and that is what the store says.
TEST_F(PostgresStoreTest, AStepWhoseAnswerIsLostIsStored) {
  const auto wait_for_replicas = [&](const std::string& names) {
    database().run("ALTER SYSTEM SET synchronous_standby_names = '" + names + "'");
    database().run("SELECT pg_reload_conf()");
  };
  wait_for_replicas("unknown");
  auto stored = std::async(std::launch::async, [&] { return store_->apply(node("a")); });
  const std::string waiting =
      "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = 'COMMIT'";
  ASSERT_TRUE(eventually([&] { return !database().run(waiting).empty(); }, kPatience_s));
  const std::string process = database().run(waiting);
  wait_for_replicas("");
  database().run("SELECT pg_terminate_backend(" + process + ")");
  const Status status = stored.get();
  EXPECT_TRUE(status.ok()) << status.error().message();
  check([&] { EXPECT_TRUE(*store_->node("a")); });
}

TEST_F(PostgresStoreTest, ServersTakeTurns) {
  store_.reset();
  const auto first_turn = queue("first:1", 15);
  auto first = take(*first_turn);
  ASSERT_NE(first, nullptr);
  const auto second_turn = queue("second:2", 15);
  EXPECT_EQ(take(*second_turn), nullptr);
  EXPECT_EQ(second_turn->writer_address(), "first:1");
  const auto opened = open();
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), ErrorCode::already_exists);
  EXPECT_NE(opened.error().message().find("first:1"), std::string::npos)
      << opened.error().message();
  ASSERT_TRUE(first->apply(node("a")).ok());
  first.reset();
  const auto second = wait_for(*second_turn);
  ASSERT_NE(second, nullptr);
  EXPECT_TRUE(*second->node("a"));
}

// It keeps its connections, as a server that was stopped by a signal does, and then wants to go on.
TEST_F(PostgresStoreTest, WhoGivesNoSignOfLifeIsReplacedAndStoresNothingAnyMore) {
  store_.reset();
  const auto first_turn = queue("first:1", 1e6);  // it renews its lease once in a long time
  auto first = take(*first_turn);
  ASSERT_NE(first, nullptr);
  std::optional<Error> lost;
  first->on_lost([&](const Error& why) { lost = why; });
  ASSERT_TRUE(first->apply(node("a")).ok());
  const auto second_turn = queue("second:2", 0.5);
  const auto second = wait_for(*second_turn);
  ASSERT_NE(second, nullptr);
  ASSERT_TRUE(second->apply(node("b")).ok());
  EXPECT_FALSE(first->apply(node("c")).ok());
  EXPECT_FALSE(first->probe().ok());
  ASSERT_TRUE(lost);
  EXPECT_NE(lost->message().find("another server has taken over"), std::string::npos);
  EXPECT_FALSE(*second->node("c"));
  // Going, it does not take the place of the other.
  first.reset();
  EXPECT_TRUE(second->apply(node("d")).ok());
}

// Stopped in the middle of a step, it would otherwise keep its successor from the row of the
// writer.
TEST_F(PostgresStoreTest, AStepInProgressDoesNotHoldUpTheNextServer) {
  store_.reset();
  const auto first_turn = queue("first:1", 1e6);
  const auto first = take(*first_turn);
  ASSERT_NE(first, nullptr);
  std::thread lock([&] { database().run("BEGIN; LOCK TABLE nodes; SELECT pg_sleep(2); COMMIT"); });
  auto step = std::async(std::launch::async, [&] {
    while (process_of_step().empty()) {
      if (Status stored = first->apply(node("a")); !stored.ok()) return stored;
    }
    return Status();
  });
  const auto second_turn = queue("second:2", 0.5);
  const auto second = wait_for(*second_turn);
  lock.join();
  (void)step.get();
  ASSERT_NE(second, nullptr);
  EXPECT_TRUE(second->apply(node("b")).ok());
  EXPECT_FALSE(first->apply(node("c")).ok());
}

// The copy is a database of the other kind, and goes on where the first was.
TEST_F(PostgresStoreTest, MovesToAFileAndBack) {
  RunRecord active = run(1, 1);
  active.state = RunState::active;
  active.fence = 1;
  NewModelVersion version;
  version.record.key = {"tcp", 1};
  version.content = "{}";
  apply({.nodes = {{"a", "0.1.0", {{"cpu", "x"}}, {"tcp"}, {"e"}, 10, "big"}},
         .campaigns = {campaign(1, "r")},
         .runs = {active},
         .plans = {{{1, 1}, "{}"}},
         .points = {{1, {{"micro.latency", "put", {{"bytes", int64_t{8}}}}}}},
         .attempts = {{{1, 1}, 1, "a", {{"a", "i"}}, {}, 7.5}},
         .facts = {{{1, 1}, 1, "a", {{"cpu", "x"}}}},
         .batches = {batch({1, 1}, 1, 1)},
         .events = {{0, 1, 1, "event", "{}"}},
         .versions = {version},
         .tokens = {{"abc", Role::viewer, "alice", 1, 2}},
         .node_bounds = {{"a", 5}},
         .audit = {{0, 1, "users/x", "did", "something"}}});
  const std::string id = store_->installation_id();
  const auto expect_all = [&](Store& store, uint64_t fence_base) {
    EXPECT_EQ(store.installation_id(), id);
    EXPECT_EQ(store.fence_base(), fence_base);
    EXPECT_EQ(*store.next_campaign_number(), 2);
    EXPECT_EQ((*store.node("a"))->cluster, "big");
    EXPECT_EQ((*store.campaign_of_request("users/a", "r"))->message, "queued");
    EXPECT_EQ(store.runs(1)->front().fence, 1U);
    EXPECT_EQ(*store.run_plan({1, 1}), "{}");
    ASSERT_EQ(store.points(1, {}, 0, 9)->size(), 1U);
    EXPECT_FALSE(store.points(1, {}, 0, 9)->front().estimate);
    EXPECT_EQ(store.attempt_facts({1, 1}, 1)->front().facts.at("cpu"), "x");
    ASSERT_EQ(store.attempts_between(0, 9, 9)->size(), 1U);
    EXPECT_FALSE(store.attempts_between(0, 9, 9)->front().ended_unix_s);
    EXPECT_EQ(*store.has_batch({1, 1}, 1, 1, batch({1, 1}, 1, 1).data), true);
    EXPECT_EQ(*store.contiguous_batches({1, 1}, 1), 1U);
    EXPECT_EQ(store.events(1, 0, 9)->front().message, "event");
    EXPECT_EQ(*store.model_content({"tcp", 0}), "{}");
    EXPECT_EQ(store.tokens()->front().subject, "alice");
    EXPECT_EQ(store.node_bounds()->size(), 1U);
    EXPECT_EQ(store.audit(0, 9)->front().actor, "users/x");
    // Numbers that the database gives out come after those that are there.
    Changes more;
    more.batches.push_back(batch({1, 1}, 1, 2));
    more.events.push_back({0, 1, 2, "later", "{}"});
    more.audit.push_back({0, 2, "users/y", "did", "more"});
    ASSERT_OK(store.apply(more));
    EXPECT_EQ(store.events(1, 0, 9)->back().message, "later");
  };
  ASSERT_OK(back_up_postgres(database().url(), folder_ / "copy.db"));
  const auto copy_again = folder_ / "again.db";
  std::filesystem::copy(folder_ / "copy.db", copy_again);
  EXPECT_EQ(restore_into_postgres(copy_again, database().url(), folder_.path()).error().code(),
            ErrorCode::already_exists);
  {
    ASSERT_OK_AND_ASSIGN(const auto file, open_sqlite_store(folder_ / "copy.db"));
    expect_all(*file, uint64_t{1} << 32);
  }
  store_.reset();
  EXPECT_EQ(restore_into_postgres(copy_again, database().url(), folder_.path()).error().code(),
            ErrorCode::already_exists);
  database().run("DROP SCHEMA stripline CASCADE");
  ASSERT_OK(restore_into_postgres(copy_again, database().url(), folder_.path()));
  reopen();
  expect_all(*store_, uint64_t{1} << 32);
}

TEST_F(PostgresStoreTest, CertificatesAndKeysAreInTheBackup) {
  apply(node("a"));
  const TempFolder data;
  ASSERT_TRUE(Authority::create(data.path(), {"head"}, 2e9).ok());
  const auto copy = folder_ / "copy.db";
  ASSERT_OK(back_up_postgres(database().url(), copy, data.path()));
  store_.reset();
  database().run("DROP SCHEMA stripline CASCADE");
  const TempFolder next;
  ASSERT_OK_AND_ASSIGN(const bool restored,
                       restore_into_postgres(copy, database().url(), next.path()));
  EXPECT_TRUE(restored);
  const auto before = Authority::open(data.path(), 2e9);
  ASSERT_OK_AND_ASSIGN(const auto after, Authority::open(next.path(), 2e9));
  EXPECT_EQ(after.sha256(), before->sha256());
  reopen();
  EXPECT_TRUE(*store_->node("a"));
  EXPECT_EQ(database().run("SELECT count(*) FROM information_schema.tables"
                           " WHERE table_name = 'backup_files'"),
            "0\n")
      << "the database does not hold them";
}

TEST_F(PostgresStoreTest, OnlyItsOwnTablesAreTouched) {
  store_.reset();
  database().run(
      "DROP SCHEMA stripline CASCADE; CREATE SCHEMA stripline;"
      "CREATE TABLE stripline.notes (x INT)");
  const auto foreign = open();
  ASSERT_FALSE(foreign.ok());
  EXPECT_EQ(foreign.error().code(), ErrorCode::failed_precondition);
  EXPECT_EQ(database().run("SELECT count(*) FROM notes"), "0\n");
}

TEST_F(PostgresStoreTest, NewerTablesAreRefused) {
  store_.reset();
  database().run("UPDATE stripline.meta SET value = '99' WHERE key = 'tables_version'");
  const auto newer = open();
  ASSERT_FALSE(newer.ok());
  EXPECT_EQ(newer.error().code(), ErrorCode::failed_precondition);
  EXPECT_NE(newer.error().message().find("99"), std::string::npos);
}

TEST_F(PostgresStoreTest, CommitsAreSyncedWhateverTheDatabasesDefaultIs) {
  store_.reset();
  database().run("ALTER DATABASE postgres SET synchronous_commit = off");
  reopen();
  database().run(
      "CREATE TABLE seen (value TEXT);"
      "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
      " INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NEW; END $$;"
      "CREATE TRIGGER noted AFTER INSERT ON nodes FOR EACH ROW EXECUTE FUNCTION note()");
  apply(node("a"));
  EXPECT_EQ(database().run("SELECT value FROM seen"), "on\n");
  database().run("ALTER DATABASE postgres RESET synchronous_commit");
}

TEST(PostgresUrl, APasswordIsNotTakenAndNotShown) {
  if (!postgres_missing().empty()) GTEST_SKIP() << postgres_missing();
  for (const char* url : {"postgresql://me:hush@host/db", "postgresql://host/db?password=hush",
                          "postgresql://me:hush@host:port:/db"}) {
    const auto turn = queue_for_postgres({.url = url});
    ASSERT_FALSE(turn.ok()) << url;
    EXPECT_EQ(turn.error().code(), ErrorCode::invalid_argument);
    EXPECT_EQ(turn.error().message().find("hush"), std::string::npos) << turn.error().message();
  }
}

TEST(PostgresUrl, WhatCannotBeReachedIsNamed) {
  if (!postgres_missing().empty()) GTEST_SKIP() << postgres_missing();
  const auto opened = open_postgres_store("postgresql://me@/stripline?host=/nonexistent&port=1");
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), ErrorCode::unavailable);
  EXPECT_NE(opened.error().message().find("postgresql://me@"), std::string::npos)
      << opened.error().message();
}

}  // namespace
}  // namespace stripline::server
