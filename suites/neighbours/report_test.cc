#include "suites/neighbours/report.h"

#include <sstream>

#include <gtest/gtest.h>

namespace stripline::suites::neighbours {
namespace {

// A row of launches, each of whose rounds took this long.
void add(std::vector<Sample>& samples, const char* family, const char* method,
         const std::vector<double>& launches, const char* settings = "",
         const char* row = "put 8 B") {
  for (size_t i = 0; i < launches.size(); ++i) {
    samples.push_back({"network", row, "latency", 1, family, method, settings,
                       "launch " + std::to_string(i),
                       std::vector<double>{launches[i], launches[i], launches[i]}, true});
  }
}

Comparison one(const std::vector<Sample>& samples) {
  const auto comparisons = compare_samples(samples);
  EXPECT_TRUE(comparisons.ok());
  EXPECT_EQ(comparisons->size(), 1u);
  return comparisons->front();
}

TEST(NeighbourReport, TheBestNeighbourIsTheOneWeLookWorstAgainst) {
  std::vector<Sample> samples;
  add(samples, "Stripline", "", {8e-6, 8.1e-6, 7.9e-6});
  add(samples, "Open MPI", "one-sided", {20e-6, 21e-6, 20e-6});
  add(samples, "Open MPI", "two-sided", {15e-6, 15e-6, 15e-6}, "tuned");
  add(samples, "UCX", "", {16e-6, 16e-6, 16e-6});
  const Comparison row = one(samples);
  EXPECT_EQ(row.rivals[row.best].family, "Open MPI");
  EXPECT_EQ(row.rivals[row.best].method, "two-sided, tuned");
  EXPECT_NEAR(row.rivals[row.best].ratio.value, 8.0 / 15, 0.01);
  EXPECT_EQ(row.verdict, Verdict::ahead);
  EXPECT_EQ(row.libfabric_s, 0);
}

TEST(NeighbourReport, LossesOfTheProviderAreItsOwn) {
  std::vector<Sample> samples;
  add(samples, "Stripline", "", {8e-6, 8.1e-6, 7.9e-6});
  add(samples, "libfabric", "", {7.9e-6, 8e-6, 7.9e-6});
  add(samples, "UCX", "", {5e-6, 5e-6, 5e-6});
  const Comparison row = one(samples);
  EXPECT_EQ(row.verdict, Verdict::lost_provider);
  EXPECT_NE(comparison_table({row}, "network", true).find("lost: provider (bare libfabric 7.9"),
            std::string::npos);
  EXPECT_EQ(comparison_table({row}, "node", true).find("put 8 B"), std::string::npos);
}

TEST(NeighbourReport, OtherLossesAreOurs) {
  struct Case {
    const char* why;
    double ours_s;
    double libfabric_s;
  };
  for (const Case& loss : {Case{"the provider is faster than we are", 8e-6, 6e-6},
                           Case{"the provider is faster than the neighbour", 5.2e-6, 4.99e-6},
                           Case{"we do not do what the provider does", 8e-6, 80e-6}}) {
    std::vector<Sample> samples;
    add(samples, "Stripline", "", {loss.ours_s, 1.001 * loss.ours_s, 0.999 * loss.ours_s});
    add(samples, "libfabric", "", std::vector<double>(3, loss.libfabric_s));
    add(samples, "UCX", "", {5e-6, 5e-6, 5e-6});
    EXPECT_EQ(one(samples).verdict, Verdict::lost) << loss.why;
  }
}

TEST(NeighbourReport, OneDisturbedLaunchOfManyDecidesNothing) {
  std::vector<Sample> samples;
  add(samples, "Stripline", "", {4e-6, 4e-6, 4e-6, 4e-6, 4e-6, 4e-6, 4e-6, 4e-6, 400e-6});
  add(samples, "UCX", "", std::vector<double>(9, 5e-6));
  EXPECT_EQ(one(samples).verdict, Verdict::ahead);
}

TEST(NeighbourReport, EqualNeedsANarrowInterval) {
  std::vector<Sample> narrow;
  add(narrow, "Stripline", "", {5e-6, 5.05e-6, 4.97e-6});
  add(narrow, "UCX", "", {5e-6, 5e-6, 5e-6});
  EXPECT_EQ(one(narrow).verdict, Verdict::equal);
  std::vector<Sample> wide;
  add(wide, "Stripline", "", {5e-6, 8e-6, 4e-6});
  add(wide, "UCX", "", {5e-6, 5e-6, 5e-6});
  EXPECT_EQ(one(wide).verdict, Verdict::undecided);
}

TEST(NeighbourReport, RatiosArePairedByRoundAndLaunch) {
  // The host became slower by a factor of five: for both.
  std::vector<Sample> samples;
  const std::vector<double> ours = {1e-6, 5e-6, 1.01e-6, 5e-6};
  const std::vector<double> theirs = {2e-6, 10e-6, 2e-6, 10.1e-6};
  add(samples, "Stripline", "", {0, 0, 0});
  add(samples, "UCX", "", {0, 0, 0});
  for (Sample& sample : samples) sample.seconds = sample.family == "UCX" ? theirs : ours;
  const Comparison row = one(samples);
  EXPECT_NEAR(row.rivals[0].ratio.value, 0.5, 0.005);
  EXPECT_EQ(row.verdict, Verdict::ahead);
}

TEST(NeighbourReport, WrongDataOfAnyoneShow) {
  std::vector<Sample> samples;
  add(samples, "Stripline", "", {5e-6, 5e-6});
  add(samples, "UCX", "", {5e-6, 5e-6});
  samples.back().verified = false;
  const Comparison row = one(samples);
  EXPECT_FALSE(row.verified);
  EXPECT_NE(comparison_table({row}, "network", false).find("NO"), std::string::npos);
}

TEST(NeighbourReport, RefusesWhatCannotBeCompared) {
  std::vector<Sample> alone;
  add(alone, "Stripline", "", {5e-6, 5e-6});
  EXPECT_FALSE(compare_samples(alone).ok());
  std::vector<Sample> once;
  add(once, "Stripline", "", {5e-6});
  add(once, "UCX", "", {5e-6});
  EXPECT_FALSE(compare_samples(once).ok());
  std::vector<Sample> apart;
  add(apart, "UCX", "", {5e-6, 5e-6});
  EXPECT_FALSE(compare_samples(apart).ok());
}

TEST(NeighbourReport, ReadsLinesAndNamesBadOnes) {
  const std::string line =
      R"({"path":"node","row":"get 8 B","metric":"latency","amount":1,"family":"UCX","way":"",)"
      R"("settings":"","launch":"1","seconds":[1e-6,2e-6],"verified":true})";
  std::istringstream good(line + "\n" + line + "\n");
  const auto samples = read_samples(good);
  ASSERT_TRUE(samples.ok());
  ASSERT_EQ(samples->size(), 2u);
  EXPECT_EQ(samples->front().seconds, (std::vector<double>{1e-6, 2e-6}));
  for (const char* bad : {"{}", "nonsense"}) {
    std::istringstream lines(line + "\n" + bad + "\n");
    const auto read = read_samples(lines);
    ASSERT_FALSE(read.ok());
    EXPECT_NE(read.error().message().find("line 2"), std::string::npos);
  }
  std::istringstream no_time(
      R"({"path":"node","row":"get 8 B","metric":"latency","amount":1,"family":"UCX","way":"",)"
      R"("settings":"","launch":"1","seconds":[0],"verified":true})");
  EXPECT_FALSE(read_samples(no_time).ok());
}

}  // namespace
}  // namespace stripline::suites::neighbours
