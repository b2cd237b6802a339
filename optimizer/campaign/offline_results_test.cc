#include "optimizer/campaign/offline_results.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "optimizer/campaign/bundle_fixture.h"

namespace stripline::campaign {
namespace {

OfflineResults small_results(uint32_t runs) {
  OfflineResults results;
  results.plan = small_plan();
  for (uint32_t run = 1; run <= runs; ++run) results.runs.push_back(small_run(results.plan, run));
  results.spent_s = 2 * runs + 1;
  results.lost_runs = 1;
  return results;
}

// Why its text is not read; "" if it is.
std::string refusal(const OfflineResults& results) {
  const auto text = results_text(results);
  if (!text.ok()) return text.error().message();
  const auto read = read_results(*text);
  return read.ok() ? "" : read.error().message();
}

TEST(OfflineResults, ReadsWhatIsWritten) {
  OfflineResults results = small_results(3);
  results.reason = StopReason::time_budget;
  results.runs[1].added = {{"micro.latency", "get", {{"bytes", int64_t{100}}}}};
  const auto text = results_text(results);
  ASSERT_TRUE(text.ok()) << text.error().message();
  const auto read = read_results(*text);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(*results_text(*read), *text);
  EXPECT_EQ(read->reason, StopReason::time_budget);
  EXPECT_EQ(read->lost_runs, 1U);
  EXPECT_EQ(read->spent_s, 7);
  ASSERT_EQ(read->runs.size(), 3U);
  EXPECT_EQ(read->runs[2].batches[0][0].values, results.runs[2].batches[0][0].values);
  EXPECT_EQ(read->runs[0].facts, results.runs[0].facts);
  EXPECT_EQ(table_of(*read).points().size(), 5U);
  EXPECT_TRUE(read->left_out.empty());
}

TEST(OfflineResults, SayWhatWasLeftOutAndWhy) {
  OfflineResults results = small_results(1);
  results.left_out = {{"micro.latency", "rank 1 died"}};
  EXPECT_NE(refusal(results).find("all experiments of the plan"), std::string::npos);
  results.plan.requirements["micro.issue"] = 1;
  EXPECT_EQ(read_results(*results_text(results))->left_out, results.left_out);
  results.left_out["micro.latency"].append(4096, '!');
  EXPECT_NE(refusal(results).find("the reason too long"), std::string::npos);
  results.left_out = {{"micro.load", "rank 1 died"}};
  EXPECT_NE(refusal(results).find("not an experiment of the plan"), std::string::npos);
}

TEST(OfflineResults, AnyChangedByteIsNoticed) {
  const std::string text = *results_text(small_results(1));
  for (size_t at = 0; at < text.size(); at += 7) {
    std::string changed = text;
    changed[at] = changed[at] == '1' ? '2' : '1';
    EXPECT_FALSE(read_results(changed).ok()) << at;
  }
  for (size_t bytes = 0; bytes < text.size(); bytes += 11) {
    EXPECT_FALSE(read_results(text.substr(0, bytes)).ok()) << bytes;
  }
  EXPECT_FALSE(read_results(text + "{}\n").ok());
}

TEST(OfflineResults, SaysOfAnotherFileWhatItIsNotAndWhatToDo) {
  const std::string name = "'r' is not a results file of 'stripline campaign run-plan': ";
  const std::string advice = "; name the file that this command wrote";
  EXPECT_EQ(read_results(*bundle_text(small_plan()), "'r'").error().message(),
            name + "its kind is 'stripline campaign plan'" + advice);
  EXPECT_EQ(read_results("{}\n", "'r'").error().message(),
            name + "it does not say what it is" + advice);
  EXPECT_TRUE(read_results("a list of\nnotes\n", "'r'").error().message().starts_with(name));
  const std::string text = *results_text(small_results(1));
  EXPECT_EQ(read_results(text.substr(0, text.rfind("{\"end\"")), "'r'").error().message(),
            "'r': it is cut off: its end is missing");
}

TEST(OfflineResults, RefusesWhatNoRunCanHaveBrought) {
  EXPECT_EQ(refusal(small_results(6)), "");
  EXPECT_NE(refusal(small_results(11)).find("more runs"), std::string::npos);
  OfflineResults wrong = small_results(2);
  wrong.runs[1].batches[0][0].run = 1;
  EXPECT_NE(refusal(wrong).find("another run"), std::string::npos);
  wrong = small_results(2);
  wrong.runs[1].batches[0].push_back(wrong.runs[1].batches[0][0]);
  EXPECT_NE(refusal(wrong).find("twice"), std::string::npos);
  wrong = small_results(2);
  wrong.runs[1].batches[0][0].point.params["bytes"] = int64_t{99};
  EXPECT_NE(refusal(wrong).find("is not a point of the plan"), std::string::npos);
  wrong = small_results(2);
  wrong.runs[0].batches.clear();
  EXPECT_NE(refusal(wrong).find("no samples"), std::string::npos);
  wrong = small_results(2);
  wrong.runs[0].rank_nodes.pop_back();
  EXPECT_NE(refusal(wrong).find("node of each rank"), std::string::npos);
  wrong = small_results(2);
  wrong.runs[0].facts.erase("n2");
  EXPECT_NE(refusal(wrong).find("nothing of itself"), std::string::npos);
  wrong = small_results(2);
  wrong.runs[0].duration_s = -1;
  EXPECT_NE(refusal(wrong), "");
  wrong = small_results(2);
  wrong.runs[0].batches[0][0].values[0] = std::numeric_limits<double>::infinity();
  EXPECT_NE(refusal(wrong), "");
  wrong = small_results(2);
  wrong.runs[0].added = {wrong.plan.assignment.points[0]};
  EXPECT_NE(refusal(wrong).find("cannot be added"), std::string::npos);
}

// The same loop as that of a server: as many runs as asked for, or as the budget allows.
TEST(OfflineResults, SayWhatIsMeasuredNext) {
  OfflineResults results = small_results(5);
  results.spent_s = 10;
  EXPECT_EQ(next_of(results, table_of(results)).done, std::nullopt);
  EXPECT_EQ(next_of(results, table_of(results)).grid, 4U);
  results.runs.push_back(small_run(results.plan, 6));
  EXPECT_EQ(next_of(results, table_of(results)).done, StopReason::max_runs);
  results.runs.pop_back();
  results.spent_s = 60;
  EXPECT_EQ(next_of(results, table_of(results)).done, StopReason::time_budget);
  results.runs.clear();
  EXPECT_EQ(next_of(results, table_of(results)).usable, false);
}

}  // namespace
}  // namespace stripline::campaign
