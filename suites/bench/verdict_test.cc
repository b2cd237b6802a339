#include "suites/bench/verdict.h"

#include <cmath>

#include <gtest/gtest.h>

namespace stripline::suites::bench {
namespace {

// Six runs that scatter by half a percent about this ratio.
std::vector<double> runs_of(double ratio) {
  std::vector<double> logs;
  for (const double noise : {-0.005, 0.004, 0.001, -0.002, 0.003, -0.001}) {
    logs.push_back(std::log(ratio) + noise);
  }
  return logs;
}

Verdict verdict_of(double ratio, const std::optional<HostLoad>& load = {}) {
  auto verdict = judge(runs_of(ratio), load, 2);
  EXPECT_TRUE(verdict.ok());
  verdict->experiment = "kernel.matvec";
  verdict->fabric = "emulated:x";
  return *verdict;
}

TEST(Verdict, SaysWhatTheIntervalSays) {
  EXPECT_EQ(verdict_of(0.79).outcome, Outcome::gained);
  EXPECT_EQ(verdict_text(verdict_of(0.79)), "gained 21.0 % of the time [20.7, 21.3]");
  EXPECT_EQ(verdict_of(1.252).outcome, Outcome::lost);
  EXPECT_EQ(verdict_text(verdict_of(1.252)), "LOST: takes 25.2 % longer [24.8, 25.6]");
  EXPECT_EQ(verdict_of(0.999).outcome, Outcome::too_close);
  EXPECT_EQ(verdict_text(verdict_of(0.999)), "too close to call: 0.1 % less time [-0.3, 0.5]");
  // A guard may take a part of a percent.
  EXPECT_EQ(verdict_of(1.009).outcome, Outcome::too_close);
  EXPECT_EQ(verdict_text(verdict_of(1.009)), "too close to call: 0.9 % more time [0.5, 1.3]");
  EXPECT_FALSE(judge({0.1}, {}, 2).ok()) << "a single run has no interval";
}

TEST(Verdict, OnABusyHostNothingIsSaidOfARealNetwork) {
  const Verdict busy = verdict_of(1.25, HostLoad{8.1, 7, 2});
  EXPECT_EQ(busy.outcome, Outcome::too_busy);
  EXPECT_EQ(verdict_text(busy),
            "not judged: this host is too busy (load 8.1, 7 other tasks on 2 processors)");
  EXPECT_EQ(verdict_of(0.8, HostLoad{0.4, 0.2, 2}).outcome, Outcome::gained);
  EXPECT_EQ(verdict_of(0.8, HostLoad{9, 8, 64}).outcome, Outcome::gained);
}

TEST(Verdict, RoundTripsThroughARow) {
  for (const Verdict& verdict : {verdict_of(0.79), verdict_of(1.25, HostLoad{8.1, 7, 2})}) {
    const Json row = {{"experiment", verdict.experiment},
                      {"fabric", verdict.fabric},
                      {"without_model", to_json(verdict)}};
    const auto read = verdict_from_json(row);
    ASSERT_TRUE(read.ok()) << read.error().message();
    EXPECT_EQ(verdict_text(*read), verdict_text(verdict));
    EXPECT_EQ(to_json(*read), to_json(verdict));
  }
  EXPECT_FALSE(verdict_from_json({{"experiment", "a"}}).ok());
}

// The lines and the last one are of the same figures, and one loss is a loss.
TEST(Verdict, ClosesWithOne) {
  const auto gained = close(std::vector{verdict_of(0.8), verdict_of(0.9)});
  ASSERT_TRUE(gained.ok());
  EXPECT_FALSE(gained->lost);
  EXPECT_NE(gained->text.find("VERDICT: GAINED: 2 gained, 0 too close to call, 0 lost; all "
                              "together: gained 15.1 % of the time ["),
            std::string::npos)
      << gained->text;
  const auto lost = close(std::vector{verdict_of(0.5), verdict_of(1.2)});
  EXPECT_TRUE(lost->lost);
  EXPECT_NE(lost->text.find("VERDICT: LOST: 1 gained, 0 too close to call, 1 lost"),
            std::string::npos)
      << lost->text;
  const auto close_call = close(std::vector{verdict_of(1), verdict_of(1, HostLoad{8, 7, 2})});
  EXPECT_NE(close_call->text.find("VERDICT: TOO CLOSE TO CALL: 0 gained, 1 too close to call, 0 "
                                  "lost, 1 not judged on a busy host"),
            std::string::npos)
      << close_call->text;
  const auto none = close(std::vector{verdict_of(1.2, HostLoad{8, 7, 2})});
  EXPECT_FALSE(none->lost);
  EXPECT_NE(none->text.find("VERDICT: none: this host is too busy (load 8.0"), std::string::npos)
      << none->text;
}

}  // namespace
}  // namespace stripline::suites::bench
