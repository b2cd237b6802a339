#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "optimizer/experiment/catalogue.h"
#include "optimizer/fit/section_fits.h"

namespace stripline::fit {
namespace {

using experiment::SampleSeries;

SampleSeries series(const experiment::Known& known, const char* variant,
                    const experiment::Params& params, uint32_t run, double seconds) {
  SampleSeries one;
  one.point = {known.name, variant, params};
  one.run = run;
  one.verified = true;
  one.values = {seconds, seconds, seconds};
  return one;
}

// Microseconds of a put and a get by the number in flight; of a copy and a get by size.
struct Network {
  std::map<int64_t, std::pair<double, double>> windows = {
      {8, {4, 6}}, {32, {1.01, 2}}, {64, {1, 1.01}}, {128, {1, 1}}};
  std::map<int64_t, std::pair<double, double>> copies = {
      {1024, {0.1, 5}}, {65536, {20, 60}}, {1 << 20, {400, 390}}};
};

std::vector<SampleSeries> campaign(const Network& network) {
  namespace micro = experiment::micro;
  std::vector<SampleSeries> all;
  for (uint32_t run = 0; run < 3; ++run) {
    const double scale = 1e-6 * (1 + 0.001 * run);
    for (const auto& [in_flight, times] : network.windows) {
      const experiment::Params params = {{"in_flight", in_flight}, {"bytes", int64_t{4096}}};
      all.push_back(series(micro::kBulkWindow, "put", params, run, scale * times.first));
      all.push_back(series(micro::kBulkWindow, "get", params, run, scale * times.second));
    }
    for (const auto& [bytes, times] : network.copies) {
      all.push_back(
          series(micro::kBulkCopy, "copied", {{"bytes", bytes}}, run, scale * times.first));
      all.push_back(
          series(micro::kBulkCopy, "waited", {{"bytes", bytes}}, run, scale * times.second));
    }
    for (const int64_t in_flight : {16, 64}) {
      all.push_back(series(micro::kBulkCheck, "check", {{"in_flight", in_flight}}, run,
                           scale * 1e-3 * static_cast<double>(in_flight)));
    }
  }
  return all;
}

std::optional<model::BulkModel> fitted(const std::vector<SampleSeries>& all,
                                       std::vector<std::string>& notes) {
  return fit_bulk(SampleTable(all), 0.95, notes);
}

TEST(FitBulk, TakesCopiesTheFewestInFlightAndTheSizeUpToWhichGetsAreMadeAhead) {
  std::vector<std::string> notes;
  const auto bulk = fitted(campaign({}), notes);
  ASSERT_TRUE(bulk);
  EXPECT_TRUE(notes.empty()) << notes.front();
  ASSERT_EQ(bulk->copies.size(), 3U);
  EXPECT_EQ(bulk->copies[1].bytes, 65536U);
  EXPECT_NEAR(bulk->copies[1].copy_s.value, 20.02e-6, 1e-10);
  EXPECT_EQ(bulk->copies[1].copy_s.runs, 3U);
  // 32 do for puts, and gets take 64.
  EXPECT_EQ(bulk->in_flight, 64U);
  EXPECT_EQ(bulk->max_get_bytes, 65536U);
  ASSERT_TRUE(bulk->check_s);
  EXPECT_NEAR(bulk->check_s->value, 64.064e-9, 1e-12);
}

TEST(FitBulk, LimitsGetsOnlyWhereACopyIsNotSurelyShorter) {
  std::vector<std::string> notes;
  Network network;
  network.copies = {{1024, {0.1, 5}}, {65536, {20, 60}}};
  EXPECT_FALSE(fitted(campaign(network), notes)->max_get_bytes);
  network.copies[1024].first = 5;
  EXPECT_EQ(fitted(campaign(network), notes)->max_get_bytes, 0U);
}

TEST(FitBulk, NamesWhatWasNotMeasured) {
  std::vector<SampleSeries> all = campaign({});
  std::erase_if(all, [](const SampleSeries& one) {
    return (one.point.experiment == "micro.bulk_window" && one.point.variant == "put") ||
           (one.point.variant == "copied" && one.run > 0 &&
            one.point.params.at("bytes") == experiment::ParamValue(int64_t{1024}));
  });
  std::vector<std::string> notes;
  const auto bulk = fitted(all, notes);
  ASSERT_TRUE(bulk);
  EXPECT_EQ(bulk->copies.size(), 2U);
  EXPECT_FALSE(bulk->in_flight);
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0],
            "what copying 1024 bytes takes that were fetched ahead is absent: it was not measured "
            "in two runs");
  EXPECT_NE(notes[1].find("how many puts and gets"), std::string::npos);
  std::erase_if(all, [](const SampleSeries& one) { return one.point.variant == "copied"; });
  EXPECT_FALSE(fitted(all, notes));
}

}  // namespace
}  // namespace stripline::fit
