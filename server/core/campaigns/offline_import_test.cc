// Campaigns that were measured without a server become what they would have been with one.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing/test_size.h"
#include "optimizer/campaign/offline_results.h"
#include "server/core/models/fit_job.h"
#include "server/store/point_records.h"
#include "server/store/sqlite_store.h"
#include "server/testing/service_test.h"
#include "stripline/v1/access.grpc.pb.h"

namespace stripline::server {
namespace {

class OfflineImportTest : public ServiceTest {
 protected:
  void SetUp() override {
    // The time of a fit is an input of it, and stands in the file.
    options_.fitter = [](const FitJob& job, const std::stop_token& stop) {
      FitJob dated = job;
      dated.input.fitted_at = "2026-01-01T00:00:00.000Z";
      return fit_in_process(dated, stop);
    };
    ServiceTest::SetUp();
  }

  void start_agents() {
    AutoAgent::Options options;
    options.machine.switch_bytes = 12 << 10;
    options.machine.more_L = 40e-6;
    ServiceTest::start_agents(options);
  }

  std::string exported_plan(const v1::ExportPlanRequest& request, grpc::Status* status = nullptr) {
    grpc::ClientContext context;
    const auto reader = campaigns_->ExportPlan(&context, request);
    std::string text;
    v1::PlanChunk chunk;
    while (reader->Read(&chunk)) text += chunk.data();
    const grpc::Status ended = reader->Finish();
    if (status != nullptr) *status = ended;
    EXPECT_TRUE(status != nullptr || ended.ok()) << ended.error_message();
    return text;
  }

  std::string plan_of(const std::string& name) {
    v1::ExportPlanRequest request;
    request.set_name(name);
    return exported_plan(request);
  }

