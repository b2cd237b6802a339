// A store in a folder of its own, and records to put into it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/testing/processes.h"
#include "server/store/sqlite_store.h"

namespace stripline::server {

inline CampaignRecord campaign(int64_t number, const std::string& request = "") {
  CampaignRecord r;
  r.number = number;
  r.spec = *complete_spec({.fabric = "tcp", .experiments = {"micro.latency"}, .seed = 1ULL << 63});
  r.message = "queued";
  r.created_unix_s = 100.25;
  r.updated_unix_s = 101;
  r.owner = "users/a";
  r.request_id = request;
  r.request_sha256 = "abc";
  r.requirements = {{"micro.latency", 2}};
  r.planned_run_s = 1.5;
  return r;
}

inline RunRecord run(int64_t campaign_number, uint32_t index) {
  RunRecord r;
  r.key = {campaign_number, index};
  r.points_total = 10;
  r.points_core = 4;
  r.points_all = 20;
  return r;
}

inline BatchRecord batch(const RunKey& key, uint64_t fence, uint64_t seq) {
  BatchRecord r;
  r.run = key;
  r.fence = fence;
  r.seq = seq;
  r.received_unix_s = 5;
  r.samples = 3;
  r.data = "[{\"seq\":" + std::to_string(seq) + "}]";
  return r;
}

class StoreTest : public testing::Test {
 protected:
  void SetUp() override { reopen(); }

  virtual Result<std::unique_ptr<Store>> open() { return open_sqlite_store(path_); }

  void reopen() {
    store_.reset();
    auto opened = open();
    ASSERT_TRUE(opened.ok()) << opened.error().message();
    store_ = std::move(*opened);
  }

  void apply(const Changes& changes) {
    const Status status = store_->apply(changes);
    ASSERT_TRUE(status.ok()) << status.error().message();
  }

  // Runs the checks now and after a reopen.
  void check(const std::function<void()>& checks) {
    checks();
    reopen();
    checks();
  }

  TempFolder folder_;
  std::filesystem::path path_ = folder_.path() / "stripline.db";
  std::unique_ptr<Store> store_;
};

}  // namespace stripline::server
