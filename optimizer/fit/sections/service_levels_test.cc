#include <gtest/gtest.h>

#include "optimizer/fit/section_fits.h"

namespace stripline::fit {
namespace {

using experiment::SampleSeries;

struct Place {
  int64_t nodes;
  int64_t distance;
  double best;
  double worst;
};

// Streams of 8 KiB that take 10 us alone, in runs that are slower or faster as a whole.
std::vector<SampleSeries> campaign(const std::vector<Place>& places, const char* scale = "switches",
                                   uint32_t runs = 6, const char* variant = "get") {
  std::vector<SampleSeries> all;
  for (uint32_t run = 1; run <= runs; ++run) {
    for (const Place& place : places) {
      for (const auto& [served, factor] :
           {std::pair("best", place.best), std::pair("worst", place.worst)}) {
        SampleSeries one;
        one.point = {"micro.load",
                     variant,
                     {{"bytes", int64_t{8192}},
                      {"nodes", place.nodes},
                      {"distance", place.distance},
                      {"scale", std::string(scale)},
                      {"served", std::string(served)}}};
        one.run = run;
        one.verified = true;
        const double alone_s = 10e-6 * (1 + 0.1 * run);
        for (int i = -2; i <= 2; ++i) one.values.push_back(factor * alone_s * (1 + 0.01 * i));
        all.push_back(std::move(one));
      }
    }
  }
  return all;
}

std::optional<model::ServiceModel> fit(const std::vector<SampleSeries>& series) {
  std::vector<std::string> notes;
  return fit_service(SampleTable(series), 0.95, notes);
}

TEST(ServiceFit, FindsFactorsWithinRuns) {
  const auto fitted = fit(campaign({{2, 0, 1, 1}, {8, 0, 1, 1.1}, {8, 1, 1.5, 2}}));
  ASSERT_TRUE(fitted.has_value());
  EXPECT_EQ(fitted->scale, model::DistanceScale::switches);
  ASSERT_EQ(fitted->get.size(), 3U);
  EXPECT_TRUE(fitted->put.empty());
  const model::ServiceLevel& far = fitted->get[2];
  EXPECT_EQ(far.nodes, 8U);
  EXPECT_EQ(far.distance, 1U);
  EXPECT_EQ(far.bytes, 8192U);
  EXPECT_NEAR(far.best.value, 1.5, 1e-9);
  EXPECT_NEAR(far.worst.value, 2, 1e-9);
  EXPECT_LT(far.worst.ci_high - far.worst.ci_low, 1e-6);  // though runs differ by half
  EXPECT_EQ(far.worst.runs, 6U);
}

TEST(ServiceFit, SaysNothingOfNetworksThatNobodyElseUsed) {
  EXPECT_FALSE(fit({}).has_value());
  EXPECT_FALSE(fit(campaign({{2, 0, 1, 1}})).has_value());
}

TEST(ServiceFit, PrefersSwitchesToNumbers) {
  auto series = campaign({{2, 0, 1, 1}, {8, 1, 3, 3}}, "numbers");
  EXPECT_EQ(fit(series)->scale, model::DistanceScale::numbers);
  for (auto& one : campaign({{2, 0, 1, 1}, {8, 1, 2, 2}})) series.push_back(std::move(one));
  EXPECT_EQ(fit(series)->scale, model::DistanceScale::switches);
  EXPECT_NEAR(fit(series)->get[1].worst.value, 2, 1e-9);
}

TEST(ServiceFit, LeavesOutWhatItCannotUse) {
  auto series = campaign({{2, 0, 1, 1}, {8, 1, 2, 2}});
  series[0].verified = false;
  series[1].values[0] = -1;
  series[2].point.params.erase("scale");
  series[3].point.params["distance"] = int64_t{model::kDistances};
  series[4].point.variant = "am";
  series[5].values.clear();
  const SampleTable table(series);
  EXPECT_EQ(table.rejected().size(), 6U);
  EXPECT_EQ(table.used().size(), series.size() - 6);
  EXPECT_TRUE(fit(series).has_value());
}

TEST(ServiceFit, NeedsTwoRuns) {
  std::vector<std::string> notes;
  const SampleTable table(campaign({{2, 0, 1, 1}, {8, 1, 2, 2}}, "switches", 1));
  EXPECT_FALSE(fit_service(table, 0.95, notes).has_value());
  EXPECT_FALSE(notes.empty());
}

}  // namespace
}  // namespace stripline::fit
