// stripline-worker under a launcher: what docs/worker-protocol.md says.
#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/json.h"
#include "base/testing/processes.h"
#include "optimizer/experiment/json.h"
#include "optimizer/model/model_fixture.h"
#include "optimizer/model/model_json.h"
#include "runtime/bootstrap/job.h"
#include "runtime/fabric/emulated/profile.h"

namespace stripline::suites {
namespace {

constexpr const char* kFabric = "emulated:opteron-vapi,compute=none";

experiment::Assignment latency_of(const std::vector<int64_t>& sizes) {
  experiment::Assignment assignment;
  assignment.name = "test";
  assignment.fabric = kFabric;
  assignment.clock = "virtual";
  assignment.run = 7;
  for (const int64_t bytes : sizes) {
    assignment.points.push_back({"micro.latency", "get", {{"bytes", bytes}}});
  }
  return assignment;
}

struct Heard {
  bootstrap::JobOutcome outcome;
  std::vector<experiment::SampleSeries> series;
  std::string finished;
  int64_t done = -1;
  int64_t total = -1;
};

// What the two ranks of an assignment are.
enum class Ranks { processes, fibers };

// Runs workers on the assignment; `after_work` is sent right behind it.
Heard run(const experiment::Assignment& assignment, Ranks ranks, const Json& after_work = {}) {
  Heard heard;
  bootstrap::JobOptions job;
  job.launch.argv = {program("stripline-worker")};
  job.launch.ranks = ranks == Ranks::processes ? 2 : 1;
  job.launch.environment = {{"STRIPLINE_FABRIC", kFabric}, {"STRIPLINE_CLOCK", "virtual"}};
  if (ranks == Ranks::fibers) job.launch.environment["STRIPLINE_FIBERS"] = "1";
  job.time_limit_s = 60;
  job.on_ready = [&](bootstrap::StartedRanks& started) {
    for (uint32_t rank = 0; rank < job.launch.ranks; ++rank) {
      EXPECT_TRUE(
          started.send(rank, {{"type", "work"}, {"assignment", experiment::to_json(assignment)}})
              .ok());
      if (after_work.is_null()) continue;
      EXPECT_TRUE(started.send(rank, after_work).ok());
    }
  };
  job.on_message = [&](uint32_t rank, const Json& message, bootstrap::StartedRanks&) {
    EXPECT_EQ(rank, 0u);
    if (message["type"] == "finished") heard.finished = message["reason"];
    if (message["type"] == "progress") {
      heard.done = message["done"];
      heard.total = message["total"];
    }
    if (message["type"] != "samples") return;
    for (const Json& one : message["series"]) {
      auto series = experiment::sample_series_from_json(one);
      ASSERT_TRUE(series.ok()) << series.error().message();
      heard.series.push_back(*std::move(series));
    }
  };
  heard.outcome = bootstrap::run_job(job);
  return heard;
}

// A worker without a launcher.
Finished run_by_hand(const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {program("stripline-worker")};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run_program(argv);
}

class WorkerOf : public testing::TestWithParam<Ranks> {};

INSTANTIATE_TEST_SUITE_P(Ranks, WorkerOf, testing::Values(Ranks::processes, Ranks::fibers),
                         [](const testing::TestParamInfo<Ranks>& ranks) {
                           return ranks.param == Ranks::fibers ? "fibers" : "processes";
                         });

TEST(Worker, DescribesWhatThisHostCanMeasure) {
  const Finished answer = run_by_hand({"--describe"});
  ASSERT_EQ(answer.exit_code, kExitOk) << answer.err;
  const auto described = parse_json(answer.out, "description");
  ASSERT_TRUE(described.ok()) << described.error().message();
  EXPECT_TRUE((*described)["version"].is_string());
  EXPECT_TRUE((*described)["fingerprint"].is_object());
  const Json& fabrics = (*described)["fabrics"];
  EXPECT_NE(std::find(fabrics.begin(), fabrics.end(), "emulated:opteron-vapi"), fabrics.end());
  ASSERT_FALSE((*described)["experiments"].empty());
  for (const Json& declaration : (*described)["experiments"]) {
    EXPECT_TRUE(experiment::experiment_from_json(declaration).ok()) << declaration.dump();
  }
}

TEST(Worker, DescribesNetworksOfFiles) {
  const TempFolder folder;
  const std::string file = (folder / "mine.json").string();
  std::ofstream(file) << fabric::builtin_profile_text("modern-rdma");
  const Finished answer = run_by_hand({"--describe", "--profile", file});
  ASSERT_EQ(answer.exit_code, kExitOk) << answer.err;
  const Json fabrics = (*parse_json(answer.out, "description"))["fabrics"];
  EXPECT_EQ(fabrics.back(), "emulated:" + file);
  std::ofstream(file) << "{}";
  const Finished broken = run_by_hand({"--describe", "--profile", file});
  EXPECT_NE(broken.exit_code, kExitOk);
  EXPECT_NE(broken.err.find(file), std::string::npos) << broken.err;
}

TEST(Worker, StartedByHandSaysHowItIsUsed) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{}, {"--fly"}, {"--describe", "x"}, {"--describe", "--profile"}}) {
    const Finished answer = run_by_hand(arguments);
    EXPECT_EQ(answer.exit_code, kExitUsage);
    EXPECT_NE(answer.err.find("--describe"), std::string::npos) << answer.err;
  }
  EXPECT_EQ(run_by_hand({"--help"}).exit_code, kExitOk);
}

