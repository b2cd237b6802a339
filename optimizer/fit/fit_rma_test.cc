#include "optimizer/fit/fit_rma.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "optimizer/fit/fit_model.h"

namespace stripline::fit {
namespace {

using experiment::SampleSeries;
using model::AtomicWay;

// Series of a machine whose true times are known: six runs, each slow or fast as a whole, and noise
// of every repetition.
class Truth {
 public:
  explicit Truth(double noise) : noise_(0, noise) {}

  void measure(const std::string& experiment, const std::string& way, const std::string& factor,
               int64_t value, double time_s, uint32_t runs = 6) {
    for (uint32_t run = 0; run < runs; ++run) {
      SampleSeries one;
      one.point = {experiment, way, {{factor, value}}};
      one.run = run;
      for (int i = 0; i < 9; ++i) {
        one.values.push_back(time_s * (1 + 0.1 * run) * std::exp(noise_(random_)));
      }
      one.verified = true;
      series.push_back(std::move(one));
    }
  }
  void atomic(const std::string& way, int64_t in_flight, double time_s) {
    measure("micro.atomic", way, "in_flight", in_flight, time_s);
  }

  std::vector<SampleSeries> series;

 private:
  std::mt19937 random_{7};
  std::normal_distribution<double> noise_;
};

Result<Fit> fitted(const Truth& truth) {
  FitRequest request;
  request.name = "rma";
  request.fitted_at = "2024-05-01T12:00:00Z";
  return fit_model(truth.series, request);
}

TEST(FitAtomic, MessagesReplaceTheProviderWhereTheyAreSurelyFaster) {
  Truth truth(0.02);
  truth.atomic("provider", 1, 20e-6);
  truth.atomic("message", 1, 22e-6);
  truth.atomic("provider", 64, 4e-6);
  truth.atomic("message", 64, 2e-6);
  const auto fit = fitted(truth);
  ASSERT_TRUE(fit.ok()) << fit.error().message();
  ASSERT_TRUE(fit->model.rma && fit->model.rma->atomic);
  const model::AtomicModel& atomic = *fit->model.rma->atomic;
  EXPECT_EQ(atomic.way, AtomicWay::message);
  ASSERT_TRUE(atomic.gain);
  const double gain = 1 - std::sqrt(22.0 / 20 * 2 / 4);
  EXPECT_NEAR(atomic.gain->value, gain, 0.02);
  EXPECT_LE(atomic.gain->ci_low, gain);
  EXPECT_GE(atomic.gain->ci_high, gain);
  EXPECT_EQ(atomic.gain->runs, 6U);
  EXPECT_NEAR(atomic.provider_s.value, 25e-6, 1e-6);  // the mean of the runs
  EXPECT_NEAR(atomic.message_s.value, 27.5e-6, 1e-6);
  EXPECT_EQ(atomic.message_s.samples, 54U);
  EXPECT_EQ(fit->report.series_used, truth.series.size());
}

TEST(FitAtomic, TheProviderStaysWhereNothingIsSure) {
  for (const double message_s : {20e-6, 30e-6}) {
    Truth truth(0.1);
    truth.atomic("provider", 1, 20e-6);
    truth.atomic("message", 1, message_s);
    const auto fit = fitted(truth);
    ASSERT_TRUE(fit.ok()) << fit.error().message();
    EXPECT_EQ(fit->model.rma->atomic->way, AtomicWay::provider);
    EXPECT_FALSE(fit->model.rma->atomic->gain);
  }
}

TEST(FitAtomic, NeedsBothWaysInTwoRuns) {
  Truth one_way(0.02);
  one_way.atomic("message", 1, 20e-6);
  EXPECT_FALSE(fitted(one_way).ok());  // there is nothing else to fit

  Truth one_run(0.02);
  one_run.measure("micro.atomic", "provider", "in_flight", 1, 20e-6, 1);
  one_run.atomic("message", 1, 10e-6);
  std::vector<std::string> notes;
  EXPECT_FALSE(fit_rma(sort_rma_samples(one_run.series), 0.95, notes));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("fewer than two runs"), std::string::npos);
}

TEST(SortRmaSamples, NamesWhatItLeavesOut) {
  Truth truth(0.02);
  truth.measure("micro.atomic", "telepathy", "in_flight", 1, 1e-6, 1);
  truth.measure("micro.atomic", "provider", "bytes", 8, 1e-6, 1);
  truth.measure("micro.atomic", "provider", "in_flight", 1, -1e-6, 1);
  truth.measure("micro.atomic", "provider", "in_flight", 0, 1e-6, 1);
  truth.measure("micro.atomic", "provider", "in_flight", 1, 1e-6, 1);
  truth.measure("micro.other", "provider", "in_flight", 1, 1e-6, 1);
  truth.series[4].verified = false;
  const RmaSamples sorted = sort_rma_samples(truth.series);
  EXPECT_TRUE(sorted.used.empty());
  ASSERT_EQ(sorted.rejected.size(), 5U);
  EXPECT_NE(sorted.rejected[0].find("variant is unknown"), std::string::npos);
  EXPECT_NE(sorted.rejected[1].find("in_flight is missing"), std::string::npos);
  EXPECT_NE(sorted.rejected[2].find("not a time"), std::string::npos);
  EXPECT_NE(sorted.rejected[3].find("in_flight is missing"), std::string::npos);
  EXPECT_NE(sorted.rejected[4].find("not verified"), std::string::npos);
}

}  // namespace
}  // namespace stripline::fit
