#include "suites/worker/assignment.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/random.h"
#include "suites/testing/ranks.h"

namespace stripline::suites {
namespace {

using experiment::Point;
using experiment::SampleSeries;

constexpr const char* kFabric = "emulated:opteron-vapi,compute=none";

std::vector<Point> latencies(int64_t count) {
  std::vector<Point> points;
  for (int64_t i = 1; i <= count; ++i) {
    points.push_back({"micro.latency", "get", {{"bytes", i}}});
  }
  return points;
}

// Notes what it is given; wants to stop once `stop_after` questions were asked.
class Notes final : public Reporter {
 public:
  explicit Notes(size_t stop_after = SIZE_MAX) : stop_after_(stop_after) {}
  bool cancelled() override { return ++asked_ > stop_after_; }
  Status report(const std::vector<SampleSeries>& series, size_t done, size_t total) override {
    all.insert(all.end(), series.begin(), series.end());
    last_done = done;
    last_total = total;
    if (fails) return Error(ErrorCode::unavailable, "the launcher is gone");
    return {};
  }

  std::vector<SampleSeries> all;
  size_t last_done = 0;
  size_t last_total = 0;
  bool fails = false;

 private:
  size_t stop_after_;
  size_t asked_ = 0;
};

// Each rank's end, or nullopt for an error.
std::vector<std::optional<RunEnd>> run(const experiment::Assignment& assignment, Notes& notes) {
  std::vector<std::optional<RunEnd>> ends(2);
  on_ranks(2, kFabric, "virtual", [&](Session& session) {
    const rank_t me = session.context().rank_me();
    const auto end = run_assignment(session, assignment, me == 0 ? &notes : nullptr);
    if (end.ok()) ends[me] = *end;
  });
  return ends;
}

TEST(RunAssignment, MeasuresEveryPointInShuffledOrder) {
  experiment::Assignment assignment;
  assignment.seed = 11;
  assignment.points = latencies(20);
  Notes notes;
  const auto ends = run(assignment, notes);
  EXPECT_EQ(ends[0], RunEnd::complete);
  EXPECT_EQ(ends[1], RunEnd::complete);
  EXPECT_EQ(notes.last_done, 20u);
  EXPECT_EQ(notes.last_total, 20u);
  std::vector<Point> measured;
  for (const SampleSeries& series : notes.all) {
    measured.push_back(series.point);
    EXPECT_TRUE(series.verified);
    EXPECT_EQ(series.run, 1u);
  }
  auto expected = assignment.points;
  shuffle(expected, assignment.seed);
  EXPECT_EQ(measured, expected);
}

TEST(RunAssignment, ReportsWhatWasMeasuredBeforeACancel) {
  experiment::Assignment assignment;
  assignment.points = latencies(20);
  Notes notes(5);
  const auto ends = run(assignment, notes);
  EXPECT_EQ(ends[0], RunEnd::cancelled);
  EXPECT_EQ(ends[1], RunEnd::cancelled);
  EXPECT_EQ(notes.all.size(), 5u);
  EXPECT_EQ(notes.last_done, 5u);
}

// The point at which a rank hangs or dies is known, and an experiment that does is passed over.
TEST(RunAssignment, SaysWhichPointItIsAtAndLeavesOut) {
  experiment::Assignment assignment;
  assignment.points = latencies(3);
  assignment.points.push_back({"micro.bandwidth", "get", {}});
  Notes notes;
  auto record = PointRecord::create();
  ASSERT_TRUE(record.ok());
  on_ranks(2, kFabric, "virtual", [&](Session& session) {
    const bool first = session.context().rank_me() == 0;
    const auto end =
        run_assignment(session, assignment, first ? &notes : nullptr,
                       {{{"micro.bandwidth", "rank 1 died"}}, first ? &*record : nullptr});
    EXPECT_TRUE(end.ok());
  });
  EXPECT_EQ(record->begun(), 4U);
  ASSERT_EQ(notes.all.size(), 4U);
  for (const SampleSeries& series : notes.all) {
    EXPECT_EQ(series.values.empty(), series.point.experiment == "micro.bandwidth");
    if (!series.values.empty()) continue;
    EXPECT_EQ(series.note, "not measured: the experiment was left out after rank 1 died");
  }
}

TEST(RunAssignment, AReporterThatFailsIsAnError) {
  experiment::Assignment assignment;
  assignment.points = latencies(3);
  Notes notes;
  notes.fails = true;
  const auto ends = run(assignment, notes);
  EXPECT_EQ(ends[0], std::nullopt);
}

}  // namespace
}  // namespace stripline::suites