  grpc::Status import(const std::string& text, v1::Campaign& campaign) {
    grpc::ClientContext context;
    const auto writer = campaigns_->ImportResults(&context, &campaign);
    v1::ResultsChunk chunk;
    for (size_t sent = 0; sent < text.size(); sent += 100'000) {
      chunk.set_data(text.substr(sent, 100'000));
      if (!writer->Write(chunk)) break;
    }
    writer->WritesDone();
    return writer->Finish();
  }

  // A file that is being sent.
  struct Upload {
    explicit Upload(v1::Campaigns::Stub& campaigns)
        : writer(campaigns.ImportResults(&context, &campaign)) {}
    // False: the server takes no more of it.
    bool write(size_t bytes) {
      constexpr size_t kChunkBytes = size_t{4} << 20;
      v1::ResultsChunk chunk;
      chunk.set_data(std::string(kChunkBytes, 'x'));
      for (size_t sent = 0; sent < bytes; sent += kChunkBytes) {
        if (!writer->Write(chunk)) return false;
      }
      return true;
    }
    grpc::Status end() {
      writer->WritesDone();
      return writer->Finish();
    }

    grpc::ClientContext context;
    v1::Campaign campaign;
    std::unique_ptr<grpc::ClientWriter<v1::ResultsChunk>> writer;
  };

  // A server that has seen nothing yet.
  void start_elsewhere() {
    agents_.clear();
    server_.reset();
    options_.data_dir = other_folder_.path();
    start();
  }

  std::vector<std::string> audited() {
    std::vector<std::string> actions;
    v1::ListAuditEventsResponse response;
    grpc::ClientContext context;
    const auto admin = v1::Admin::NewStub(channel_);
    EXPECT_TRUE(admin->ListAuditEvents(&context, {}, &response).ok());
    for (const auto& event : response.events()) actions.push_back(event.action());
    return actions;
  }

  TempFolder other_folder_;
};

// What the server of this folder has stored of campaign 1, as 'run-plan' would have written it.
campaign::OfflineResults recorded(const std::filesystem::path& folder, const std::string& plan) {
  campaign::OfflineResults results;
  auto bundle = campaign::read_bundle(plan);
  auto store = open_sqlite_store(folder / "stripline.db");
  if (!bundle.ok() || !store.ok()) {
    ADD_FAILURE() << "no plan, or no database";
    return results;
  }
  results.plan = *std::move(bundle);
  campaign::PointTable known(results.plan.assignment.points);
  const auto runs = *(*store)->runs(1);
  for (const RunRecord& run : runs) {
    if (run.state != RunState::finished) continue;
    campaign::OfflineRun offline;
    offline.grid = run.grid;
    offline.start_s = run.start_s;
    offline.duration_s = run.duration_s;
    offline.rank_nodes = run.rank_nodes;
    const auto all_facts = *(*store)->attempt_facts(run.key, run.fence);
    for (const auto& facts : all_facts) offline.facts[facts.node] = facts.facts;
    const auto batches = *(*store)->attempt_batches(run.key, run.fence);
    for (const auto& batch : batches) {
      offline.batches.push_back(*series_of_batch(batch.data));
      for (const auto& series : offline.batches.back()) {
        if (known.find(series.point)) continue;
        known.add(series.point);
        offline.added.push_back(series.point);
      }
    }
    results.runs.push_back(std::move(offline));
  }
  const auto record = *(*store)->campaign(1);
  results.spent_s = record->measured_s;
  results.reason = *campaign::stop_reason_from_string(record->stop_reason);
  return results;
}

TEST_F(OfflineImportTest, TheModelIsTheSameBitForBit) {
  start_agents();
  const std::string name = created(model_spec()).name();
  const v1::Campaign online = watch(name).back().campaign();
  ASSERT_EQ(online.state(), v1::Campaign::SUCCEEDED) << online.message();
  const std::string model = fetched(online.model_version());
  const std::string plan = plan_of(name);
  EXPECT_EQ(plan_of(name), plan);  // when runs have added points, too
  agents_.clear();
  server_.reset();
  const auto results = recorded(folder_.path(), plan);
  EXPECT_GT(campaign::table_of(results).points().size(), results.plan.assignment.points.size());
  const auto text = campaign::results_text(results);
  ASSERT_TRUE(text.ok()) << text.error().message();

  start_elsewhere();
  v1::Campaign imported;
  ASSERT_TRUE(import(*text, imported).ok());
  EXPECT_EQ(imported.name(), name);
  const v1::Campaign offline = watch(imported.name()).back().campaign();
  ASSERT_EQ(offline.state(), v1::Campaign::SUCCEEDED) << offline.message();
  EXPECT_EQ(fetched(offline.model_version()), model);
  EXPECT_GT(model.size(), 1000U);
  EXPECT_EQ(offline.samples(), online.samples());
  EXPECT_EQ(offline.points_done(), online.points_done());
  EXPECT_EQ(offline.runs_done(), online.runs_done());
  EXPECT_EQ(offline.stop_reason(), online.stop_reason());
  EXPECT_EQ(offline.width(), online.width());

  // The same file is the same campaign, also after a restart; and who brought it is known.
  server_.reset();
  start();
  v1::Campaign again;
  ASSERT_TRUE(import(*text, again).ok());
  EXPECT_EQ(again.name(), imported.name());
  EXPECT_EQ(again.model_version(), offline.model_version());
  const auto actions = audited();
  EXPECT_EQ(std::ranges::count(actions, "import campaign"), 1);
}

TEST_F(OfflineImportTest, RefusesWhatItCannotBelieve) {
  start_agents();
  v1::ExportPlanRequest request;
  *request.mutable_spec() = small_spec(2);
  const std::string plan = exported_plan(request);
  EXPECT_EQ(plan, exported_plan(request));
  campaign::OfflineResults results;
  results.plan = *campaign::read_bundle(plan);
  EXPECT_EQ(results.plan.origin, "");
  v1::Campaign campaign;
  grpc::Status refused = import("nonsense", campaign);
  EXPECT_EQ(reason_of(refused), "INVALID_FIELD");
  EXPECT_EQ(reason_of(import(*campaign::results_text(results), campaign)), "TOO_FEW_RUNS");
  results.plan.spec_json = R"({"fabric":"tcp"})";
  EXPECT_EQ(reason_of(import(*campaign::results_text(results), campaign)), "INVALID_FIELD");
  results.plan = *campaign::read_bundle(plan);
  results.plan.feeds_model = true;  // no model is asked for
  EXPECT_EQ(reason_of(import(*campaign::results_text(results), campaign)), "INVALID_FIELD");
  results.plan = *campaign::read_bundle(plan);
  results.plan.rule.runs = 3;  // than were asked for
  EXPECT_EQ(reason_of(import(*campaign::results_text(results), campaign)), "INVALID_FIELD");
  refused = grpc::Status();
  request.set_name("campaigns/c9");
  exported_plan(request, &refused);
  EXPECT_EQ(reason_of(refused), "CAMPAIGN_NOT_FOUND");
  v1::ListCampaignsResponse list;
  grpc::ClientContext context;
  ASSERT_TRUE(campaigns_->ListCampaigns(&context, {}, &list).ok());
  EXPECT_EQ(list.campaigns_size(), 0);
}

// Files have hundreds of megabytes: who has used up what he may do is refused before he sends one.
TEST_F(OfflineImportTest, TheAllowanceIsAskedForBeforeAnythingIsRead) {
  constexpr auto kRefused = grpc::StatusCode::RESOURCE_EXHAUSTED;
  grpc::Status status;
  // What a call has taken beyond the allowance is paid back soon: more than one try may be needed.
  for (int attempt = 0; attempt < 5; ++attempt) {
    status = grpc::Status();
    for (int i = 0; i < 500 && status.error_code() != kRefused; ++i) {
      v1::Campaign campaign;
      status = import("nonsense", campaign);
      ASSERT_FALSE(status.ok());
    }
    // Nothing is sent, and no end of it.
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(1));
    v1::Campaign campaign;
    const auto writer = campaigns_->ImportResults(&context, &campaign);
    status = writer->Finish();
    if (status.error_code() == kRefused) break;
  }
  EXPECT_EQ(status.error_code(), kRefused) << status.error_message();
}

// Results are in memory until they are whole.
TEST_F(OfflineImportTest, ResultsThatComeInAreBoundedOverAllCallers) {
  if (kInstrumented) GTEST_SKIP() << "it sends half a gigabyte";
  constexpr size_t kNearlyTheLargest = size_t{252} << 20;
  Upload first(*campaigns_);
  Upload second(*campaigns_);
  Upload third(*campaigns_);
  EXPECT_TRUE(first.write(kNearlyTheLargest));
  EXPECT_TRUE(second.write(kNearlyTheLargest));
  third.write(size_t{64} << 20);
  int refused = 0;
  // The one whose bytes arrive last is refused.
  for (Upload* const one : {&third, &first, &second}) {
    const std::string reason = reason_of(one->end());
    if (reason == "BUSY") {
      ++refused;
    } else {
      EXPECT_EQ(reason, "INVALID_FIELD") << "it came whole, and is no file of results";
    }
  }
  EXPECT_GE(refused, 1);
  Upload next(*campaigns_);
  EXPECT_TRUE(next.write(size_t{64} << 20));
  EXPECT_EQ(reason_of(next.end()), "INVALID_FIELD") << "there is room again";
}

TEST_F(OfflineImportTest, PlansForNodesThatAreNotConnected) {
  v1::ExportPlanRequest request;
  *request.mutable_spec() = small_spec(2);
  grpc::Status refused;
  exported_plan(request, &refused);
  EXPECT_EQ(reason_of(refused), "NOT_ENOUGH_NODES");
  request.set_node_description("{}");
  exported_plan(request, &refused);
  EXPECT_EQ(reason_of(refused), "INVALID_FIELD");
  std::string experiments;
  const v1::Hello hello = test_hello("a");
  for (const std::string& one : hello.experiments_json()) {
    experiments += (experiments.empty() ? "" : ",") + one;
  }
  request.set_node_description(R"({"fabrics":["tcp"],"experiments":[)" + experiments + "]}");
  const auto plan = campaign::read_bundle(exported_plan(request));
  ASSERT_TRUE(plan.ok()) << plan.error().message();
  EXPECT_EQ(plan->requirements.count("kernel.loop"), 1U);
  EXPECT_EQ(plan->rule.runs, 2U);
}

}  // namespace
}  // namespace stripline::server
