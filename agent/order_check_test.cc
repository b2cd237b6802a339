#include "agent/order_check.h"

#include <gtest/gtest.h>

#include "optimizer/experiment/json.h"

namespace stripline::agent {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

class OrderCheckTest : public testing::Test {
 protected:
  OrderCheckTest() {
    experiment::Experiment latency;
    latency.name = "micro.latency";
    latency.variants = {"get", "put"};
    latency.factors.resize(1);
    latency.factors[0].name = "bytes";
    latency.factors[0].values = {int64_t{8}, int64_t{64}};
    latency.factors[0].minimum = 0;
    latency.factors[0].maximum = 1024;
    offered_.experiments = {latency};
    offered_.fabrics = {"tcp", "emulated:opteron-vapi"};
    offered_.memory = RankMemory{256 * kMiB, {{"tcp", 98 * kMiB}}, kMiB / 8};
    work_.name = "campaigns/c1/runs/1";
    work_.fabric = "tcp";
    work_.ranks = 4;
    work_.points = {{"micro.latency", "get", {{"bytes", int64_t{64}}}}};
    order_.ranks = {0, 2};
    order_.job_id = "s0a1b2c3d-c1-r1-f1";
    room_.memory.total_bytes = room_.memory.available_bytes = 4096 * kMiB;
    room_.shared_bytes = 600 * kMiB;
  }

  // Why the order is refused; empty: it is not.
  std::string refusal() {
    order_.assignment_json = std::make_shared<const std::string>(experiment::to_json(work_).dump());
    const Status status = check_order(order_, "a", offered_, room_);
    if (status.ok()) return "";
    EXPECT_TRUE(status.error().message().starts_with("nodes/a refuses"));
    return status.error().message();
  }
  bool refused_for(const std::string& part) { return refusal().find(part) != std::string::npos; }

  Description offered_;
  experiment::Assignment work_;
  Assignment order_;
  Room room_;
};

TEST_F(OrderCheckTest, WhatWasOfferedIsDone) { EXPECT_EQ(refusal(), ""); }

// A fabric's name may hold a path that its ranks would read or write.
TEST_F(OrderCheckTest, FabricsAreThoseOffered) {
  for (const char* measured : {",compute=declared", ",jitter=off,compute=none", ""}) {
    work_.fabric = std::string("emulated:opteron-vapi") + measured;
    EXPECT_EQ(refusal(), "");
  }
  work_.fabric = "emulated:opteron-vapi,lose=0@1";
  EXPECT_TRUE(refused_for("offers no fabric"));
  work_.fabric = "emulated:opteron-vapi,compute=record:/home/user/file";
  EXPECT_TRUE(refused_for("offers no fabric 'emulated:opteron-vapi,compute=record:"));
  work_.fabric = "emulated:/etc/passwd";
  EXPECT_TRUE(refused_for("offers no fabric"));
  work_.fabric = "emulated:opteron-vapi";
  EXPECT_EQ(refusal(), "");
}

TEST_F(OrderCheckTest, NoNameReachesAPath) {
  for (const char* id : {"", "../../home", "a/b", "a b"}) {
    order_.job_id = id;
    EXPECT_TRUE(refused_for("is not the name of a job")) << id;
  }
  order_.job_id = std::string(100, 'a');
  EXPECT_TRUE(refused_for("is not the name of a job"));
}

TEST_F(OrderCheckTest, PointsAreThoseOffered) {
  work_.points[0].experiment = "kernel.bomb";
  EXPECT_TRUE(refused_for("offers no experiment 'kernel.bomb'"));
  work_.points[0] = {"micro.latency", "fetch", {}};
  EXPECT_TRUE(refused_for("unknown variant 'fetch'"));
  work_.points[0] = {"micro.latency", "get", {{"bytes", int64_t{1} << 40}}};
  EXPECT_TRUE(refused_for("bytes"));
}

TEST_F(OrderCheckTest, RanksAreOfTheJobAndFit) {
  order_.ranks = {4};
  EXPECT_TRUE(refused_for("none of the job's"));
  order_.ranks = {};
  EXPECT_TRUE(refused_for("none of the job's"));
  order_.ranks = {1, 1};
  EXPECT_TRUE(refused_for("twice"));
  order_.ranks = {0, 1, 2};
  offered_.max_ranks = 2;
  EXPECT_TRUE(refused_for("room for 2 ranks, not for 3"));
}

// There was room when the agent started.
TEST_F(OrderCheckTest, MemoryIsThatOfNow) {
  room_.memory.available_bytes = 700 * kMiB;
  EXPECT_TRUE(refused_for("2 ranks need 708"));
  room_.memory.available_bytes = 4096 * kMiB;
  work_.fabric = "emulated:opteron-vapi";
  room_.shared_bytes = 511 * kMiB;
  EXPECT_TRUE(refused_for("do not fit into /dev/shm"));
  offered_.memory.reset();  // it does not say, or insists
  EXPECT_EQ(refusal(), "");
}

TEST_F(OrderCheckTest, NothingIsWithoutBounds) {
  work_.deadline_s = 1e7;
  EXPECT_TRUE(refused_for("deadline"));
  work_.deadline_s = 60;
  work_.clock = "sundial";
  EXPECT_TRUE(refused_for("clock"));
  work_.clock = "virtual";
  work_.model_json = std::string(5 * kMiB, ' ');
  EXPECT_TRUE(refused_for("its model has 5 MiB"));
}

}  // namespace
}  // namespace stripline::agent
