#include "server/core/models/fit_worker.h"

#include <gtest/gtest.h>

#include "base/testing/processes.h"
#include "optimizer/experiment/json.h"
#include "server/testing/synthetic_machine.h"

namespace stripline::server {
namespace {

FitJob job_of(uint32_t runs) {
  FitJob job;
  job.input.campaigns = {1};
  job.input.spec = *complete_spec({.fabric = "tcp", .model = "models/tcp"});
  job.input.runs = runs;
  job.input.fitted_at = "2026-01-01T00:00:00Z";
  job.input.nodes = {{{1, 1}, 0, "a", {{"cpu.model", "synthetic"}}}};
  const SyntheticMachine machine;
  for (uint32_t run = 1; run <= runs; ++run) {
    Json batch = Json::array();
    for (int64_t bytes = 8; bytes <= 1 << 20; bytes *= 4) {
      batch.push_back(experiment::to_json(
          measure(machine, {"micro.latency", "get", {{"bytes", bytes}}}, run, run)));
    }
    job.batches.push_back({batch.dump(2)});  // with line breaks
  }
  return job;
}

Fitter fitter(const FitLimits& limits = {}) {
  return fit_in_child(program("stripline-server"), limits);
}

TEST(FitWorker, AnswersAsTheFitInThisProcess) {
  const FitJob job = job_of(8);
  const auto here = fit_in_process(job, {});
  ASSERT_TRUE(here.ok()) << here.error().message();
  const auto there = fitter()(job, {});
  ASSERT_TRUE(there.ok()) << there.error().message();
  EXPECT_EQ(there->content, here->content);
  EXPECT_EQ(there->sha256, here->sha256);
  EXPECT_EQ(there->summary, here->summary);
  EXPECT_EQ(there->provisional, here->provisional);
}

TEST(FitWorker, HandsOnWhyThereIsNoModel) {
  FitJob job = job_of(8);
  job.input.nodes.push_back({{1, 1}, 0, "b", {{"fabric.provider", "tcp"}}});
  job.input.nodes.push_back({{1, 1}, 0, "c", {{"fabric.provider", "verbs"}}});
  const auto fitted = fitter()(job, {});
  ASSERT_FALSE(fitted.ok());
  EXPECT_EQ(fitted.error().code(), ErrorCode::failed_precondition);
  EXPECT_NE(fitted.error().message().find("is not one network"), std::string::npos)
      << fitted.error().message();
}

TEST(FitWorker, AChildThatSaysNothingIsAFailure) {
  const auto fitted = fit_in_child("false", {})(job_of(6), {});
  ASSERT_FALSE(fitted.ok());
  EXPECT_EQ(fitted.error().code(), ErrorCode::aborted);
  EXPECT_NE(fitted.error().message().find("exited with code 1 without an answer"),
            std::string::npos)
      << fitted.error().message();
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(FitWorker, MemoryIsLimited) {
  FitJob job = job_of(6);
  job.batches.push_back({std::string(size_t{400} << 20, ' ')});
  const auto fitted = fitter({.memory_bytes = uint64_t{300} << 20})(job, {});
  ASSERT_FALSE(fitted.ok());
  EXPECT_EQ(fitted.error().code(), ErrorCode::resource_exhausted) << fitted.error().message();
  EXPECT_NE(fitted.error().message().find("--fit-memory"), std::string::npos);
}
#endif

TEST(FitWorker, TimeIsLimited) {
  const auto fitted = fitter({.time_s = 0})(job_of(6), {});
  ASSERT_FALSE(fitted.ok());
  EXPECT_EQ(fitted.error().code(), ErrorCode::deadline_exceeded);
  EXPECT_NE(fitted.error().message().find("--fit-time"), std::string::npos);
}

TEST(FitWorker, StopsWithTheServer) {
  std::stop_source stop;
  stop.request_stop();
  const auto fitted = fitter()(job_of(6), stop.get_token());
  ASSERT_FALSE(fitted.ok());
  EXPECT_EQ(fitted.error().code(), ErrorCode::cancelled);
}

}  // namespace
}  // namespace stripline::server
