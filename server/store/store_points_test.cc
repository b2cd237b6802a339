// What any store must do with what becomes known of points.
#include "server/testing/any_store_test.h"

namespace stripline::server {
namespace {

experiment::Point put(int64_t bytes) { return {"micro.latency", "put", {{"bytes", bytes}}}; }

TEST_P(AnyStoreTest, PointsAreAddedAndBecomeKnown) {
  apply({.campaigns = {campaign(1)}, .points = {{1, {put(8), put(16)}}}});
  const PointRecord known{.place = 1,
                          .point = put(16),
                          .runs = 3,
                          .failed = 1,
                          .samples = 20,
                          .estimate = campaign::Estimate{2e-6, 1e-6, 3e-6}};
  const PointRecord once{.place = 2,
                         .point = put(12),
                         .runs = 1,
                         .samples = 6,
                         .estimate = campaign::Estimate{1e-6, {}, {}}};
  apply({.points = {{1, {put(12)}, 2}}, .point_updates = {{1, known}, {1, once}}});
  check([&] {
    const auto all = *store_->points(1, {}, 0, 10);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0], (PointRecord{.place = 0, .point = put(8), .estimate = {}}));
    EXPECT_EQ(all[1], known);
    EXPECT_EQ(all[2], once);
  });
}

}  // namespace
}  // namespace stripline::server
