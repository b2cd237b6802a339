// What any store must do with what becomes known of points.
#include <algorithm>
#include <vector>

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

TEST_P(AnyStoreTest, PointsHaveTheMediansOfTheirRuns) {
  const PointRecord known{.place = 0,
                          .point = put(8),
                          .runs = 3,
                          .failed = 1,
                          .samples = 20,
                          .estimate = campaign::Estimate{2.5e-6, {}, {}}};
  apply({.campaigns = {campaign(1)},
         .points = {{1, {put(8), put(16)}}},
         .point_updates = {{1, known, {3e-6, 2e-6}}}});
  check([&] {
    const auto table = *store_->point_medians(1);
    ASSERT_TRUE(table);
    ASSERT_EQ(table->size(), 2U);
    EXPECT_EQ(table->experiment(0), "micro.latency");
    EXPECT_EQ(table->variant(0), "put");
    EXPECT_EQ(table->params_json(1), R"({"bytes":16})");
    EXPECT_TRUE(std::ranges::equal(table->medians(0), std::vector<double>{3e-6, 2e-6}));
    EXPECT_TRUE(table->medians(1).empty());
  });
  EXPECT_EQ((*store_->point_medians(2))->size(), 0U);
  apply({.point_updates = {{1, known}}});
  EXPECT_FALSE(*store_->point_medians(1)) << "as of before they were stored";
}

}  // namespace
}  // namespace stripline::server