TEST_P(WorkerOf, MeasuresEveryPointOnceAndFinishes) {
  const experiment::Assignment assignment = latency_of({8, 64, 512, 4096});
  const Heard heard = run(assignment, GetParam());
  ASSERT_EQ(heard.outcome.exit_code, kExitOk) << heard.outcome.message;
  EXPECT_EQ(heard.finished, "complete");
  EXPECT_EQ(heard.done, 4);
  EXPECT_EQ(heard.total, 4);
  ASSERT_EQ(heard.series.size(), 4u);
  for (const experiment::Point& point : assignment.points) {
    size_t found = 0;
    for (const auto& series : heard.series) {
      if (series.point != point) continue;
      ++found;
      EXPECT_TRUE(series.verified);
      EXPECT_EQ(series.run, 7u);
      EXPECT_FALSE(series.values.empty());
    }
    EXPECT_EQ(found, 1u);
  }
}

TEST_P(WorkerOf, APointThatCannotBeMeasuredDoesNotEndTheRun) {
  experiment::Assignment assignment = latency_of({8});
  assignment.points.push_back({"micro.latency", "am", {{"bytes", int64_t{4 << 20}}}});
  assignment.points.push_back({"no.such.experiment", "x", {}});
  const Heard heard = run(assignment, GetParam());
  ASSERT_EQ(heard.outcome.exit_code, kExitOk) << heard.outcome.message;
  ASSERT_EQ(heard.series.size(), 3u);
  for (const auto& series : heard.series) {
    const bool measurable = series.point == assignment.points.front();
    EXPECT_EQ(series.values.empty(), !measurable);
    EXPECT_EQ(series.note.starts_with("not measured: "), !measurable) << series.note;
  }
}

TEST_P(WorkerOf, StopsOnCancel) {
  experiment::Assignment assignment = latency_of({});
  for (int64_t bytes = 1; bytes <= 2000; ++bytes) {
    assignment.points.push_back({"micro.latency", "put", {{"bytes", bytes}}});
  }
  const Heard heard = run(assignment, GetParam(), {{"type", "cancel"}});
  ASSERT_EQ(heard.outcome.exit_code, kExitOk) << heard.outcome.message;
  EXPECT_EQ(heard.finished, "cancelled");
  EXPECT_LT(heard.series.size(), assignment.points.size());
}

TEST_P(WorkerOf, EndsWhenItsDeadlinePasses) {
  experiment::Assignment assignment = latency_of({});
  assignment.stop_rule = {.min_reps = 1000000, .max_reps = 1000000, .time_budget_s = 1e6};
  for (int64_t bytes = 1; bytes <= 1000; ++bytes) {
    assignment.points.push_back({"micro.latency", "get", {{"bytes", bytes}}});
  }
  assignment.deadline_s = 1;
  const Heard heard = run(assignment, GetParam());
  EXPECT_EQ(heard.outcome.exit_code, kExitTimeout) << heard.outcome.message;
}

TEST_P(WorkerOf, TakesTheModelOfTheAssignment) {
  model::TunedModel model = model::example_model();
  model.fingerprint = {{"fabric", {kFabric, model::MatchRule::hard}}};
  experiment::Assignment assignment = latency_of({});
  assignment.points = {{"kernel.matvec", "tuned", {{"rows", int64_t{8}}}}};
  assignment.model_json = model::to_json(model)->dump();
  const Heard heard = run(assignment, GetParam());
  ASSERT_EQ(heard.outcome.exit_code, kExitOk) << heard.outcome.message;
  ASSERT_EQ(heard.series.size(), 1u);
  EXPECT_TRUE(heard.series.front().verified) << heard.series.front().note;
  EXPECT_FALSE(heard.series.front().values.empty()) << heard.series.front().note;
}

TEST_P(WorkerOf, RefusesAModelOfAnotherMachine) {
  model::TunedModel model = model::example_model();
  model.fingerprint = {{"fabric", {"verbs", model::MatchRule::hard}}};
  experiment::Assignment assignment = latency_of({8});
  assignment.model_json = model::to_json(model)->dump();
  const Heard heard = run(assignment, GetParam());
  EXPECT_EQ(heard.outcome.exit_code, kExitBadInput);
  EXPECT_NE(heard.outcome.message.find("does not fit"), std::string::npos) << heard.outcome.message;
}

}  // namespace
}  // namespace stripline::suites
