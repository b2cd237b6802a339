// Two agents at a real server, driven message by message, and the samples of a small campaign.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "optimizer/experiment/json.h"
#include "server/testing/service_test.h"

namespace stripline::server {

using Message = v1::ServerMessage;
using Update = v1::AssignmentUpdate;

inline constexpr size_t kPoints = 8;  // of small_spec()

// Samples of one of the points that small_spec() asks for.
inline experiment::SampleSeries series_of(uint32_t run, size_t place, double value) {
  experiment::SampleSeries series;
  series.point = {"kernel.loop",
                  place < kPoints / 2 ? "tuned" : "blocking",
                  {{"bytes", int64_t{8} << (place % (kPoints / 2))}}};
  series.run = run;
  series.values = {value};
  series.timestamps_s = {0.5};
  series.verified = true;
  return series;
}

inline std::string data_of(uint32_t run, double value, size_t first = 0, size_t count = 1) {
  Json data = Json::array();
  for (size_t place = first; place < first + count; ++place) {
    data.push_back(experiment::to_json(series_of(run, place, value)));
  }
  return data.dump();
}

class AgentsServiceTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    a_ = std::make_unique<AgentClient>(address_, test_hello("a"));
    b_ = std::make_unique<AgentClient>(address_, test_hello("b"));
    ASSERT_TRUE(connected({"a", "b"}));
  }

  // Creates a small campaign and receives its first run at both agents.
  void give_out(uint32_t runs = 1) {
    campaign_ = created(small_spec(runs)).name();
    receive_orders();
  }

  void receive_orders() {
    const auto at_a = a_->receive(Message::kAssignment);
    const auto at_b = b_->receive(Message::kAssignment);
    ASSERT_TRUE(at_a && at_b);
    order_a_ = at_a->assignment();
    order_b_ = at_b->assignment();
    sent_ = 0;
  }

  void join_both() {
    a_->join(order_a_, 0);
    b_->join(order_b_, 1);
    ASSERT_TRUE(a_->receive(Message::kGroupReady));
    ASSERT_TRUE(b_->receive(Message::kGroupReady));
  }

  // Batch n holds point n.
  void batch(uint64_t seq, double value) {
    a_->batch(order_a_.name(), order_a_.fence(), seq, data_of(1, value, seq - 1));
    sent_ = std::max<size_t>(sent_, seq);
  }

  // All points that have not been sent, in one batch.
  void send_rest() {
    const uint64_t seq = sent_ + 1;
    a_->batch(order_a_.name(), order_a_.fence(), seq, data_of(1, 1e-6, sent_, kPoints - sent_));
    while (acknowledged() != seq) ASSERT_FALSE(HasFailure());
  }

  // Another server on the same data; the agents come back and name these orders, if any.
  void restart(const std::vector<v1::Assignment>& orders) {
    server_.reset();
    start();
    a_.reset();
    b_.reset();
    std::vector<v1::Hello> hellos = {test_hello("a"), test_hello("b")};
    for (size_t i = 0; i < orders.size(); ++i) {
      hellos[i].set_assignment(orders[i].name());
      hellos[i].set_fence(orders[i].fence());
    }
    a_ = std::make_unique<AgentClient>(address_, hellos[0]);
    if (orders.size() != 1) b_ = std::make_unique<AgentClient>(address_, hellos[1]);
  }

  uint64_t acknowledged() {
    const auto ack = a_->receive(Message::kSampleAck);
    EXPECT_TRUE(ack);
    return ack ? ack->sample_ack().seq() : 0;
  }

  void finish_both() {
    if (sent_ > 0 && sent_ < kPoints) send_rest();
    a_->update(order_a_, Update::FINISHED);
    b_->update(order_b_, Update::FINISHED);
  }

  v1::Campaign end() { return watch(campaign_).back().campaign(); }

  // What has happened so far to a campaign that has not ended.
  std::vector<v1::CampaignEvent> events_so_far() {
    v1::Campaign campaign;
    EXPECT_TRUE(cancel(campaign_, campaign).ok());
    return watch(campaign_);
  }

  std::unique_ptr<AgentClient> a_;
  std::unique_ptr<AgentClient> b_;
  std::string campaign_;
  v1::Assignment order_a_;
  v1::Assignment order_b_;
  size_t sent_ = 0;  // points
};

}  // namespace stripline::server
