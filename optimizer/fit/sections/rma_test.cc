#include "optimizer/fit/sections/rma.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "optimizer/fit/fit_model.h"
#include "optimizer/fit/section_fits.h"

namespace stripline::fit {
namespace {

using experiment::SampleSeries;
using model::AtomicPath;

// Series of a machine whose true times are known: six runs, each slow or fast as a whole, and noise
// of every repetition.
class Truth {
 public:
  explicit Truth(double noise) : noise_(0, noise) {}

  void measure(const std::string& experiment, const std::string& variant, const std::string& factor,
               int64_t value, double time_s, uint32_t runs = 6) {
    for (uint32_t run = 0; run < runs; ++run) {
      SampleSeries one;
      one.point = {experiment, variant, {{factor, value}}};
      one.run = run;
      for (int i = 0; i < 9; ++i) {
        one.values.push_back(time_s * (1 + 0.1 * run) * std::exp(noise_(random_)));
      }
      one.verified = true;
      series.push_back(std::move(one));
    }
  }
  void atomic(const std::string& variant, int64_t in_flight, double time_s) {
    measure("micro.atomic", variant, "in_flight", in_flight, time_s);
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

// Puts alone take 2 us each up to 1 KiB; together they take 50 ns and 2 ns per byte, and a message
// costs 4 us.
Truth combining(double noise) {
  Truth truth(noise);
  for (const int64_t bytes : {8, 64, 128, 256, 512, 1024, 2048}) {
    truth.measure("micro.put_combining", "alone", "bytes", bytes, 2e-6);
    truth.measure("micro.put_combining", "combined", "bytes", bytes,
                  50e-9 + 2e-9 * static_cast<double>(bytes));
  }
  for (const int64_t message : {512, 2048, 8192, 32768, 61440}) {
    truth.measure("micro.put_message", "combined", "message_bytes", message,
                  50e-9 + 4e-6 * 16 / static_cast<double>(message));
  }
  return truth;
}

TEST(FitPutCombining, RecoversTheCrossoverTheMessageAndItsCost) {
  ASSERT_OK_AND_ASSIGN(const auto fit, fitted(combining(0.005)));
  ASSERT_TRUE(fit.model.rma && fit.model.rma->put_combining);
  const model::PutCombiningModel& rule = *fit.model.rma->put_combining;
  EXPECT_EQ(rule.max_put_bytes, 512U);  // 1.07 us against 2 us; at 1 KiB 2.1 us
  // 50 ns and 64 us / 32 KiB = 2 ns: 52.0 ns, where 61440 B give 51.0 ns and 8 KiB 57.8 ns.
  EXPECT_EQ(rule.message_bytes, 32768U);
  EXPECT_NEAR(rule.message_s.value, 4e-6 * 1.25, 0.1e-6);  // the mean of the runs
  EXPECT_NEAR(rule.max_delay_s.value, 20 * rule.message_s.value, 1e-12);
  EXPECT_LT(rule.max_delay_s.ci_low, rule.max_delay_s.value);
  ASSERT_TRUE(rule.gain);
  EXPECT_NEAR(rule.gain->value, 1 - 1.074 / 2, 0.01);
}

TEST(FitPutCombining, SmallPutsKeepTheirDefaultUnlessTheyAreSurelySlower) {
  const auto rule_where = [](double combined_s) {
    Truth truth(0.1);
    for (const int64_t bytes : {8, 64, 128}) {
      truth.measure("micro.put_combining", "alone", "bytes", bytes, 2e-6);
      truth.measure("micro.put_combining", "combined", "bytes", bytes, combined_s);
    }
    for (const int64_t message : {512, 2048}) {
      truth.measure("micro.put_message", "combined", "message_bytes", message,
                    1e-6 / static_cast<double>(message));
    }
    const auto fit = fitted(truth);
    EXPECT_TRUE(fit.ok());
    return *fit->model.rma->put_combining;
  };
  const auto even = rule_where(2e-6);
  EXPECT_EQ(even.max_put_bytes, 64U);
  EXPECT_TRUE(even.gain);
  const auto slower = rule_where(3e-6);
  EXPECT_EQ(slower.max_put_bytes, 0U);
  EXPECT_FALSE(slower.gain);
}

TEST(FitPutCombining, TwoPutsFitIntoTheMessage) {
  Truth truth = combining(0.005);
  std::erase_if(truth.series, [](const SampleSeries& one) {
    return one.point.experiment == "micro.put_message";
  });
  std::vector<std::string> notes;
  EXPECT_FALSE(fit_rma(SampleTable(truth.series), 0.95, notes));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("combining puts is absent"), std::string::npos);
  for (const int64_t message : {512, 2048}) {
    truth.measure("micro.put_message", "combined", "message_bytes", message, 1e-6);
  }
  ASSERT_OK_AND_ASSIGN(const auto fit, fitted(truth));
  EXPECT_EQ(fit.model.rma->put_combining->message_bytes, 512U);
  EXPECT_EQ(fit.model.rma->put_combining->max_put_bytes, 248U);
}

TEST(FitBufferedPut, RecoversTheCrossover) {
  const auto rule_of = [](double noise) {
    Truth truth(noise);
    for (const int64_t bytes : {1 << 10, 8 << 10, 64 << 10, 128 << 10, 256 << 10}) {
      // 20 us of latency and 1 GB/s; copying hides the latency at 8 GB/s, and beyond 128 KiB at 1.
      const double stream_s = static_cast<double>(bytes) * 1e-9;
      const double copy_s = static_cast<double>(bytes) / (bytes > 200'000 ? 1e9 : 8e9);
      truth.measure("micro.buffered_put", "waited", "bytes", bytes, 20e-6 + stream_s);
      truth.measure("micro.buffered_put", "copied", "bytes", bytes, 2e-6 + stream_s + copy_s);
    }
    const auto fit = fitted(truth);
    EXPECT_TRUE(fit.ok());
    return *fit->model.rma->buffered_put;
  };
  const model::BufferedPutModel exact = rule_of(0.005);
  EXPECT_EQ(exact.max_bytes, uint64_t{128} << 10);  // 149.5 us against 151.1 us
  EXPECT_NEAR(exact.gain->value, 1 - 149.456 / 151.072, 0.01);
  // Where that drowns in noise, the default stays.
  EXPECT_EQ(rule_of(0.2).max_bytes, uint64_t{64} << 10);
}

TEST(FitBufferedPut, NeedsBothMethodsInTwoRuns) {
  Truth truth(0.02);
  truth.measure("micro.buffered_put", "copied", "bytes", 1024, 1e-6);
  truth.measure("micro.buffered_put", "waited", "bytes", 1024, 2e-6, 1);
  std::vector<std::string> notes;
  EXPECT_FALSE(fit_rma(SampleTable(truth.series), 0.95, notes));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("buffered puts is absent"), std::string::npos);
}

TEST(FitAtomic, MessagesReplaceTheProviderWhereTheyAreSurelyFaster) {
  Truth truth(0.02);
  truth.atomic("provider", 1, 20e-6);
  truth.atomic("message", 1, 22e-6);
  truth.atomic("provider", 64, 4e-6);
  truth.atomic("message", 64, 2e-6);
  ASSERT_OK_AND_ASSIGN(const auto fit, fitted(truth));
  ASSERT_TRUE(fit.model.rma && fit.model.rma->atomic);
  const model::AtomicModel& atomic = *fit.model.rma->atomic;
  EXPECT_EQ(atomic.path, AtomicPath::message);
  ASSERT_TRUE(atomic.gain);
  const double gain = 1 - std::sqrt(22.0 / 20 * 2 / 4);
  EXPECT_NEAR(atomic.gain->value, gain, 0.02);
  EXPECT_LE(atomic.gain->ci_low, gain);
  EXPECT_GE(atomic.gain->ci_high, gain);
  EXPECT_EQ(atomic.gain->runs, 6U);
  EXPECT_NEAR(atomic.provider_s.value, 25e-6, 1e-6);  // the mean of the runs
  EXPECT_NEAR(atomic.message_s.value, 27.5e-6, 1e-6);
  EXPECT_EQ(atomic.message_s.samples, 54U);
  EXPECT_EQ(fit.report.series_used, truth.series.size());
}

TEST(FitAtomic, TheProviderStaysWhereNothingIsSure) {
  for (const double message_s : {20e-6, 30e-6}) {
    Truth truth(0.1);
    truth.atomic("provider", 1, 20e-6);
    truth.atomic("message", 1, message_s);
    ASSERT_OK_AND_ASSIGN(const auto fit, fitted(truth));
    EXPECT_EQ(fit.model.rma->atomic->path, AtomicPath::provider);
    EXPECT_FALSE(fit.model.rma->atomic->gain);
  }
}

TEST(FitAtomic, NeedsBothMethodsInTwoRuns) {
  Truth one_method(0.02);
  one_method.atomic("message", 1, 20e-6);
  EXPECT_FALSE(fitted(one_method).ok());  // there is nothing else to fit

  Truth one_run(0.02);
  one_run.measure("micro.atomic", "provider", "in_flight", 1, 20e-6, 1);
  one_run.atomic("message", 1, 10e-6);
  std::vector<std::string> notes;
  EXPECT_FALSE(fit_rma(SampleTable(one_run.series), 0.95, notes));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("fewer than two runs"), std::string::npos);
}

TEST(FitProgress, RecoversWhatTheThreadCostsAndLeaves) {
  Truth truth(0.005);
  truth.measure("micro.progress_call", "calls", "bytes", 8, 80e-9);
  truth.measure("micro.progress_call", "thread", "bytes", 8, 120e-9);
  truth.measure("micro.progress_wait", "calls", "compute_us", 1, 20e-6);
  truth.measure("micro.progress_wait", "calls", "compute_us", 10000, 5e-3);
  truth.measure("micro.progress_wait", "thread", "compute_us", 1, 22e-6);
  truth.measure("micro.progress_wait", "thread", "compute_us", 10000, 60e-6);
  ASSERT_OK_AND_ASSIGN(const auto fit, fitted(truth));
  ASSERT_TRUE(fit.model.rma && fit.model.rma->progress);
  const model::ProgressModel& progress = *fit.model.rma->progress;
  EXPECT_NEAR(progress.call_s.value, 40e-9 * 1.25, 2e-9);  // the mean of the runs
  EXPECT_NEAR(progress.answer_s.value, 38e-6 * 1.25, 1e-6);
  EXPECT_LT(progress.answer_s.ci_low, 38e-6 * 1.25);
  EXPECT_GT(progress.answer_s.ci_high, 38e-6 * 1.25);
  EXPECT_EQ(progress.call_s.samples, 108U);
}

TEST(FitProgress, NeedsCallsAndAnswersInTwoRuns) {
  Truth truth(0.005);
  truth.measure("micro.progress_call", "calls", "bytes", 8, 80e-9);
  truth.measure("micro.progress_call", "thread", "bytes", 8, 120e-9);
  truth.measure("micro.progress_wait", "thread", "compute_us", 10000, 60e-6);
  std::vector<std::string> notes;
  EXPECT_FALSE(fit_rma(SampleTable(truth.series), 0.95, notes));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("progress thread costs is absent"), std::string::npos);
  truth.measure("micro.progress_wait", "thread", "compute_us", 1, 22e-6, 1);
  notes.clear();
  EXPECT_FALSE(fit_rma(SampleTable(truth.series), 0.95, notes));
  EXPECT_EQ(notes.size(), 1U);
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
  const SampleTable sorted(truth.series);
  EXPECT_TRUE(sorted.used().empty());
  ASSERT_EQ(sorted.rejected().size(), 5U);
  EXPECT_NE(sorted.rejected()[0].find("variant is unknown"), std::string::npos);
  EXPECT_NE(sorted.rejected()[1].find("in_flight is missing"), std::string::npos);
  EXPECT_NE(sorted.rejected()[2].find("not a time"), std::string::npos);
  EXPECT_NE(sorted.rejected()[3].find("in_flight is missing"), std::string::npos);
  EXPECT_NE(sorted.rejected()[4].find("not verified"), std::string::npos);
}

}  // namespace
}  // namespace stripline::fit
