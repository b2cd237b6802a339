#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "optimizer/experiment/catalogue.h"
#include "optimizer/fit/section_fits.h"

namespace stripline::fit {
namespace {

using experiment::SampleSeries;

SampleSeries series(const char* name, const char* variant, const char* factor, int64_t value,
                    uint32_t run, double seconds) {
  SampleSeries one;
  one.point = {name, variant, {}};
  one.point.params[factor] = value;
  one.run = run;
  one.verified = true;
  one.values = {seconds, seconds, seconds};
  return one;
}

std::vector<SampleSeries> campaign() {
  std::vector<SampleSeries> all;
  for (uint32_t run = 0; run < 3; ++run) {
    const double noise = 1 + 0.01 * run;
    for (const int64_t span : {16384, 1 << 20}) {
      const double slow = span > 100000 ? 10 : 1;
      all.push_back(series("micro.update_item", "append", "span_bytes", span, run, 4e-9 * noise));
      all.push_back(
          series("micro.update_item", "merge", "span_bytes", span, run, 8e-9 * slow * noise));
      all.push_back(
          series("micro.update_item", "apply", "span_bytes", span, run, 2e-9 * slow * noise));
      all.push_back(
          series("micro.update_item", "miss", "span_bytes", span, run, 6e-9 * slow * noise));
    }
    for (const int64_t in_flight : {1, 64}) {
      const double seconds = in_flight == 1 ? 10e-6 : 1e-6;
      all.push_back(
          series("micro.atomic", "provider", "in_flight", in_flight, run, seconds * noise));
      all.push_back(
          series("micro.atomic", "message", "in_flight", in_flight, run, 2 * seconds * noise));
    }
  }
  return all;
}

TEST(FitUpdate, TakesMediansBySpanAndStreamsOfAtomics) {
  std::vector<std::string> notes;
  const auto update = fit_update(SampleTable(campaign()), 0.95, notes);
  ASSERT_TRUE(update);
  EXPECT_TRUE(notes.empty()) << notes.front();
  ASSERT_EQ(update->items.size(), 2U);
  EXPECT_EQ(update->items[0].span_bytes, 16384U);
  EXPECT_NEAR(update->items[0].append_s.value, 4.04e-9, 1e-13);
  EXPECT_NEAR(update->items[1].merge_s.value, 80.8e-9, 1e-12);
  EXPECT_NEAR(update->items[1].apply_s.value, 20.2e-9, 1e-12);
  EXPECT_NEAR(update->items[1].miss_s->value, 60.6e-9, 1e-12);
  EXPECT_LT(update->items[1].apply_s.ci_low, update->items[1].apply_s.value);
  EXPECT_EQ(update->items[1].apply_s.runs, 3U);
  EXPECT_NEAR(update->provider_s->value, 1.01e-6, 1e-11);
  EXPECT_NEAR(update->message_s->value, 2.02e-6, 1e-11);
  EXPECT_FALSE(update->minimum_gain);
}

TEST(FitUpdate, NeedsAllOfASpan) {
  std::vector<SampleSeries> all = campaign();
  std::erase_if(all, [](const SampleSeries& one) {
    return one.point.variant == "merge" &&
           one.point.params.at("span_bytes") == experiment::ParamValue(int64_t{16384}) &&
           one.run > 0;
  });
  std::vector<std::string> notes;
  const auto update = fit_update(SampleTable(all), 0.95, notes);
  ASSERT_TRUE(update);
  EXPECT_EQ(update->items.size(), 1U);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0],
            "what updates among 16384 bytes cost is absent: appending, merging and applying were "
            "not all measured in two runs");
  // Campaigns of earlier versions did not measure misses.
  std::erase_if(all, [](const SampleSeries& one) { return one.point.variant == "miss"; });
  const auto without = fit_update(SampleTable(all), 0.95, notes);
  ASSERT_TRUE(without);
  EXPECT_FALSE(without->items[0].miss_s);
  std::erase_if(all, [](const SampleSeries& one) { return one.point.variant == "apply"; });
  EXPECT_FALSE(fit_update(SampleTable(all), 0.95, notes));
}

TEST(FitUpdate, OfACampaignWithoutAtomicsHasTheRest) {
  std::vector<SampleSeries> all = campaign();
  std::erase_if(all,
                [](const SampleSeries& one) { return one.point.experiment == "micro.atomic"; });
  std::vector<std::string> notes;
  const auto update = fit_update(SampleTable(all), 0.95, notes);
  ASSERT_TRUE(update);
  EXPECT_FALSE(update->provider_s);
  EXPECT_FALSE(update->message_s);
}

}  // namespace
}  // namespace stripline::fit
