#include "tests/load/soak.h"

#include <gtest/gtest.h>

namespace stripline::load {
namespace {

std::vector<Resident> course(const std::vector<double>& mib) {
  std::vector<Resident> all;
  for (const double one : mib) all.push_back({static_cast<double>(all.size()), one});
  return all;
}

SoakFigures good() {
  SoakFigures figures;
  figures.p99_s = 0.05;
  figures.p99_quiet_s = 0.01;
  figures.p99_with_viewer_s = 0.02;
  figures.pages_p99_quiet_s = 0.1;
  figures.pages_p99_with_viewer_s = 0.2;
  figures.memory_growth = 1.05;
  figures.samples_measured = figures.samples_acknowledged = figures.samples_stored = 1000;
  figures.pages_answered = 1000;
  figures.pages_deferred = 5;
  figures.events_streamed = 10;
  return figures;
}

TEST(Growth, ComparesTheEndWithTheBeginning) {
  EXPECT_DOUBLE_EQ(growth(course({100, 100, 900, 100, 100, 100, 900, 100, 200, 200})), 2);
  EXPECT_DOUBLE_EQ(growth(course({100, 110, 100, 120, 100, 110, 100, 110, 100, 110})), 1);
  EXPECT_DOUBLE_EQ(growth(course({100, 200})), 1) << "too few to say anything";
}

TEST(Unmet, IsNothingWhereAllIsAsAsked) { EXPECT_TRUE(unmet(good()).empty()); }

TEST(Unmet, NamesEachFigureThatIsNot) {
  const auto one = [](auto change) {
    SoakFigures figures = good();
    change(figures);
    const auto found = unmet(figures);
    return found.size() == 1 ? found.front() : std::to_string(found.size()) + " findings";
  };
  EXPECT_EQ(one([](SoakFigures& f) { f.p99_s = 0.1; }),
            "batches are acknowledged in 100.0 ms (p99), not in less than 100 ms");
  EXPECT_EQ(one([](SoakFigures& f) { f.p99_with_viewer_s = 0.03; }),
            "one viewer makes the p99 of batches 3.0 times what it was, not at most 2");
  EXPECT_EQ(one([](SoakFigures& f) { f.pages_p99_with_viewer_s = 0.3; }),
            "one viewer makes the p99 of browsers 3.0 times what it was, not at most 2");
  EXPECT_EQ(one([](SoakFigures& f) { f.memory_growth = 1.25; }),
            "the server's memory grew to 1.25 times what it was, not to at most 1.1");
  EXPECT_EQ(one([](SoakFigures& f) { f.samples_stored = 999; }),
            "of 1000 samples 1000 were acknowledged and 999 are stored");
  EXPECT_EQ(one([](SoakFigures& f) { f.samples_acknowledged = 999; }),
            "of 1000 samples 999 were acknowledged and 1000 are stored");
  EXPECT_EQ(one([](SoakFigures& f) { f.runs_lost = 1; }), "1 runs were given out more than once");
  EXPECT_EQ(one([](SoakFigures& f) { f.pages_failed = 2; }), "2 requests of browsers failed");
  EXPECT_EQ(one([](SoakFigures& f) { f.pages_deferred = 20; }),
            "20 of 1020 requests of browsers were put off");
  EXPECT_EQ(one([](SoakFigures& f) { f.events_streamed = 0; }), "browsers saw nothing");
  EXPECT_EQ(one([](SoakFigures& f) { f.idle_attackers = {"a node"}; }),
            "a node got through nothing of what it was to try");
}

// A viewer on a server that answers in a millisecond is not judged by noise.
TEST(Unmet, LeavesNoiseOut) {
  SoakFigures figures = good();
  figures.p99_quiet_s = 0.001;
  figures.p99_with_viewer_s = 0.009;
  figures.pages_p99_quiet_s = 0.01;
  figures.pages_p99_with_viewer_s = 0.09;
  EXPECT_TRUE(unmet(figures).empty());
}

}  // namespace
}  // namespace stripline::load
