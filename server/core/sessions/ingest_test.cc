#include "server/core/sessions/ingest.h"

#include <chrono>
#include <future>
#include <map>
#include <memory>

#include <gtest/gtest.h>

#include "base/testing/processes.h"
#include "server/store/sqlite_store.h"
#include "server/testing/saboteur.h"

namespace stripline::server {
namespace {

class IngestTest : public testing::Test {
 protected:
  void SetUp() override {
    auto store = open_sqlite_store(folder_ / "stripline.db");
    ASSERT_TRUE(store.ok()) << store.error().message();
    store_ = std::move(*store);
    Changes changes;
    changes.campaigns.emplace_back();
    changes.campaigns.back().number = 1;
    changes.campaigns.back().spec = *complete_spec({.fabric = "tcp"});
    changes.runs.emplace_back();
    changes.runs.back().key = {1, 1};
    changes.runs.back().state = RunState::active;
    changes.runs.back().fence = 1;
    changes.attempts = {{{1, 1}, 1, "a"}};
    ASSERT_TRUE(store_->apply(changes).ok());
  }

  static Arrival arrival(uint64_t seq) {
    Arrival one;
    one.batch.run = {1, 1};
    one.batch.fence = 1;
    one.batch.seq = seq;
    one.batch.data = "[]";
    return one;
  }

  TempFolder folder_;
  std::unique_ptr<Store> store_;
};

// While another program writes, all that comes waits for one transaction.
TEST_F(IngestTest, WhatWaitsIsStoredTogether) {
  Saboteur saboteur(folder_.path());
  saboteur.run("BEGIN IMMEDIATE");
  std::vector<size_t> groups;
  std::promise<void> all;
  size_t stored = 0;
  Ingest ingest(*store_, [&](const std::vector<Arrival>& group) {
    for (const Arrival& one : group) EXPECT_TRUE(one.stored.ok());
    groups.push_back(group.size());
    stored += group.size();
    if (stored == 100) all.set_value();
  });
  for (uint64_t seq = 1; seq <= 100; ++seq) ingest.add(arrival(seq));
  saboteur.run("COMMIT");
  ASSERT_EQ(all.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_LE(groups.size(), 3U);
  EXPECT_EQ(*store_->contiguous_batches({1, 1}, 1), 100U);
}

TEST_F(IngestTest, OneThatCannotBeStoredDoesNotKeepOthersBack) {
  Saboteur saboteur(folder_.path());
  saboteur.run("BEGIN IMMEDIATE");
  std::map<uint64_t, bool> stored;
  std::promise<void> all;
  Ingest ingest(*store_, [&](const std::vector<Arrival>& group) {
    for (const Arrival& one : group) stored[one.batch.seq] = one.stored.ok();
    if (stored.size() == 4) all.set_value();
  });
  for (const uint64_t seq : {1, 2, 3, 4}) {
    Arrival one = arrival(seq);
    if (seq == 3) one.batch.run = {9, 9};  // there is no such run
    ingest.add(std::move(one));
  }
  saboteur.run("COMMIT");
  ASSERT_EQ(all.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_EQ(stored, (std::map<uint64_t, bool>{{1, true}, {2, true}, {3, false}, {4, true}}));
}

// The run may be given up while its samples are in transit.
TEST_F(IngestTest, WhatComesTooLateIsAnOrphan) {
  std::promise<void> done;
  Ingest ingest(*store_, [&](const std::vector<Arrival>& /*group*/) { done.set_value(); });
  Changes changes;
  changes.runs.emplace_back();
  changes.runs.back().key = {1, 1};
  changes.runs.back().fence = 1;
  ASSERT_TRUE(store_->apply(changes).ok());  // pending again
  ingest.add(arrival(1));
  ASSERT_EQ(done.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_TRUE(store_->batches(1, 0, 10)->front().orphan);
}

}  // namespace
}  // namespace stripline::server
