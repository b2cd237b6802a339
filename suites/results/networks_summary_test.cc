#include "suites/results/networks_summary.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

namespace stripline::suites::results {
namespace {

NetworkCell cell(const std::string& network, const std::string& problem, double chosen,
                 double untuned, double best) {
  NetworkCell made;
  made.network = network;
  made.problem = problem;
  made.chosen_plan = "tuned";
  made.best_plan = "forced";
  made.untuned_plan = "untuned";
  made.exact_chosen_s = chosen;
  made.exact_untuned_s = untuned;
  made.exact_best_s = best;
  for (const double jitter : {1.0, 1.01, 0.99, 1.02}) {
    made.chosen_s.push_back(chosen * jitter);
    made.untuned_s.push_back(untuned * jitter);
    made.best_s.push_back(best * jitter);
  }
  return made;
}

TEST(PairedRatio, IsTheGeometricMeanWithStudentsInterval) {
  const PairedRatio ratio = paired_ratio({2, 8}, {1, 1});
  EXPECT_NEAR(ratio.value, 4, 1e-12);
  // Logarithms 1 and 3 (base 2): standard error 1, 12.706 of them, as Student's distribution with
  // one degree of freedom is Cauchy's.
  const double quantile = std::tan(0.475 * std::numbers::pi);
  EXPECT_NEAR(std::log2(ratio.high), 2 + quantile, 1e-9);
  EXPECT_NEAR(std::log2(ratio.low), 2 - quantile, 1e-9);
}

TEST(NetworksVerdict, FindsTheWorstNetworkAndCellAndWhatLosesToNoModel) {
  const std::vector<NetworkCell> cells = {cell("a", "one", 1.0, 2.0, 1.0),
                                          cell("a", "two", 1.21, 1.0, 1.0),
                                          cell("b", "one", 1.0, 1.0, 1.0)};
  const NetworksVerdict verdict = networks_verdict(cells, {});
  EXPECT_EQ(verdict.networks, 2U);
  EXPECT_NEAR(verdict.mean, std::cbrt(1.21), 1e-9);
  EXPECT_EQ(verdict.worst_network_name, "a");
  EXPECT_NEAR(verdict.worst_network, 1.1, 1e-9);
  EXPECT_EQ(verdict.worst_cell_name, "a, loops, two");
  EXPECT_NEAR(verdict.untuned_mean, std::cbrt(0.605), 1e-9);
  ASSERT_EQ(verdict.lost_to_untuned, 1U);
  EXPECT_EQ(verdict.lost_names.front(), "a, loops, two");
}

TEST(NetworksVerdict, ALossWithinItsIntervalIsNotReliable) {
  NetworkCell noisy = cell("a", "one", 1.1, 1.0, 1.0);
  noisy.chosen_s = {1.5, 0.9, 1.3, 0.8};
  noisy.untuned_s = {1, 1, 1, 1};
  EXPECT_EQ(networks_verdict({noisy}, {}).lost_to_untuned, 0U);
}

TEST(NetworksVerdict, ClaimsHoldWhereTheGainIsAtLeastWhatIsClaimed) {
  NetworkCell kept = cell("a", "kept", 0.7, 1.0, 0.7);
  kept.claim = {0.29, 1.0};
  NetworkCell broken = cell("a", "broken", 0.9, 1.0, 0.9);
  broken.claim = {0.15, 1.0};
  const NetworksVerdict verdict = networks_verdict({kept, broken}, {});
  EXPECT_EQ(verdict.claims, 2U);
  EXPECT_EQ(verdict.claims_held, 1U);
  EXPECT_NE(networks_tables({kept, broken}, {}).find("| 50.0 % |"), std::string::npos);
  // Half of the time is not the loop's.
  broken.claim = {0.15, 0.5};
  EXPECT_EQ(networks_verdict({broken}, {}).claims_held, 1U);
}

TEST(NetworkCell, SurvivesItsFile) {
  NetworkCell made = cell("a", "one", 1.5, 2.5, 1.25);
  made.kind = ProblemKind::gather;
  made.claim = {0.125, 2.0};
  const auto read = network_cell_from_json(to_json(made));
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->key(), made.key());
  EXPECT_EQ(read->best_s, made.best_s);
  EXPECT_EQ(read->exact_untuned_s, 2.5);
  ASSERT_TRUE(read->claim);
  EXPECT_EQ(read->claim->gain, made.claim->gain);
  EXPECT_EQ(read->claim->of_s, made.claim->of_s);
  Json damaged = to_json(made);
  damaged["best_s"] = {1.0, -1.0};
  EXPECT_FALSE(network_cell_from_json(damaged).ok());
  damaged["best_s"] = Json::array({1.0});
  EXPECT_FALSE(network_cell_from_json(damaged).ok()) << "other runs than the rest";
  for (const char* const times : {"chosen_s", "untuned_s", "best_s"}) {
    damaged[times] = Json::array({1.0});
  }
  EXPECT_FALSE(network_cell_from_json(damaged).ok()) << "one run has no interval";
}

}  // namespace
}  // namespace stripline::suites::results
