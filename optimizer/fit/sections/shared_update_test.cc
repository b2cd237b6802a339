#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "optimizer/experiment/catalogue.h"
#include "optimizer/fit/fit_model.h"
#include "optimizer/fit/section_fits.h"

namespace stripline::fit {
namespace {

using experiment::SampleSeries;

// Each part takes as many nanoseconds as its number, times the workers.
std::vector<SampleSeries> teams(const std::vector<int64_t>& workers) {
  std::vector<SampleSeries> all;
  for (uint32_t run = 0; run < 3; ++run) {
    for (const int64_t count : workers) {
      double seconds = 0;
      for (const std::string& variant : experiment::micro::kSharedUpdate.variants()) {
        seconds += 1e-9 * static_cast<double>(count);
        SampleSeries& one = all.emplace_back();
        one.point = {"micro.shared_update",
                     variant,
                     {{"cell", std::string("float8")},
                      {"placement", std::string("node")},
                      {"workers", count},
                      {"footprint_bytes", int64_t{65536}}}};
        one.run = run;
        one.verified = true;
        one.values = {seconds, seconds * (1 + 0.01 * run), seconds};
      }
    }
  }
  return all;
}

TEST(FitSharedUpdate, TakesMediansByTeam) {
  std::vector<std::string> notes;
  const auto model = fit_shared_update(SampleTable(teams({4, 2})), 0.95, notes);
  ASSERT_TRUE(model);
  EXPECT_TRUE(notes.empty()) << notes.front();
  ASSERT_EQ(model->points.size(), 2U);
  const model::SharedUpdatePoint& two = model->points[0];
  EXPECT_EQ(two.type, model::CellType::float8);
  EXPECT_EQ(two.placement, model::SharedPlacement::node);
  EXPECT_EQ(two.workers, 2U);
  EXPECT_EQ(two.footprint_bytes, 65536U);
  EXPECT_NEAR(two.plain_s.value, 2e-9, 1e-13);
  EXPECT_NEAR(two.transfer_s.value, 8e-9, 1e-13);
  EXPECT_NEAR(two.barrier_s.value, 14e-9, 1e-13);
  EXPECT_EQ(two.barrier_s.runs, 3U);
  EXPECT_NEAR(model->points[1].plain_s.value, 4e-9, 1e-13);
}

TEST(FitSharedUpdate, NeedsAllOfATeam) {
  std::vector<SampleSeries> all = teams({2, 8});
  std::erase_if(all, [](const SampleSeries& one) {
    return one.point.variant == "box" && one.run > 0 &&
           one.point.params.at("workers") == experiment::ParamValue(int64_t{8});
  });
  std::vector<std::string> notes;
  const auto model = fit_shared_update(SampleTable(all), 0.95, notes);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->points.size(), 1U);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0],
            "what 8 workers of a node take to update float8 cells is absent: not all of it was "
            "measured in two runs");
  std::erase_if(all, [](const SampleSeries& one) { return one.point.variant == "plain"; });
  EXPECT_FALSE(fit_shared_update(SampleTable(all), 0.95, notes));
}

// A campaign may measure nothing else.
TEST(FitSharedUpdate, IsAModelByItself) {
  FitRequest request;
  request.name = "test";
  request.campaigns = {"campaigns/1"};
  request.fitted_at = "2026-01-01T00:00:00Z";
  const auto fit = fit_model(teams({2, 4}), request);
  ASSERT_TRUE(fit.ok()) << fit.error().message();
  ASSERT_TRUE(fit->model.shared_update);
  EXPECT_EQ(fit->model.shared_update->points.size(), 2U);
}

}  // namespace
}  // namespace stripline::fit
