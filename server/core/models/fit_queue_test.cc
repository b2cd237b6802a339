#include "server/core/models/fit_queue.h"

#include <future>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

Result<FittedModel> no_model(const FitJob& /*job*/, const std::stop_token& /*stop*/) {
  throw std::runtime_error("out of memory");
}

TEST(FitQueue, CampaignsComeBeforeOperations) {
  FitQueue queue(no_model, 60);
  queue.add_operation(7);
  queue.add_operation(8);
  queue.add_campaign(1);
  queue.remove_operation(7);
  EXPECT_EQ(queue.waiting_campaigns(), 1U);
  EXPECT_EQ(queue.waiting_operations(), 1U);
  std::vector<int64_t> order;
  std::promise<void> done;
  queue.start([&](int64_t campaign) { order.push_back(campaign); },
              [&](int64_t operation) {
                order.push_back(operation);
                done.set_value();
              });
  done.get_future().wait();
  queue.stop();
  EXPECT_EQ(order, (std::vector<int64_t>{1, 8}));
}

TEST(FitQueue, AFitThatThrowsIsAnError) {
  const FitQueue queue(no_model, 60);
  const auto fitted = queue.fit({}, {});
  ASSERT_FALSE(fitted.ok());
  EXPECT_EQ(fitted.error().message(), "out of memory");
}

TEST(FitQueue, ATaskThatWaitsForStorageEndsWithTheQueue) {
  FitQueue queue(no_model, 3600);
  std::promise<void> begun;
  bool goes_on = true;
  queue.start(
      [&](int64_t /*campaign*/) {
        begun.set_value();
        goes_on = queue.wait_for_storage("it", "publish", Error(ErrorCode::unavailable, "full"));
      },
      [](int64_t /*operation*/) {});
  queue.add_campaign(1);
  begun.get_future().wait();
  queue.stop();
  EXPECT_FALSE(goes_on);
  EXPECT_TRUE(queue.stop_token().stop_requested());
}

}  // namespace
}  // namespace stripline::server
