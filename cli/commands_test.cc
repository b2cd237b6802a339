// The commands against a server that speaks real gRPC and answers from a script.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <signal.h>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/pki/dev_token.h"
#include "base/pki/secret_file.h"
#include "base/pki/token.h"
#include "cli/access_commands.h"
#include "cli/campaign_commands.h"
#include "cli/explain_commands.h"
#include "cli/model_commands.h"
#include "cli/node_commands.h"
#include "cli/offline_commands.h"
#include "cli/parse.h"
#include "cli/server_errors.h"
#include "cli/service.h"
#include "cli/testing/commands_fixture.h"
#include "cli/testing/lossy_network.h"
#include "cli/watch.h"
#include "optimizer/model/model_fixture.h"
#include "optimizer/model/model_json.h"
#include "proto/rpc_error.h"
#include "stripline/v1/access.grpc.pb.h"
#include "stripline/v1/campaigns.grpc.pb.h"
#include "stripline/v1/fleet.grpc.pb.h"
#include "stripline/v1/models.grpc.pb.h"

namespace stripline::cli {
namespace {

v1::Campaign campaign(v1::Campaign::State state) {
  v1::Campaign campaign;
  campaign.set_name("campaigns/c1");
  campaign.mutable_spec()->set_fabric("tcp");
  campaign.mutable_spec()->set_ranks(2);
  campaign.set_state(state);
  campaign.set_points_total(10);
  campaign.set_runs_total(6);
  campaign.set_samples(321);
  campaign.set_seconds_left(-1);
  if (state == v1::Campaign::SUCCEEDED) campaign.set_model_version("models/tcp/versions/1");
  return campaign;
}

struct FakeCampaigns final : v1::Campaigns::Service {
  grpc::Status CreateCampaign(grpc::ServerContext*, const v1::CreateCampaignRequest* request,
                              v1::Campaign* response) override {
    const std::lock_guard lock(mutex);
    requests.push_back(*request);
    if (!create_status.ok()) return create_status;
    *response = campaign(v1::Campaign::QUEUED);
    *response->mutable_spec() = request->spec();
    return grpc::Status::OK;
  }
  grpc::Status GetCampaign(grpc::ServerContext*, const v1::GetCampaignRequest* request,
                           v1::Campaign* response) override {
    if (request->name() != "campaigns/c1") {
      return problem(grpc::StatusCode::NOT_FOUND, "CAMPAIGN_NOT_FOUND", "no " + request->name());
    }
    *response = campaign(shown_state);
    response->set_message(shown_message);
    response->set_width(shown_width);
    return grpc::Status::OK;
  }
  grpc::Status ListCampaigns(grpc::ServerContext*, const v1::ListCampaignsRequest* request,
                             v1::ListCampaignsResponse* response) override {
    const bool first = request->page_token().empty();
    *response->add_campaigns() = campaign(v1::Campaign::SUCCEEDED);
    response->mutable_campaigns(0)->set_name(first ? "campaigns/c2" : "campaigns/c1");
    if (first) response->set_next_page_token("more");
    return grpc::Status::OK;
  }
  grpc::Status CancelCampaign(grpc::ServerContext*, const v1::CancelCampaignRequest*,
                              v1::Campaign*) override {
    return problem(grpc::StatusCode::FAILED_PRECONDITION, "CAMPAIGN_FINISHED",
                   "campaigns/c1 has ended");
  }
  grpc::Status PauseCampaign(grpc::ServerContext*, const v1::PauseCampaignRequest*,
                             v1::Campaign* response) override {
    *response = campaign(v1::Campaign::PAUSED);
    return grpc::Status::OK;
  }
  grpc::Status RetryCampaign(grpc::ServerContext*, const v1::RetryCampaignRequest*,
                             v1::Campaign*) override {
    return problem(grpc::StatusCode::FAILED_PRECONDITION, "BUDGET_USED_UP", "nothing is left");
  }
  grpc::Status DeleteCampaign(grpc::ServerContext*, const v1::DeleteCampaignRequest*,
                              v1::DeleteCampaignResponse*) override {
    return problem(grpc::StatusCode::FAILED_PRECONDITION, "CAMPAIGN_IN_USE", "a model needs it");
  }
  grpc::Status EstimateCampaign(grpc::ServerContext*, const v1::EstimateCampaignRequest* request,
                                v1::CampaignEstimate* response) override {
    *response->mutable_spec() = request->spec();
    response->set_runs(8);
    response->set_node_s(32);
    response->set_width(0.04);
    auto& risk = *response->add_risks();
    risk.set_kind("UNKNOWN_PACE");
    risk.set_message("no campaign has measured it");
    return grpc::Status::OK;
  }
  // Ten events; breaks the stream before the one named `break_before`, once or always.
  grpc::Status WatchCampaign(grpc::ServerContext* context, const v1::WatchCampaignRequest* request,
                             grpc::ServerWriter<v1::CampaignEvent>* writer) override {
    {
      const std::lock_guard lock(mutex);
      cursors.push_back(request->cursor());
    }
    if (before_watch) {
      if (grpc::Status refused = before_watch(*context); !refused.ok()) return refused;
    }
    constexpr uint64_t kLast = 10;
    for (uint64_t i = request->cursor() + 1; i <= kLast; ++i) {
      if (i == break_before) {
        if (!keep_breaking) break_before = 0;
        return {grpc::StatusCode::UNAVAILABLE, "restarting"};
      }
      v1::CampaignEvent event;
      event.set_cursor(i);
      event.set_time("2026-01-01T00:00:00Z");
      event.set_message("event " + std::to_string(i));
      *event.mutable_campaign() = campaign(i < kLast ? v1::Campaign::RUNNING : final_state);
      event.mutable_campaign()->set_points_done(static_cast<uint32_t>(i));
      writer->Write(event);
    }
    return grpc::Status::OK;
  }
  // With `interrupt_export` the user presses Ctrl-C after the first chunk, and no other comes.
  grpc::Status ExportSamples(grpc::ServerContext* context, const v1::ExportSamplesRequest*,
                             grpc::ServerWriter<v1::SampleChunk>* writer) override {
    v1::SampleChunk chunk;
    for (const char* text : {"{\"a\":1}\n{\"a\"", ":2}\n"}) {
      chunk.set_data(text);
      writer->Write(chunk);
      if (!interrupt_export) continue;
      ::kill(::getpid(), SIGINT);
      for (int i = 0; i < 1000 && !context->IsCancelled(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      export_was_cancelled = context->IsCancelled();
      return grpc::Status::CANCELLED;
    }
    return export_status;
  }

  std::mutex mutex;
  std::vector<v1::CreateCampaignRequest> requests;
  std::vector<uint64_t> cursors;
  std::function<grpc::Status(const grpc::ServerContext&)> before_watch;
  uint64_t break_before = 0;
  bool keep_breaking = false;
  v1::Campaign::State final_state = v1::Campaign::SUCCEEDED;
  v1::Campaign::State shown_state = v1::Campaign::RUNNING;
  std::string shown_message;
  double shown_width = 0;
  grpc::Status create_status;
  grpc::Status export_status;
  bool interrupt_export = false;
  std::atomic<bool> export_was_cancelled = false;
};

struct FakeModels final : v1::Models::Service {
  FakeModels() {
    const auto model = model::example_model();
    data = model::to_json(model)->dump(2) + "\n";
    sha256 = *model::content_sha256(model);
  }
  grpc::Status FetchModelVersion(grpc::ServerContext*, const v1::FetchModelVersionRequest* request,
                                 grpc::ServerWriter<v1::ModelChunk>* writer) override {
    if (!request->name().starts_with("models/example")) {
      return problem(grpc::StatusCode::NOT_FOUND, "MODEL_NOT_FOUND", "no " + request->name());
    }
    const std::lock_guard lock(mutex);
    const bool sends = request->if_none_match() != sha256 && !withholds;
    v1::ModelChunk chunk;
    chunk.mutable_version()->set_name("models/example/versions/1");
    chunk.mutable_version()->set_sha256(sha256);
    if (sends) chunk.set_data(data.substr(0, 100));
    writer->Write(chunk);
    chunk.Clear();
    if (sends) {
      chunk.set_data(data.substr(100));
      writer->Write(chunk);
    }
    return grpc::Status::OK;
  }
  grpc::Status GetModelVersion(grpc::ServerContext*, const v1::GetModelVersionRequest* request,
                               v1::ModelVersion* response) override {
    response->set_name(request->name());
    v1::Finding& finding = *response->add_findings();
    finding.set_kind(v1::Finding::NOT_FITTED);
    finding.set_message("put: no break found");
    return grpc::Status::OK;
  }
  grpc::Status ListModels(grpc::ServerContext*, const v1::ListModelsRequest*,
                          v1::ListModelsResponse* response) override {
    response->add_models()->set_name("models/example");
    response->mutable_models(0)->set_unreadable(unreadable);
    return grpc::Status::OK;
  }
  void serve(std::string new_data, std::string new_sha256) {
    const std::lock_guard lock(mutex);
    data = std::move(new_data);
    sha256 = std::move(new_sha256);
  }
  std::mutex mutex;  // handlers run on threads of gRPC
  std::string data;
  std::string sha256;
  std::atomic<bool> withholds = false;  // it names a hash, and sends nothing of that
  std::string unreadable;
};

struct FakeAdmin final : v1::Admin::Service {
  grpc::Status CreateToken(grpc::ServerContext*, const v1::CreateTokenRequest*,
                           v1::CreateTokenResponse* response) override {
    ++made;
    response->set_text("the-secret");
    response->mutable_token()->set_name("tokens/t1");
    return grpc::Status::OK;
  }
  grpc::Status ListAuditEvents(grpc::ServerContext*, const v1::ListAuditEventsRequest*,
                               v1::ListAuditEventsResponse* response) override {
    response->add_events()->set_actor("users/root");
    response->set_next_page_token("more");
    return grpc::Status::OK;
  }
  std::atomic<int> made = 0;
};

struct FakeFleet final : v1::Fleet::Service {
  grpc::Status ListNodes(grpc::ServerContext*, const v1::ListNodesRequest*,
                         v1::ListNodesResponse* response) override {
    v1::Node& node = *response->add_nodes();
    node.set_name("nodes/a");
    node.set_state(v1::Node::IDLE);
    node.add_fabrics("tcp");
    node.add_fabrics("shm");
    if (!hostile.empty()) {
      node.set_name("nodes/" + hostile);
      node.set_agent_version(hostile);
    }
    if (endless) response->set_next_page_token("more");
    return grpc::Status::OK;
  }
  grpc::Status GetServerStatus(grpc::ServerContext*, const v1::GetServerStatusRequest*,
                               v1::ServerStatus* response) override {
    *response = status;
    return grpc::Status::OK;
  }
  std::string hostile;
  v1::ServerStatus status;
  bool endless = false;
};

using ExplainLoop = Explain<plan::StripMechanism>;
using ExplainNest = Explain<plan::NestMechanism>;
using ExplainCall = Explain<plan::VisMechanism>;
using ExplainSweep = Explain<plan::WavefrontMechanism>;

class CommandsTest : public CommandsFixture {
 protected:
  CommandsTest() { serve({&campaigns_, &models_, &fleet_, &admin_}); }
  ~CommandsTest() override { stop_serving(); }

  template <typename Action>
  int run(const Action& action) {
    return outcome_of([&] { return cli::run(global_, action); });
  }

  static std::string read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

  FakeCampaigns campaigns_;
  FakeModels models_;
  FakeFleet fleet_;
  FakeAdmin admin_;
};

TEST_F(CommandsTest, AListThatIsCutSaysThatThereIsMore) {
  EXPECT_EQ(run(CampaignList{1}), kExitOk);
  EXPECT_TRUE(complained("there are more; --limit shows them")) << err_;
  EXPECT_EQ(run(CampaignList{2}), kExitOk);
  EXPECT_EQ(err_, "");
  EXPECT_EQ(run(AuditList{1}), kExitOk);
  EXPECT_TRUE(complained("there are more; --limit shows them")) << err_;
}

// Users may never ask for nodes, and would learn of the end when they are turned away.
TEST_F(CommandsTest, TheEndOfTheUsersTokenIsSaidBesideCampaigns) {
  const auto add = [this](v1::ServerNotice::Kind kind, const std::string& message) {
    v1::ServerNotice& notice = *fleet_.status.add_notices();
    notice.set_kind(kind);
    notice.set_message(message);
  };
  add(v1::ServerNotice::NODE_CERTIFICATE, "the certificate of nodes/a ends in 3 days");
  add(v1::ServerNotice::OWN_TOKEN, "your token ends in 6 days");
  EXPECT_EQ(run(CampaignList{2}), kExitOk);
  EXPECT_EQ(err_, "stripline: your token ends in 6 days\n");
  EXPECT_EQ(run(CampaignShow{"campaigns/c1"}), kExitOk);
  EXPECT_TRUE(complained("your token ends in 6 days")) << err_;
  CampaignRun measures;
  measures.fabrics = {"tcp"};
  EXPECT_EQ(run(measures), kExitOk);
  EXPECT_TRUE(complained("your token ends in 6 days")) << err_;
  EXPECT_EQ(run(NodeList{}), kExitOk);
  EXPECT_TRUE(complained("your token ends in 6 days")) << err_;
  EXPECT_TRUE(complained("the certificate of nodes/a ends in 3 days")) << err_;
}

TEST_F(CommandsTest, ATokenGoesIntoAFileOfItsOwnersAlone) {
  TokenCreate command{"operator", "alice", 0, 0, (folder_ / "alice.token").string()};
  EXPECT_EQ(run(command), kExitOk) << err_;
  EXPECT_EQ(read(command.output), "the-secret\n");
  EXPECT_EQ(std::filesystem::status(command.output).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_FALSE(printed("the-secret")) << out_;
  EXPECT_TRUE(complained("alice.token")) << err_;
  // 'stripline login' takes it as it is.
  EXPECT_EQ(*pki::read_secret_line(command.output), "the-secret");
  // What is there may be another user's: no token is made that no one would see.
  EXPECT_EQ(run(command), kExitUsage);
  command.output = (folder_ / "none" / "alice.token").string();
  EXPECT_NE(run(command), kExitOk);
  EXPECT_EQ(admin_.made, 1);
  command.output.clear();
  EXPECT_EQ(run(command), kExitOk);
  EXPECT_EQ(out_, "the-secret\n");
}

TEST_F(CommandsTest, CampaignRunWatchesToTheEndAndSaysWhatIsNext) {
  CampaignRun command;
  command.fabrics = {"tcp"};
  command.experiments = {"micro.latency"};
  command.same_node = {"cma"};
  EXPECT_EQ(run(command), kExitOk);
  EXPECT_TRUE(printed("event 1\n")) << out_;
  EXPECT_TRUE(printed("stripline model fetch tcp@1")) << out_;
  ASSERT_EQ(campaigns_.requests.size(), 1U);
  EXPECT_EQ(campaigns_.requests[0].request_id().size(), 32U);
  EXPECT_EQ(campaigns_.requests[0].spec().experiments(0), "micro.latency");
  EXPECT_EQ(campaigns_.requests[0].spec().same_node(0), "cma");
}

TEST_F(CommandsTest, WatchContinuesAfterTheLastEvent) {
  campaigns_.break_before = 6;
  EXPECT_EQ(run(CampaignWatch{"campaigns/c1"}), kExitOk);
  EXPECT_EQ(campaigns_.cursors, (std::vector<uint64_t>{0, 5}));
  for (int i = 1; i <= 10; ++i) {
    const std::string line = "event " + std::to_string(i) + "\n";
    const size_t first = out_.find(line);
    EXPECT_NE(first, std::string::npos) << line;
    EXPECT_EQ(out_.find(line, first + 1), std::string::npos) << line << " twice";
  }
  EXPECT_TRUE(complained("the server is back")) << err_;
}

// A network that fails and comes back closes no connection: without a look at whether the server is
// still there, the call would last to its end, and the patience with it.
TEST_F(CommandsTest, WatchNoticesANetworkThatLosesEverything) {
  LossyNetwork network(std::stoi(global_.server.substr(global_.server.find(':') + 1)));
  global_.server = "127.0.0.1:" + std::to_string(network.port());
  global_.timeout_s = 40;
  campaigns_.break_before = 6;
  int calls = 0;
  campaigns_.before_watch = [&](const grpc::ServerContext&) {
    if (++calls == 2) {
      network.lose();
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    return grpc::Status::OK;
  };
  EXPECT_EQ(run(CampaignWatch{"campaigns/c1"}), kExitOk) << err_;
  EXPECT_TRUE(printed("event 10\n")) << out_;
  EXPECT_GT(calls, 2);
}

// A --dev server takes connections before it has written its token: a call that begins in between
// shows the token of the start before.
TEST_F(CommandsTest, WatchTakesTheTokenOfAServerThatHasStartedAnew) {
  ::setenv("XDG_STATE_HOME", folder_.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): no other thread
  const std::string port = global_.server.substr(global_.server.find(':') + 1);
  const auto file = pki::dev_token_file(port);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(pki::make_private_folder(file->parent_path()).ok());
  const auto before = pki::make_token(pki::Token::Kind::dev, "");
  const auto now = pki::make_token(pki::Token::Kind::dev, "");
  ASSERT_TRUE(before.ok() && now.ok());
  ASSERT_TRUE(pki::write_secret(*file, before->text() + "\n").ok());

  campaigns_.before_watch = [&](const grpc::ServerContext& context) {
    const auto shown = context.client_metadata().find("authorization");
    const bool known =
        shown != context.client_metadata().end() && shown->second == "Bearer " + now->secret;
    return known ? grpc::Status::OK
                 : grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "of another start");
  };
  EXPECT_NE(run(CampaignWatch{"campaigns/c1"}), kExitOk);
  EXPECT_TRUE(complained("of another start")) << err_;
  EXPECT_EQ(campaigns_.cursors.size(), 1U) << "what is refused and has not changed is shown once";

  campaigns_.before_watch = [&, known = campaigns_.before_watch](const auto& context) {
    const grpc::Status answer = known(context);
    if (!answer.ok()) {
      EXPECT_TRUE(pki::write_secret(*file, now->text() + "\n").ok());
    }
    return answer;
  };
  EXPECT_EQ(run(CampaignWatch{"campaigns/c1"}), kExitOk) << err_;
  EXPECT_TRUE(printed("event 10\n")) << out_;
  ::unsetenv("XDG_STATE_HOME");  // NOLINT(concurrency-mt-unsafe): no other thread
}

TEST_F(CommandsTest, WatchGivesUpWhenTheServerStaysAway) {
  campaigns_.break_before = 3;
  campaigns_.keep_breaking = true;
  global_.timeout_s = 0.5;
  EXPECT_EQ(run(CampaignWatch{"campaigns/c1"}), kExitTimeout);
  EXPECT_TRUE(complained("stripline campaign watch c1")) << err_;
  EXPECT_GE(campaigns_.cursors.size(), 3U);
  EXPECT_EQ(campaigns_.cursors.back(), 2U);
}

TEST_F(CommandsTest, OutcomesHaveExitCodes) {
  campaigns_.final_state = v1::Campaign::FAILED;
  EXPECT_EQ(run(CampaignWatch{"campaigns/c1"}), kExitFailure);
  EXPECT_TRUE(complained("failed"));
  campaigns_.final_state = v1::Campaign::CANCELLED;
  EXPECT_EQ(run(CampaignWatch{"campaigns/c1"}), kExitCancelled);
  EXPECT_TRUE(complained("321 samples"));
}

TEST_F(CommandsTest, WatchAsJsonHasOneEventPerLine) {
  global_.json = true;
  EXPECT_EQ(run(CampaignWatch{"campaigns/c1"}), kExitOk);
  std::istringstream lines(out_);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const Json event = Json::parse(line);
    EXPECT_EQ(event["message"], "event " + std::to_string(count + 1));
    EXPECT_EQ(event["campaign"]["points_done"], count + 1);
  }
  EXPECT_EQ(count, 10);
}

TEST_F(CommandsTest, RefusalsSayWhatToDo) {
  CampaignRun command;
  command.fabrics = {"warp"};
  const struct {
    grpc::StatusCode code;
    const char* reason;
    int exit_code;
    const char* hint;
  } cases[] = {
      {grpc::StatusCode::FAILED_PRECONDITION, "UNSUPPORTED_FABRIC", kExitUsage, "stripline nodes"},
      {grpc::StatusCode::INVALID_ARGUMENT, "UNKNOWN_EXPERIMENT", kExitUsage,
       "stripline bench list"},
      {grpc::StatusCode::FAILED_PRECONDITION, "NOT_ENOUGH_NODES", kExitUnavailable,
       "the first time with --enroll FILE"}};
  for (const auto& expected : cases) {
    campaigns_.create_status = problem(expected.code, expected.reason, "no");
    EXPECT_EQ(run(command), expected.exit_code) << expected.reason;
    EXPECT_TRUE(complained(expected.hint)) << err_;
  }
  EXPECT_EQ(run(CampaignShow{"campaigns/c9"}), kExitUsage);
  EXPECT_TRUE(complained("campaign list"));
  EXPECT_EQ(run(CampaignCancel{"campaigns/c1"}), kExitConflict);
  EXPECT_EQ(run(CampaignRetry{"campaigns/c1"}), kExitConflict);
  EXPECT_TRUE(complained("--time-budget"));
  EXPECT_EQ(run(CampaignDelete{"campaigns/c1"}), kExitConflict);
  EXPECT_EQ(run(ModelFetch{"models/none", ""}), kExitUsage);
}

TEST_F(CommandsTest, WhatTheFitOfACampaignFoundIsShownALineEach) {
  campaigns_.shown_state = v1::Campaign::SUCCEEDED;
  campaigns_.shown_message = "12 runs, 345 samples; put: no break found";
  EXPECT_EQ(run(CampaignShow{"campaigns/c1"}), kExitOk);
  EXPECT_TRUE(printed("12 runs, 345 samples\n")) << out_;
  EXPECT_TRUE(printed("\nfinding NOT_FITTED: put: no break found\n")) << out_;
}

TEST_F(CommandsTest, EveryBudgetThatIsTooSmallIsAdvised) {
  v1::Campaign small = campaign(v1::Campaign::RUNNING);
  small.mutable_spec()->set_nodes(4);
  small.mutable_spec()->set_time_budget_s(60);
  EXPECT_EQ(budget_advice(small), "");
  small.set_advised_budget_s(130);
  EXPECT_EQ(budget_advice(small),
            "1:00 of measuring are too few at this pace; '--time-budget 130' would do");
  small.mutable_spec()->set_node_budget_s(120);
  EXPECT_EQ(budget_advice(small),
            "30 s of measuring are too few at this pace; '--time-budget 130 --node-budget 520' "
            "would do");
  small.mutable_spec()->set_time_budget_s(300);
  EXPECT_EQ(budget_advice(small),
            "30 s of measuring are too few at this pace; '--node-budget 520' would do");
}

TEST_F(CommandsTest, OfIntervalsThatAreWiderThanTheirMediansNoWidthIsShown) {
  campaigns_.shown_state = v1::Campaign::PAUSED;
  campaigns_.shown_width = 51;
  EXPECT_EQ(run(CampaignShow{"campaigns/c1"}), kExitOk);
  EXPECT_TRUE(printed("not even within 100 %")) << out_;
  EXPECT_FALSE(printed("5100")) << out_;
  EXPECT_TRUE(printed("paused: 0 %, 0 of 6 runs\n")) << out_;
  EXPECT_TRUE(printed("0 of at most 10 of all runs together")) << out_;
}

TEST_F(CommandsTest, AnEstimateNamesCostWidthAndRisks) {
  CampaignEstimate command;
  command.request.fabrics = {"tcp"};
  EXPECT_EQ(run(command), kExitOk);
  for (const char* text : {"32 node-seconds", "within 4 %", "the plan alone", "UNKNOWN_PACE"}) {
    EXPECT_NE(out_.find(text), std::string::npos) << text << " in " << out_;
  }
  EXPECT_EQ(run(CampaignPause{"campaigns/c1"}), kExitOk);
  EXPECT_NE(out_.find("campaign resume c1"), std::string::npos) << out_;
}

TEST_F(CommandsTest, AHintIsGivenOnce) {
  const struct {
    const char* reason;
    const char* message;
  } cases[] = {{"CAMPAIGN_NOT_FOUND", "no campaign; 'stripline campaign list' names them"},
               {"MODEL_NOT_FOUND", "no model; 'stripline model list' names them"}};
  for (const auto& expected : cases) {
    const RpcError error{Error(ErrorCode::not_found, expected.message), expected.reason, {}};
    EXPECT_EQ(explained(error, "h:1").message(), expected.message);
  }
  const RpcError version{Error(ErrorCode::not_found, "no such version"),
                         "MODEL_VERSION_NOT_FOUND",
                         {{"name", "models/tcp/versions/9"}}};
  EXPECT_NE(explained(version, "h:1").message().find("'stripline model list tcp'"),
            std::string::npos);
  const RpcError unknown{
      Error(ErrorCode::failed_precondition, "it has expired"), "UNAUTHENTICATED", {}};
  EXPECT_EQ(explained(unknown, "h:1").message(),
            "it has expired; 'stripline login --server h:1' takes a token");
  EXPECT_EQ(explained(unknown, "h:1", true).message(),
            "it has expired; 'stripline login --oidc --server h:1' signs in again");
}

TEST_F(CommandsTest, WrongFieldsAreNamedAsTheUserWroteThem) {
  const auto text = [](const std::string& field, const std::string& message) {
    const RpcError error{
        Error(ErrorCode::invalid_argument, message), "INVALID_FIELD", {{"field", field}}};
    return explained(error, "h:1").message();
  };
  EXPECT_EQ(text("spec.time_budget_s", "spec.time_budget_s: too long"), "--time-budget: too long");
  EXPECT_EQ(text("name", "name: 'x' is none"), "'x' is none");
  EXPECT_EQ(text("spec.new", "spec.new: what"), "spec.new: what");
}

TEST_F(CommandsTest, WhatIsNoServerOfOursIsSaidToBeNone) {
  campaigns_.create_status = {grpc::StatusCode::UNIMPLEMENTED, "Received http2 header with 404"};
  CampaignRun command;
  command.fabrics = {"tcp"};
  EXPECT_EQ(run(command), kExitUnavailable);
  EXPECT_TRUE(complained(global_.server)) << err_;
  EXPECT_TRUE(complained("is not a stripline-server")) << err_;
}

TEST_F(CommandsTest, AnUnreachableServerIsNamedWithTheCommandToStartOne) {
  global_.server = "127.0.0.1:1";
  EXPECT_EQ(run(NodeList{}), kExitUnavailable);
  EXPECT_TRUE(complained("127.0.0.1:1")) << err_;
  EXPECT_TRUE(complained("stripline-server --dev")) << err_;
}

TEST_F(CommandsTest, ListsFollowPages) {
  EXPECT_EQ(run(CampaignList{}), kExitOk);
  EXPECT_TRUE(printed("c2"));
  EXPECT_TRUE(printed("c1"));
  EXPECT_EQ(run(NodeList{}), kExitOk);
  EXPECT_TRUE(printed("IDLE")) << out_;
  EXPECT_TRUE(printed("tcp shm")) << out_;
}

TEST_F(CommandsTest, AFileThatHoldsNoResultsIsNotSent) {
  const std::string file = folder_ / "notes.txt";
  std::ofstream(file) << "a list of\nnotes\n";
  EXPECT_EQ(run(CampaignImport{file, false}), kExitBadInput);
  EXPECT_TRUE(complained("'" + file + "' is not a results file of 'stripline campaign run-plan': "))
      << err_;
}

TEST_F(CommandsTest, AModelThatTheServerCannotReadIsListedWithAWarning) {
  EXPECT_EQ(run(ModelList{}), kExitOk);
  EXPECT_EQ(err_, "");
  models_.unreadable = "move 1 of the label stable: stored canaries";
  EXPECT_EQ(run(ModelList{}), kExitOk);
  EXPECT_TRUE(printed("example")) << out_;
  EXPECT_TRUE(complained("of example, and offers nodes nothing of its fabric: move 1")) << err_;
}

TEST_F(CommandsTest, AListThatLeadsBackToItselfIsGivenUp) {
  fleet_.endless = true;
  EXPECT_EQ(run(NodeList{}), kExitBadInput);
  EXPECT_TRUE(complained("what the server lists does not end")) << err_;
}

TEST_F(CommandsTest, WhatOthersWroteMovesNoTerminal) {
  const std::string attack = "\x1b]0;owned\x07\x1b[2Ja\u009b1;1H\rb\nforged line";
  fleet_.hostile = attack;
  campaigns_.create_status = problem(grpc::StatusCode::INVALID_ARGUMENT, "INVALID_FIELD", attack);
  const auto check = [&](const std::string& text) {
    EXPECT_EQ(text.find_first_of("\x1b\x07\r\x9b"), std::string::npos) << text;
    EXPECT_EQ(text.find("\nforged"), std::string::npos) << text;
  };
  EXPECT_EQ(run(NodeList{}), kExitOk);
  check(out_);
  EXPECT_TRUE(printed("\\u001b[2Ja\\u009b1;1H\\u000db\\u000aforged")) << out_;
  CampaignRun command;
  command.fabrics = {"tcp"};
  EXPECT_NE(run(command), kExitOk);
  check(err_);
  EXPECT_TRUE(complained("\\u001b[2J")) << err_;

  global_.json = true;
  EXPECT_EQ(run(NodeList{}), kExitOk);
  check(out_);
  EXPECT_EQ(Json::parse(out_)["agent_version"], attack) << "a document stays what it was";
}

TEST_F(CommandsTest, DetachAndValidateReturnAtOnce) {
  CampaignRun command;
  command.fabrics = {"tcp"};
  command.detach = true;
  EXPECT_EQ(run(command), kExitOk);
  EXPECT_TRUE(printed("stripline campaign watch c1"));
  command.validate_only = true;
  EXPECT_EQ(run(command), kExitOk);
  EXPECT_TRUE(printed("valid"));
  EXPECT_TRUE(campaigns_.cursors.empty());
}

TEST_F(CommandsTest, ExportWritesEverythingOrNothing) {
  const std::filesystem::path file = folder_ / "samples.jsonl";
  EXPECT_EQ(run(CampaignExport{"campaigns/c1", file.string()}), kExitOk);
  EXPECT_EQ(read(file), "{\"a\":1}\n{\"a\":2}\n");
  EXPECT_EQ(run(CampaignExport{"campaigns/c1", ""}), kExitOk);
  EXPECT_EQ(out_, "{\"a\":1}\n{\"a\":2}\n");
  campaigns_.export_status = {grpc::StatusCode::DATA_LOSS, "the disk is broken"};
  const std::filesystem::path other = folder_ / "other.jsonl";
  EXPECT_EQ(run(CampaignExport{"campaigns/c1", other.string()}), kExitBadInput);
  EXPECT_FALSE(std::filesystem::exists(other));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
  EXPECT_EQ(run(CampaignExport{"campaigns/c1", "/no/such/folder/f"}), kExitUnavailable);
}

TEST_F(CommandsTest, AnInterruptedExportLeavesNothing) {
  campaigns_.interrupt_export = true;
  const std::filesystem::path file = folder_ / "samples.jsonl";
  EXPECT_EQ(run(CampaignExport{"campaigns/c1", file.string()}), kExitCancelled);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  EXPECT_NE(err_.find("interrupted"), std::string::npos) << err_;
}

TEST_F(CommandsTest, FetchWritesChecksAndRecognisesWhatIsCurrent) {
  const std::filesystem::path file = folder_ / "m.stripline.json";
  EXPECT_EQ(run(ModelFetch{"models/example", file.string()}), kExitOk);
  EXPECT_TRUE(printed("wrote")) << err_;
  EXPECT_EQ(read(file), models_.data);
  EXPECT_EQ(run(ModelFetch{"models/example", file.string()}), kExitOk);
  EXPECT_TRUE(printed("is current"));
}

TEST_F(CommandsTest, AModelThatIsNotThereNamesTheNearestOne) {
  EXPECT_EQ(run(ModelFetch{"models/exampel", (folder_ / "m").string()}), kExitUsage);
  EXPECT_TRUE(complained("did you mean 'example'?")) << err_;
  EXPECT_EQ(run(ModelShow{"zebra"}), kExitUsage);
  EXPECT_FALSE(complained("did you mean")) << err_;
}

TEST_F(CommandsTest, FetchAndExportWriteToStandardOutput) {
  EXPECT_EQ(run(ModelFetch{"models/example", "-"}), kExitOk);
  EXPECT_EQ(out_, models_.data);
  EXPECT_EQ(run(CampaignExport{"campaigns/c1", "-"}), kExitOk);
  EXPECT_NE(out_, "");
  EXPECT_FALSE(std::filesystem::exists("-"));
}

TEST_F(CommandsTest, PipesAreNeitherReadNorWritten) {
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(run(ModelFetch{"models/example", pipe}), kExitUnavailable);
  EXPECT_TRUE(complained("'-' for standard output")) << err_;
  EXPECT_EQ(run(ModelShow{pipe}), kExitBadInput);
  EXPECT_TRUE(complained("pipe or device")) << err_;
  ExplainLoop loop;
  loop.source = pipe;
  loop.request.total_bytes = 8;
  EXPECT_EQ(run(loop), kExitBadInput);
}

TEST_F(CommandsTest, FetchRefusesDamageAndKeepsWhatIsThere) {
  const std::filesystem::path file = folder_ / "m.stripline.json";
  const std::string good = models_.data;
  models_.serve(good.substr(0, good.size() / 2), models_.sha256);
  EXPECT_EQ(run(ModelFetch{"models/example", file.string()}), kExitBadInput);
  EXPECT_FALSE(std::filesystem::exists(file));
  models_.serve(good, std::string(64, '0'));
  EXPECT_EQ(run(ModelFetch{"models/example", file.string()}), kExitBadInput);
  EXPECT_TRUE(complained("instead of"));
  EXPECT_FALSE(std::filesystem::exists(file));

  const std::filesystem::path precious = folder_ / "thesis.json";
  std::ofstream(precious) << "{\"title\": 1}";
  EXPECT_EQ(run(ModelFetch{"models/example", precious.string()}), kExitConflict);
  EXPECT_EQ(read(precious), "{\"title\": 1}");
}

TEST_F(CommandsTest, AModelThatIsAnnouncedAndNotSentIsNotWritten) {
  const std::filesystem::path file = folder_ / "m.stripline.json";
  models_.withholds = true;
  EXPECT_EQ(run(ModelFetch{"models/example", file.string()}), kExitBadInput);
  EXPECT_TRUE(complained("with the hash " + models_.sha256 + " and sent nothing of it")) << err_;
  EXPECT_FALSE(std::filesystem::exists(file));
  // Nothing is sent to who has it already, either.
  models_.withholds = false;
  ASSERT_EQ(run(ModelFetch{"models/example", file.string()}), kExitOk);
  models_.withholds = true;
  EXPECT_EQ(run(ModelFetch{"models/example", file.string()}), kExitOk) << err_;
  EXPECT_TRUE(printed("is current")) << out_;
}

TEST_F(CommandsTest, ShowAndExplainTakeFilesAndNames) {
  EXPECT_EQ(run(ModelShow{"example"}), kExitOk) << err_;
  EXPECT_TRUE(printed("inter-node get")) << out_;
  EXPECT_TRUE(printed("4.50 us")) << out_;
  EXPECT_TRUE(printed(">= 256")) << out_;
  EXPECT_TRUE(printed("refuses the model")) << out_;

  const std::filesystem::path file = folder_ / "m.stripline.json";
  ASSERT_EQ(run(ModelFetch{"models/example", file.string()}), kExitOk);
  EXPECT_EQ(run(ModelShow{file.string()}), kExitOk);
  ExplainLoop explain;
  explain.source = file.string();
  explain.request.total_bytes = 1 << 20;
  EXPECT_EQ(run(explain), kExitOk) << err_;
  EXPECT_TRUE(printed("inter-node")) << out_;
  global_.json = true;
  EXPECT_EQ(run(explain), kExitOk);
  EXPECT_TRUE(Json::parse(out_).contains("plan")) << out_;
  global_.json = false;
  explain.path = "intra-node";
  EXPECT_EQ(run(explain), kExitUsage);
  EXPECT_TRUE(complained("inter-node")) << err_;
  explain.path.clear();
  explain.request.total_bytes = 1001;
  EXPECT_EQ(run(explain), kExitUsage);
  explain.request.total_bytes = 0;
  EXPECT_EQ(run(explain), kExitUsage);
  EXPECT_TRUE(complained("--bytes 0")) << err_;
  explain.request.total_bytes = 1024;
  explain.request.peers = 2;
  EXPECT_EQ(run(explain), kExitUsage);
  EXPECT_TRUE(complained("--peers 2")) << err_;
}

TEST_F(CommandsTest, AModelWithoutPathsExplainsNoTransfer) {
  model::TunedModel without = model::example_model();
  without.network.clear();
  without.vis.clear();
  without.service_levels.reset();
  const std::filesystem::path file = folder_ / "lonely.stripline.json";
  ASSERT_TRUE(model::save_model(without, file).ok());
  ExplainLoop loop;
  loop.source = file.string();
  loop.request.total_bytes = 1024;
  EXPECT_EQ(run(loop), kExitBadInput);
  EXPECT_TRUE(complained("has no path between ranks")) << err_;
  loop.path = "inter-node";
  EXPECT_EQ(run(loop), kExitBadInput);
  ExplainCall call;
  call.source = file.string();
  EXPECT_EQ(run(call), kExitBadInput);
  ExplainSweep sweep;
  sweep.source = file.string();
  EXPECT_EQ(run(sweep), kExitBadInput);
}

TEST_F(CommandsTest, WhatIsDoneWithoutAModelIsExplained) {
  ExplainLoop loop;
  loop.source = "none";
  loop.request.total_bytes = 1024;
  EXPECT_EQ(run(loop), kExitOk) << err_;
  EXPECT_TRUE(printed("no model\n")) << out_;
  EXPECT_TRUE(printed("plan: vectorised")) << out_;
  ExplainNest nest{
      "none", {R"({"loops":[{"count":8}],"references":[{"mode":"read","stride_bytes":[8]}]})"}};
  EXPECT_EQ(run(nest), kExitOk) << err_;
  EXPECT_TRUE(printed("plan: vectorised")) << out_;
  loop.request.total_bytes = 0;
  EXPECT_EQ(run(loop), kExitUsage);
}

TEST_F(CommandsTest, NestsAreExplainedFromFilesAndFromTheCommandLine) {
  const std::string text =
      R"({"loops":[{"count":256},{"count":1024}],"compute_s":1e-3,"references":[)"
      R"({"mode":"read","owner":1,"stride_bytes":[8192,8]}]})";
  ExplainNest explain{"example", {text}};
  EXPECT_EQ(run(explain), kExitOk) << err_;
  EXPECT_TRUE(printed("example\nnest of 256 x 1024 iterations")) << out_;
  EXPECT_TRUE(printed("plan: schedule")) << out_;
  EXPECT_TRUE(printed("alternatives, the fastest first:")) << out_;
  explain.request.nest = (folder_ / "nest.json").string();
  EXPECT_EQ(run(explain), kExitUsage);
  EXPECT_TRUE(complained("No such file")) << err_;
  std::ofstream(explain.request.nest) << text;
  global_.json = true;
  EXPECT_EQ(run(explain), kExitOk) << err_;
  EXPECT_EQ(Json::parse(out_)["plan"]["reason"], "tuned") << out_;
  global_.json = false;
  explain.request.nest = R"({"loops":[{"count":0}]})";
  EXPECT_EQ(run(explain), kExitBadInput);
  EXPECT_TRUE(complained("the nest.loops[0].count: expected an integer from 1 to")) << err_;
}

TEST_F(CommandsTest, CallsAreExplained) {
  ExplainCall explain;
  explain.source = "example";
  explain.request.regions = 256;
  explain.request.region_bytes = 64;
  EXPECT_EQ(run(explain), kExitOk) << err_;
  EXPECT_TRUE(printed("get of 256 regions of 64 B within 32704 B, strided")) << out_;
  EXPECT_TRUE(printed("  * ")) << out_;
  explain.request.shape = plan::RegionShape::indexed;
  explain.request.direction = plan::Direction::put;
  global_.json = true;
  EXPECT_EQ(run(explain), kExitOk) << err_;
  EXPECT_EQ(Json::parse(out_)["plan"]["reason"], "tuned") << out_;
  global_.json = false;
  explain.request.extent_bytes = 63;
  EXPECT_EQ(run(explain), kExitUsage);
  EXPECT_TRUE(complained("--extent 63 does not hold one region")) << err_;
  explain.request.extent_bytes = 20000;
  EXPECT_EQ(run(explain), kExitOk) << err_;
  EXPECT_TRUE(printed("within 20000 B")) << out_;
  explain.request.stride_bytes = 128;
  EXPECT_EQ(run(explain), kExitUsage);
  EXPECT_TRUE(complained("give one of them")) << err_;
  explain.request.extent_bytes = 0;
  explain.request.stride_bytes = 63;
  EXPECT_EQ(run(explain), kExitUsage);
  EXPECT_TRUE(complained("--stride 63")) << err_;
  explain.request.stride_bytes = uint64_t{1} << 40;
  explain.request.regions = (uint64_t{1} << 24) + 1;  // the extent would be that of one, in 64 bits
  EXPECT_EQ(run(explain), kExitUsage);
  EXPECT_TRUE(complained("more than 16 TiB")) << err_;
  explain.request.stride_bytes = plan::kAnyBytes;
  explain.request.regions = 1;
  explain.request.region_bytes = uint64_t{1} << 63;
  EXPECT_EQ(run(explain), kExitUsage);
  EXPECT_TRUE(complained("more than 16 TiB")) << err_;
}

TEST_F(CommandsTest, CallsWithASignalAreExplained) {
  ExplainCall explain;
  explain.source = "example";
  explain.request.regions = 256;
  explain.request.region_bytes = 64;
  explain.request.direction = plan::Direction::put;
  explain.request.peers = 2;
  explain.request.signalled = true;
  EXPECT_EQ(run(explain), kExitOk) << err_;
  EXPECT_TRUE(printed("until the target sees a flag, with 2 ranks")) << out_;
  explain.request.regions = 1;
  global_.json = true;
  const auto predicted_s = [&] {
    out_.clear();
    EXPECT_EQ(run(explain), kExitOk) << err_;
    return Json::parse(out_)["plan"]["predicted_s"].get<double>();
  };
  const double follows_s = predicted_s();
  explain.request.surroundings.flag_with_data = true;
  EXPECT_LT(predicted_s(), follows_s);
  explain.request.direction = plan::Direction::get;
  EXPECT_EQ(run(explain), kExitUsage);
  EXPECT_TRUE(complained("gets raise no flag")) << err_;
  explain.request.signalled = false;
  EXPECT_EQ(run(explain), kExitUsage);
  EXPECT_TRUE(complained("it goes with --signal")) << err_;
}

TEST_F(CommandsTest, SweepsAreExplained) {
  ExplainSweep explain;
  explain.source = "example";
  explain.request.stages = 80;
  explain.request.lines = 64;
  explain.request.line_bytes = 320;
  explain.request.compute_s = 1e-4;
  EXPECT_EQ(run(explain), kExitOk) << err_;
  EXPECT_TRUE(
      printed("example, path inter-node\nsweep of 80 stages, each of 64 lines of 320 B "
              "and 100.0 us of computation, multipartition\n"))
      << out_;
  EXPECT_TRUE(printed("  * ")) << out_;
  explain.request.all_busy = false;
  explain.request.surroundings.flag_with_data = true;
  explain.request.surroundings.target_polls_only = true;
  explain.request.surroundings.nic_ranks = 2;
  global_.json = true;
  EXPECT_EQ(run(explain), kExitOk) << err_;
  const Json json = Json::parse(out_);
  EXPECT_EQ(json["kind"], "pipeline");
  EXPECT_EQ(json["flag_with_data"], true);
  EXPECT_EQ(json["target_polls_only"], true);
  EXPECT_EQ(json["nic_ranks"], 2);
  EXPECT_EQ(json["alternatives"].size(), 12U);
  global_.json = false;
  explain.path = "moon";
  EXPECT_EQ(run(explain), kExitUsage);
  EXPECT_TRUE(complained("no path 'moon'; it has: ")) << err_;
  explain.path.clear();
  explain.request.line_bytes = uint64_t{1} << 40;
  explain.request.lines = uint64_t{1} << 24;  // nothing in all, in 64 bits
  EXPECT_EQ(run(explain), kExitUsage);
  EXPECT_TRUE(complained("more than 16 TiB")) << err_;
}

// docs/strips.md shows a command and what it prints.
TEST_F(CommandsTest, TheSweepOfTheDocumentationIsExplainedAsThere) {
  const char* const source = std::getenv("STRIPLINE_TEST_SOURCE");  // NOLINT(concurrency-mt-unsafe)
  if (source == nullptr) GTEST_SKIP() << "STRIPLINE_TEST_SOURCE is not set";
  std::istringstream page(read(std::filesystem::path(source) / "docs/strips.md"));
  constexpr std::string_view kIndent = "    ";
  const std::string command = std::string(kIndent) + "stripline explain sweep ";
  std::string line;
  while (std::getline(page, line) && !line.starts_with(command)) continue;
  ASSERT_TRUE(page) << "docs/strips.md has no such command";
  std::istringstream words(line.substr(kIndent.size()));
  std::vector<std::string> arguments{std::istream_iterator<std::string>(words), {}};
  arguments.erase(arguments.begin());
  const Parsed parsed = parse_command_line(arguments);
  ASSERT_TRUE(parsed.command) << parsed.err;
  auto explain = std::get<ExplainSweep>(std::get<ExplainAny>(parsed.command->action));
  explain.source = std::filesystem::path(source) / explain.source;
  ASSERT_EQ(run(explain), kExitOk) << err_;
  std::string shown;
  std::getline(page, line);
  while (std::getline(page, line) && line.starts_with(kIndent)) {
    shown += line.substr(kIndent.size()) + "\n";
  }
  EXPECT_EQ(shown, out_);
}

TEST_F(CommandsTest, MalformedModelFilesAreRefused) {
  const std::filesystem::path file = folder_ / "bad.json";
  std::ofstream(file) << models_.data.substr(0, 50);
  EXPECT_EQ(run(ModelShow{file.string()}), kExitBadInput);
  EXPECT_TRUE(complained("bad.json")) << err_;
  EXPECT_EQ(run(ModelShow{(folder_ / "none.json").string()}), kExitUsage);
}

}  // namespace
}  // namespace stripline::cli
