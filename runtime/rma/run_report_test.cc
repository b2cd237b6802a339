#include "runtime/rma/run_report.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/gather.h>
#include <stripline/loop.h>
#include <stripline/vis.h>

#include "base/pushed_models.h"
#include "base/report_socket.h"
#include "base/testing/assert_ok.h"
#include "base/testing/processes.h"
#include "base/whole_file.h"
#include "optimizer/model/feedback.h"
#include "optimizer/model/model_json.h"
#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/thread_group.h"
#include "runtime/loop/testing/model_file.h"

namespace stripline::rma {
namespace {

constexpr int kTimes = 6;
const bootstrap::FabricUnderTest kEmulated{"", "emulated:opteron-vapi,compute=none", "virtual"};

// Each rank reads from the next one, by a loop and by a strided get.
void read_next(Context& context) {
  constexpr size_t kCount = 65536;
  const auto array = *context.new_symmetric_array<double>(kCount);
  context.barrier();
  const auto next = context.on_rank(array, (context.rank_me() + 1) % context.rank_n());
  std::array<double, 64> column{};
  for (int time = 0; time < kTimes; ++time) {
    strip_for(context, global_ptr<const double>(next), kCount, {.self_check = false},
              [&](size_t begin, size_t end, const double*) {
                context.compute_for(static_cast<double>(end - begin) * 5e-9);
              });
    rget_strided<1>(context, global_ptr<const double>(next), {512}, column.data(), {8}, {64})
        .wait();
  }
  context.barrier();
}

// What three ranks say.
std::string run(const std::string& report, const std::string& model, bool may_not_fit = false,
                const std::function<void(Context&)>& body = read_next) {
  auto group = bootstrap::group_on(kEmulated, 3);
  group.context.model_path = model;
  group.context.model_may_not_fit = may_not_fit;
  ::setenv("STRIPLINE_REPORT", report.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  ::testing::internal::CaptureStderr();
  const Status ran = bootstrap::run_ranks(group, body);
  std::string said = ::testing::internal::GetCapturedStderr();
  ::unsetenv("STRIPLINE_REPORT");  // NOLINT(concurrency-mt-unsafe)
  EXPECT_TRUE(ran.ok()) << ran.error().message();
  return said;
}

TEST(RunReport, TellsOfAllRanksWhatWasPredictedAndMeasured) {
  const ModelFile model("run_report_test");
  const TempFolder folder;
  const std::string path = (folder.path() / "report.json").string();
  EXPECT_EQ(run(path, model.path()), "");
  ASSERT_OK_AND_ASSIGN(const auto text, read_whole_file(path));
  ASSERT_OK_AND_ASSIGN(const auto report, model::parse_feedback(text, path));
  EXPECT_EQ(report.model_sha256, *model::content_sha256(*model::load_model(model.path())));
  EXPECT_EQ(report.ranks, 3U);
  EXPECT_EQ(report.program, "trace_test");
  EXPECT_EQ(report.fabric, kEmulated.fabric);
  EXPECT_GT(report.elapsed_s, 0);
  ASSERT_EQ(report.places.size(), 2U) << text;
  for (const model::FeedbackPlace& place : report.places) {
    EXPECT_TRUE(place.place.starts_with("run_report_test.cc:")) << place.place;
    EXPECT_EQ(place.ranks, 3U);
    EXPECT_EQ(place.executions, 3U * kTimes);
    EXPECT_GT(place.measured_s, 0) << place.what;
    EXPECT_GT(place.predicted_s, 0) << place.what;
  }
}

TEST(RunReport, GoesToTheAgentWhereThereIsOne) {
  const ModelFile model("run_report_test");
  const TempFolder folder;
  ::setenv("STRIPLINE_MODELS", folder.path().c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  const std::string lost = run("agent", model.path());
  EXPECT_NE(lost.find("the report of this run is lost: no agent of this host"), std::string::npos)
      << lost;
  ASSERT_OK_AND_ASSIGN(const auto socket, ReportSocket::listen(folder.path()));
  EXPECT_EQ(run("agent", model.path()), "");
  ::unsetenv("STRIPLINE_MODELS");  // NOLINT(concurrency-mt-unsafe)
  const auto report = socket.take(model::kMaxFeedbackBytes);
  ASSERT_TRUE(report);
  EXPECT_TRUE(model::parse_feedback(*report, "report").ok());
}

TEST(RunReport, WithoutAModelThereIsNone) {
  const TempFolder folder;
  const std::string path = (folder.path() / "report.json").string();
  const std::string said = run(path, "");
  EXPECT_NE(said.find("there is no model"), std::string::npos) << said;
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(RunReport, WhatCannotBeWrittenEndsNoJob) {
  const ModelFile model("run_report_test");
  const std::string said = run("/nowhere/report.json", model.path());
  EXPECT_NE(said.find("the report of this run is lost"), std::string::npos) << said;
}

// What each rank receives is another number of bytes, of another number of ranks.
TEST(RunReport, AGatherIsOnePlaceOfAllRanks) {
  const ModelFile model("run_report_test");
  const TempFolder folder;
  const std::string path = (folder.path() / "report.json").string();
  run(path, model.path(), false, [](Context& context) {
    auto x = shared_array<double, cyclic>::create(context, 60);
    ASSERT_TRUE(x.ok());
    std::vector<uint64_t> index;
    for (uint64_t i = 0; i < 10 + 20 * context.rank_me(); ++i) index.push_back(i);
    for (int time = 0; time < kTimes; ++time) gather(*x, index);
    context.barrier();
  });
  ASSERT_OK_AND_ASSIGN(const auto text, read_whole_file(path));
  ASSERT_OK_AND_ASSIGN(const auto report, model::parse_feedback(text, path));
  ASSERT_EQ(report.places.size(), 1U) << text;
  EXPECT_EQ(report.places[0].what, "gather");
  EXPECT_EQ(report.places[0].ranks, 3U);
  EXPECT_EQ(report.places[0].executions, 3U * kTimes);
}

// A model that somebody else has chosen for the host.
TEST(RunReport, AModelThatMayNotFitIsLeftAside) {
  model::TunedModel foreign = model::example_model();
  foreign.fingerprint = {{"fabric.provider", {"verbs;ofi_rxm", model::MatchRule::hard}}};
  const TempFolder folder;
  const std::string path = (folder.path() / "foreign.stripline.json").string();
  ASSERT_TRUE(model::save_model(foreign, path).ok());
  const std::string said = run("", path, true);
  EXPECT_NE(said.find("is left aside, this run goes without: it was not made"), std::string::npos)
      << said;
  EXPECT_NE(said.find("verbs;ofi_rxm"), std::string::npos) << said;
  const ModelFile fits("run_report_test");
  EXPECT_EQ(run("", fits.path(), true), "");
  const std::string missing = run("", (folder.path() / "none.stripline.json").string(), true);
  EXPECT_NE(missing.find("is left aside, this run goes without: "), std::string::npos) << missing;
}

}  // namespace
}  // namespace stripline::rma
