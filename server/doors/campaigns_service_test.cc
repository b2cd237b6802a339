// Campaigns as their users see them, over gRPC, with agents that measure a synthetic machine.
#include <algorithm>
#include <future>
#include <optional>
#include <set>

#include "optimizer/model/model_json.h"
#include "server/doors/long_streams.h"
#include "server/store/sqlite_store.h"
#include "server/testing/postgres_server.h"
#include "server/testing/saboteur.h"
#include "server/testing/service_test.h"

namespace stripline::server {
namespace {

class CampaignsServiceTest : public ServiceTest {
 protected:
  // A campaign that ended in a model, on a server that has stopped. Returns its name.
  std::string finish_a_campaign_and_stop() {
    start_agents();
    std::string name = created(model_spec(6)).name();
    EXPECT_EQ(watch(name).back().campaign().state(), v1::Campaign::SUCCEEDED);
    agents_.clear();
    server_.reset();
    return name;
  }

  std::string fetch(const std::string& name, const std::string& if_none_match,
                    v1::ModelVersion& version) {
    v1::FetchModelVersionRequest request;
    request.set_name(name);
    request.set_if_none_match(if_none_match);
    grpc::ClientContext context;
    const auto reader = models_->FetchModelVersion(&context, request);
    std::string content;
    v1::ModelChunk chunk;
    while (reader->Read(&chunk)) {
      if (chunk.has_version()) version = chunk.version();
      content += chunk.data();
    }
    EXPECT_TRUE(reader->Finish().ok());
    return content;
  }

  std::atomic<bool> server_fitted_ = false;
};

double relative_error(const std::optional<model::Parameter>& parameter, double truth) {
  return parameter ? std::abs(parameter->value - truth) / truth : 1e9;
}

TEST_F(CampaignsServiceTest, ACampaignEndsInAModelThatDescribesTheMachine) {
  start_agents();
  v1::CampaignSpec spec = model_spec();
  spec.set_seed(7);
  const v1::Campaign campaign = created(spec);
  EXPECT_EQ(campaign.name(), "campaigns/c1");
  EXPECT_EQ(campaign.runs_total(), 8U);
  EXPECT_EQ(campaign.spec().effort(), v1::CampaignSpec::BUDGETED);

  const auto events = watch(campaign.name());
  ASSERT_FALSE(events.empty());
  const v1::Campaign& end = events.back().campaign();
  ASSERT_EQ(end.state(), v1::Campaign::SUCCEEDED) << end.message();
  EXPECT_EQ(end.model_version(), "models/tcp/versions/1");
  // A pilot, and six of everything: the eighth is not needed.
  EXPECT_EQ(end.runs_done(), 7U);
  EXPECT_EQ(end.stop_reason(), "CONVERGED");
  EXPECT_LE(end.width(), 0.05);
  EXPECT_GT(end.width(), 0);
  EXPECT_EQ(end.points_done(), end.points_total());
  EXPECT_NE(end.message().find("BUDGETED (pruned grid)"), std::string::npos) << end.message();
  std::set<int> states;
  uint64_t cursor = 0;
  for (const auto& event : events) {
    states.insert(event.campaign().state());
    EXPECT_GT(event.cursor(), cursor);
    cursor = event.cursor();
  }
  EXPECT_TRUE(states.contains(v1::Campaign::QUEUED));
  EXPECT_TRUE(states.contains(v1::Campaign::RUNNING));
  EXPECT_TRUE(states.contains(v1::Campaign::FITTING));
  // Continuing from the middle gives the rest, from the end nothing.
  const auto rest = watch(campaign.name(), events[events.size() / 2].cursor());
  EXPECT_EQ(rest.size(), events.size() - events.size() / 2 - 1);
  EXPECT_TRUE(watch(campaign.name(), cursor).empty());

  v1::ModelVersion version;
  const std::string content = fetch("models/tcp", "", version);
  EXPECT_EQ(version.name(), "models/tcp/versions/1");
  EXPECT_EQ(version.size_bytes(), content.size());
  EXPECT_EQ(version.campaigns(0), campaign.name());
  const auto model = model::parse_model(content);
  ASSERT_TRUE(model.ok()) << model.error().message();
  EXPECT_EQ(model->fingerprint.at("fabric").value, "tcp");
  EXPECT_EQ(model->fingerprint.at("fabric").rule, model::MatchRule::hard);
  EXPECT_EQ(model->fingerprint.at("cpu.model").value, "synthetic");
  EXPECT_EQ(model->fingerprint.at("fabric.provider").value, "synthetic");
  EXPECT_EQ(model->fingerprint.at("fabric.provider").rule, model::MatchRule::hard);
  EXPECT_EQ(model->fingerprint.at("host").value, "*");
  EXPECT_EQ(model->provenance.campaigns, std::vector<std::string>{campaign.name()});
  const auto& get = model->network.at("inter-node").get;
  ASSERT_TRUE(get && !get->segments.empty());
  const SyntheticMachine truth;
  EXPECT_LT(relative_error(get->segments.front().L_s, truth.L), 0.1);
  EXPECT_LT(relative_error(get->segments.back().G_s_per_byte, truth.G), 0.1);
  EXPECT_LT(relative_error(get->segments.front().o_base_s, truth.o_base), 0.1);

  v1::ModelVersion same;
  EXPECT_EQ(fetch("models/tcp/versions/1", version.sha256(), same), "");
  EXPECT_EQ(same.sha256(), version.sha256());

  const auto series = exported(campaign.name());
  EXPECT_EQ(series.size(), end.points_total());
  uint64_t samples = 0;
  for (const Json& one : series) {
    EXPECT_FALSE(one.at("orphan").get<bool>());
    EXPECT_EQ(one.at("fence"), 1);
    samples += one.at("values").size();
  }
  EXPECT_EQ(samples, end.samples());
}

TEST_F(CampaignsServiceTest, VersionsCountUpAndPagesContinue) {
  start_agents();
  for (int i = 1; i <= 2; ++i) {
    const auto events = watch(created(model_spec(6)).name());
    ASSERT_EQ(events.back().campaign().state(), v1::Campaign::SUCCEEDED) << events.back().message();
  }
  v1::ListModelVersionsRequest request;
  request.set_parent("models/tcp");
  request.set_page_size(1);
  v1::ListModelVersionsResponse first;
  grpc::ClientContext context1;
  ASSERT_TRUE(models_->ListModelVersions(&context1, request, &first).ok());
  ASSERT_EQ(first.versions_size(), 1);
  EXPECT_EQ(first.versions(0).name(), "models/tcp/versions/2");
  request.set_page_token(first.next_page_token());
  v1::ListModelVersionsResponse second;
  grpc::ClientContext context2;
  ASSERT_TRUE(models_->ListModelVersions(&context2, request, &second).ok());
  ASSERT_EQ(second.versions_size(), 1);
  EXPECT_EQ(second.versions(0).name(), "models/tcp/versions/1");
  EXPECT_TRUE(second.next_page_token().empty());

  v1::ListModelsResponse models;
  grpc::ClientContext context3;
  ASSERT_TRUE(models_->ListModels(&context3, {}, &models).ok());
  ASSERT_EQ(models.models_size(), 1);
  EXPECT_EQ(models.models(0).latest_version(), "models/tcp/versions/2");

  // The model is one of fabric tcp for ever.
  v1::CampaignSpec other;
  other.set_fabric("emulated:x");
  other.set_model("models/tcp");
  v1::Campaign campaign;
  EXPECT_EQ(reason_of(create(other, campaign)), "INVALID_FIELD");
}

TEST_F(CampaignsServiceTest, PointsAreListedAndChosen) {
  start_agents();
  const std::string name = created(small_spec(2)).name();
  watch(name);
  const auto list = [&](v1::ListPointsRequest request, v1::ListPointsResponse& response) {
    request.set_name(name);
    response.Clear();
    grpc::ClientContext context;
    return campaigns_->ListPoints(&context, request, &response);
  };
  v1::ListPointsResponse page;
  ASSERT_TRUE(list({}, page).ok());
  ASSERT_EQ(page.points_size(), 8);
  for (const auto& point : page.points()) {
    EXPECT_EQ(point.runs_done(), 2U) << point.place();
    EXPECT_EQ(point.runs_failed(), 0U);
    EXPECT_GT(point.samples(), 2U);
    EXPECT_LE(point.low(), point.median());
    EXPECT_GE(point.high(), point.median());
  }

  v1::ListPointsRequest chosen;
  chosen.set_variant("tuned");
  ASSERT_TRUE(list(chosen, page).ok());
  EXPECT_EQ(page.points_size(), 4);
  (*chosen.mutable_params())["bytes"] = "16";
  ASSERT_TRUE(list(chosen, page).ok());
  ASSERT_EQ(page.points_size(), 1);
  EXPECT_EQ(page.points(0).params().at("bytes"), "16");

  v1::ListPointsRequest paged;
  paged.set_page_size(5);
  ASSERT_TRUE(list(paged, page).ok());
  EXPECT_EQ(page.points_size(), 5);
  paged.set_page_token(page.next_page_token());
  ASSERT_TRUE(list(paged, page).ok());
  EXPECT_EQ(page.points_size(), 3);
  EXPECT_TRUE(page.next_page_token().empty());

  v1::ListPointsRequest unknown;
  unknown.set_name("campaigns/c9");
  grpc::ClientContext context;
  EXPECT_EQ(reason_of(campaigns_->ListPoints(&context, unknown, &page)), "CAMPAIGN_NOT_FOUND");
}

TEST_F(CampaignsServiceTest, CampaignsAndNodesAreListedInPages) {
  start_agents();
  for (int i = 0; i < 3; ++i) watch(created(small_spec()).name());
  v1::ListCampaignsRequest request;
  request.set_page_size(2);
  v1::ListCampaignsResponse first;
  grpc::ClientContext context1;
  ASSERT_TRUE(campaigns_->ListCampaigns(&context1, request, &first).ok());
  ASSERT_EQ(first.campaigns_size(), 2);
  EXPECT_EQ(first.campaigns(0).name(), "campaigns/c3");
  request.set_page_token(first.next_page_token());
  v1::ListCampaignsResponse second;
  grpc::ClientContext context2;
  ASSERT_TRUE(campaigns_->ListCampaigns(&context2, request, &second).ok());
  ASSERT_EQ(second.campaigns_size(), 1);
  EXPECT_EQ(second.campaigns(0).name(), "campaigns/c1");
  EXPECT_TRUE(second.next_page_token().empty());

  v1::ListNodesRequest nodes;
  nodes.set_page_size(1);
  v1::ListNodesResponse page;
  grpc::ClientContext context3;
  ASSERT_TRUE(fleet_->ListNodes(&context3, nodes, &page).ok());
  ASSERT_EQ(page.nodes_size(), 1);
  EXPECT_EQ(page.nodes(0).name(), "nodes/a");
  EXPECT_EQ(page.nodes(0).experiments_size(), 5);
  nodes.set_page_token(page.next_page_token());
  v1::ListNodesResponse last;
  grpc::ClientContext context4;
  ASSERT_TRUE(fleet_->ListNodes(&context4, nodes, &last).ok());
  EXPECT_EQ(last.nodes(0).name(), "nodes/b");
  nodes.set_page_token("x");
  grpc::ClientContext context5;
  EXPECT_EQ(reason_of(fleet_->ListNodes(&context5, nodes, &last)), "BAD_PAGE_TOKEN");
}

TEST_F(CampaignsServiceTest, RequestIdsMakeCreationIdempotent) {
  start_agents();
  v1::Campaign first;
  v1::Campaign second;
  ASSERT_TRUE(create(small_spec(), first, "request-1").ok());
  ASSERT_TRUE(create(small_spec(), second, "request-1").ok());
  EXPECT_EQ(first.name(), second.name());
  const grpc::Status status = create(small_spec(2), second, "request-1");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(reason_of(status), "REQUEST_ID_REUSED");
  watch(first.name());
  ASSERT_TRUE(create(small_spec(), second, "request-1").ok());
  EXPECT_EQ(second.state(), v1::Campaign::SUCCEEDED);
}

TEST_F(CampaignsServiceTest, ValidatingCreatesNothing) {
  start_agents();
  v1::CampaignSpec spec = model_spec();
  spec.add_same_node("cma");
  v1::Campaign plan;
  ASSERT_TRUE(create(spec, plan, "", true).ok());
  EXPECT_TRUE(plan.name().empty());
  ASSERT_EQ(plan.spec().same_node_size(), 1);
  EXPECT_EQ(plan.spec().same_node(0), "cma");
  EXPECT_EQ(plan.runs_total(), 8U);
  EXPECT_GT(plan.points_total(), 100U);
  EXPECT_GT(plan.seconds_left(), 1);
  v1::ListCampaignsResponse list;
  grpc::ClientContext context;
  ASSERT_TRUE(campaigns_->ListCampaigns(&context, {}, &list).ok());
  EXPECT_EQ(list.campaigns_size(), 0);
}

TEST_F(CampaignsServiceTest, ErrorsCarryTheirReason) {
  v1::Campaign campaign;
  EXPECT_EQ(reason_of(create(small_spec(), campaign)), "NOT_ENOUGH_NODES");
  start_agents();
  v1::CampaignSpec spec;
  EXPECT_EQ(reason_of(create(spec, campaign)), "INVALID_FIELD");
  spec.set_fabric("shm");
  const grpc::Status unsupported = create(spec, campaign);
  EXPECT_EQ(unsupported.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(reason_of(unsupported), "UNSUPPORTED_FABRIC");
  EXPECT_EQ(rpc_error_from(unsupported).metadata.at("field"), "spec.fabric");
  spec.set_fabric("tcp");
  spec.add_experiments("micro.nothing");
  EXPECT_EQ(reason_of(create(spec, campaign)), "UNKNOWN_EXPERIMENT");

  v1::GetCampaignRequest get;
  get.set_name("campaigns/c99");
  grpc::ClientContext context1;
  EXPECT_EQ(reason_of(campaigns_->GetCampaign(&context1, get, &campaign)), "CAMPAIGN_NOT_FOUND");
  get.set_name("c99");
  grpc::ClientContext context2;
  EXPECT_EQ(reason_of(campaigns_->GetCampaign(&context2, get, &campaign)), "INVALID_FIELD");

  v1::WatchCampaignRequest watch_request;
  watch_request.set_name("campaigns/c99");
  grpc::ClientContext context3;
  const auto watcher = campaigns_->WatchCampaign(&context3, watch_request);
  v1::CampaignEvent event;
  EXPECT_FALSE(watcher->Read(&event));
  EXPECT_EQ(reason_of(watcher->Finish()), "CAMPAIGN_NOT_FOUND");

  v1::FetchModelVersionRequest fetch_request;
  fetch_request.set_name("models/none");
  grpc::ClientContext context4;
  const auto fetcher = models_->FetchModelVersion(&context4, fetch_request);
  v1::ModelChunk chunk;
  EXPECT_FALSE(fetcher->Read(&chunk));
  EXPECT_EQ(reason_of(fetcher->Finish()), "MODEL_NOT_FOUND");

  v1::GetNodeRequest node_request;
  node_request.set_name("nodes/none");
  v1::Node node;
  grpc::ClientContext context5;
  EXPECT_EQ(reason_of(fleet_->GetNode(&context5, node_request, &node)), "NODE_NOT_FOUND");
}

TEST_F(CampaignsServiceTest, CancellingIsIdempotentAndFinal) {
  AgentClient a(address_, test_hello("a"));
  AgentClient b(address_, test_hello("b"));
  ASSERT_TRUE(connected({"a", "b"}));
  const std::string name = created(small_spec()).name();
  const auto order = a.receive(v1::ServerMessage::kAssignment);
  ASSERT_TRUE(order);
  v1::Campaign campaign;
  ASSERT_TRUE(cancel(name, campaign).ok());
  EXPECT_EQ(campaign.state(), v1::Campaign::CANCELLED);
  ASSERT_TRUE(a.receive(v1::ServerMessage::kCancelAssignment));
  EXPECT_EQ(node_state("nodes/a"), v1::Node::BUSY);  // until it says that it has stopped
  a.update(order->assignment(), v1::AssignmentUpdate::CANCELLED);
  EXPECT_TRUE(eventually([&] { return node_state("nodes/a") == v1::Node::IDLE; }));
  EXPECT_TRUE(cancel(name, campaign).ok());
  EXPECT_EQ(watch(name).back().campaign().state(), v1::Campaign::CANCELLED);
}

TEST_F(CampaignsServiceTest, ACampaignThatGetsNoNodesFails) {
  server_.reset();
  options_.coordinator.max_wait_s = 0.3;
  start();
  AgentClient a(address_, test_hello("a"));
  AgentClient b(address_, test_hello("b"));
  ASSERT_TRUE(connected({"a", "b"}));
  const std::string first = created(small_spec()).name();
  const v1::Campaign end = watch(created(small_spec()).name()).back().campaign();
  EXPECT_EQ(end.state(), v1::Campaign::FAILED);
  EXPECT_NE(end.message().find("no nodes came in time: it waits for"), std::string::npos)
      << end.message();
  EXPECT_NE(get(first).state(), v1::Campaign::FAILED);
}

TEST_F(CampaignsServiceTest, SoManyCampaignsMayWait) {
  server_.reset();
  options_.coordinator.max_campaigns = 2;
  start();
  const AgentClient a(address_, test_hello("a"));
  const AgentClient b(address_, test_hello("b"));
  ASSERT_TRUE(connected({"a", "b"}));
  created(small_spec());
  const std::string second = created(small_spec()).name();
  v1::Campaign campaign;
  const grpc::Status status = create(small_spec(), campaign);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(reason_of(status), "TOO_MANY_CAMPAIGNS");
  EXPECT_TRUE(create(small_spec(), campaign, "", true).ok());  // asking costs nothing
  ASSERT_TRUE(cancel(second, campaign).ok());
  created(small_spec());
}

TEST_F(CampaignsServiceTest, OneOwnerHasAShareOfThem) {
  server_.reset();
  options_.coordinator.max_queued_per_owner = 2;
  start();
  const AgentClient a(address_, test_hello("a"));
  const AgentClient b(address_, test_hello("b"));
  ASSERT_TRUE(connected({"a", "b"}));
  const std::string first = created(small_spec()).name();
  const std::string second = created(small_spec()).name();
  v1::Campaign campaign;
  const grpc::Status status = create(small_spec(), campaign);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(reason_of(status), "OWNER_QUOTA");
  EXPECT_NE(status.error_message().find("users/anonymous has 2 campaigns that have not ended"),
            std::string::npos)
      << status.error_message();
  EXPECT_TRUE(create(small_spec(), campaign, "", true).ok());  // asking costs nothing
  // One that goes on again counts, too.
  ASSERT_TRUE(cancel(second, campaign).ok());
  const std::string third = created(small_spec()).name();
  v1::RetryCampaignRequest retry;
  retry.set_name(second);
  const auto retried = [&] {
    grpc::ClientContext context;
    return campaigns_->RetryCampaign(&context, retry, &campaign);
  };
  EXPECT_EQ(reason_of(retried()), "OWNER_QUOTA");
  ASSERT_TRUE(cancel(third, campaign).ok());
  EXPECT_TRUE(retried().ok());

  server_.reset();
  options_.coordinator.max_queued_per_owner = 0;
  start();
  const AgentClient again(address_, test_hello("a"));
  const AgentClient beside(address_, test_hello("b"));
  ASSERT_TRUE(connected({"a", "b"}));
  created(small_spec());
}

TEST_F(CampaignsServiceTest, CallsThatCostAreCounted) {
  grpc::Status status;
  // These calls cost so much that even a host under load makes too many of them.
  for (int i = 0; i < 2000 && status.error_code() != grpc::StatusCode::RESOURCE_EXHAUSTED; ++i) {
    grpc::ClientContext context;
    v1::CompareCampaignsRequest request;
    request.set_baseline("campaigns/1");
    request.set_candidate("campaigns/2");
    v1::CompareCampaignsResponse response;
    status = campaigns_->CompareCampaigns(&context, request, &response);
  }
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(reason_of(status), "TOO_MANY_CALLS");
}

TEST_F(CampaignsServiceTest, ReadsAreCounted) {
  grpc::Status status;
  for (int i = 0; i < 50'000 && status.ok(); ++i) {
    grpc::ClientContext context;
    v1::ListModelsResponse response;
    status = models_->ListModels(&context, {}, &response);
  }
  EXPECT_EQ(reason_of(status), "TOO_MANY_CALLS");
  // Reads of all services take from one allowance, which holds 5,000 of these. A host under load
  // may leave time for some between two calls.
  std::string reason;
  for (int i = 0; i < 1000 && reason != "TOO_MANY_CALLS"; ++i) {
    grpc::ClientContext context;
    v1::ListNodesResponse nodes;
    reason = reason_of(fleet_->ListNodes(&context, {}, &nodes));
  }
  EXPECT_EQ(reason, "TOO_MANY_CALLS");
}

TEST_F(CampaignsServiceTest, ExportsThatNoOneReadsAreBounded) {
  const std::string name = finish_a_campaign_and_stop();
  {
    auto store = open_sqlite_store(folder_.path() / kDatabaseFile);
    ASSERT_TRUE(store.ok()) << store.error().message();
    Changes changes;
    // More than gRPC takes of a stream that no one reads.
    for (uint64_t seq = 1000; seq < 1004; ++seq) {
      BatchRecord batch;
      batch.run = {1, 1};
      batch.fence = 1;
      batch.seq = seq;
      batch.data = Json::array({{{"label", std::string(size_t{8} << 20, 'x')}}}).dump();
      changes.batches.push_back(batch);
    }
    const Status stored = (*store)->apply(changes);
    ASSERT_TRUE(stored.ok()) << stored.error().message();
  }
  start();
  v1::ExportSamplesRequest request;
  request.set_name(name);
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::SampleChunk>>> readers;
  size_t open = 0;
  v1::SampleChunk chunk;
  for (int i = 0; i < 100; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    readers.push_back(campaigns_->ExportSamples(contexts.back().get(), request));
    if (readers.back()->Read(&chunk)) {
      ++open;
    } else {
      EXPECT_EQ(reason_of(readers.back()->Finish()), "TOO_MANY_STREAMS");
    }
  }
  EXPECT_EQ(open, LongStreams::kOfPayer);
  for (auto& context : contexts) context->TryCancel();
  EXPECT_TRUE(eventually([&] {
    grpc::ClientContext context;
    const bool admitted = campaigns_->ExportSamples(&context, request)->Read(&chunk);
    context.TryCancel();
    return admitted;
  })) << "places are given back";
}

TEST_F(CampaignsServiceTest, AFinishedCampaignCannotBeCancelled) {
  start_agents();
  const std::string name = created(small_spec()).name();
  ASSERT_EQ(watch(name).back().campaign().state(), v1::Campaign::SUCCEEDED);
  v1::Campaign campaign;
  const grpc::Status status = cancel(name, campaign);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(reason_of(status), "CAMPAIGN_FINISHED");
  EXPECT_EQ(rpc_error_from(status).metadata.at("state"), "SUCCEEDED");
}

TEST_F(CampaignsServiceTest, AFitThatFailsFailsTheCampaign) {
  server_.reset();
  options_.fitter = [](const FitJob& job, const std::stop_token&) -> Result<FittedModel> {
    return Error(ErrorCode::failed_precondition,
                 "not enough in " + std::to_string(job.batches.size()) + " batches");
  };
  start();
  start_agents();
  const v1::Campaign end = watch(created(model_spec(6)).name()).back().campaign();
  EXPECT_EQ(end.state(), v1::Campaign::FAILED);
  EXPECT_NE(end.message().find("no model could be fitted: not enough in"), std::string::npos)
      << end.message();
}

TEST_F(CampaignsServiceTest, AFitThatComesToNoAnswerIsMadeOnceMore) {
  server_.reset();
  std::atomic<int> fits = 0;
  options_.fitter = [&](const FitJob& job, const std::stop_token& stop) -> Result<FittedModel> {
    if (++fits == 1) return Error(ErrorCode::aborted, "it was killed");
    return fit_in_process(job, stop);
  };
  start();
  start_agents();
  const v1::Campaign end = watch(created(model_spec()).name()).back().campaign();
  EXPECT_EQ(end.state(), v1::Campaign::SUCCEEDED) << end.message();
  EXPECT_EQ(fits, 2);
}

// The second failure counts whichever server sees it, and no server ends by one.
TEST_F(CampaignsServiceTest, AFitThatComesToNoAnswerTwiceFailsTheCampaign) {
  const std::string name = finish_a_campaign_and_stop();
  Saboteur(options_.data_dir).run("UPDATE campaigns SET state = 'FITTING', model_version = ''");
  std::atomic<int> fits = 0;
  options_.fitter = [&](const FitJob&, const std::stop_token& stop) -> Result<FittedModel> {
    if (++fits == 1) throw std::bad_alloc();
    while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return Error(ErrorCode::cancelled, "stopped");
  };
  start();
  ASSERT_TRUE(eventually([&] { return fits == 2; }));
  EXPECT_NE(get(name).message().find("is tried again"), std::string::npos) << get(name).message();
  server_.reset();
  options_.fitter = [](const FitJob&, const std::stop_token&) -> Result<FittedModel> {
    throw std::runtime_error("no such luck");
  };
  start();
  ASSERT_TRUE(eventually([&] { return get(name).state() == v1::Campaign::FAILED; }));
  EXPECT_NE(get(name).message().find("in 2 attempts: no such luck"), std::string::npos)
      << get(name).message();
}

TEST_F(CampaignsServiceTest, ARestartedServerResumesTheCampaign) {
  // Agents on a busy host come back late, and keep the assignments that they have.
  server_.reset();
  options_.coordinator.lease_s = kTestPatienceS;
  start();
  AutoAgent::Options slow;
  slow.batch_delay_s = 0.02;
  slow.series_per_batch = 8;
  agents_.push_back(std::make_unique<AutoAgent>(address_, "a", slow));
  agents_.push_back(std::make_unique<AutoAgent>(address_, "b", slow));
  ASSERT_TRUE(connected({"a", "b"}));
  const std::string name = created(model_spec(6)).name();
  ASSERT_TRUE(eventually([&] { return get(name).runs_done() >= 2; }));
  server_.reset();
  start();
  const v1::Campaign before = get(name);
  EXPECT_EQ(before.state(), v1::Campaign::RUNNING);
  EXPECT_GE(before.runs_done(), 2U);
  for (const auto& agent : agents_) agent->set_address(address_);
  const v1::Campaign end = watch(name).back().campaign();
  ASSERT_EQ(end.state(), v1::Campaign::SUCCEEDED) << end.message();

  // What was acknowledged to agents is stored.
  std::set<std::pair<std::string, uint64_t>> attempts;
  for (const Json& series : exported(name)) {
    attempts.emplace(series.at("assignment"), series.at("fence"));
    EXPECT_EQ(series.at("fence"), 1);
  }
  for (const auto& [batch, data] : agents_[0]->acknowledged()) {
    const auto& [assignment, fence, seq] = batch;
    EXPECT_TRUE(attempts.contains({assignment, fence})) << assignment << " " << fence;
  }
}

TEST_F(CampaignsServiceTest, AFittingCampaignIsFittedAfterARestart) {
  server_.reset();
  options_.fitter = [this](const FitJob&, const std::stop_token& stop) -> Result<FittedModel> {
    server_fitted_ = true;
    while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return Error(ErrorCode::cancelled, "stopped");
  };
  start();
  start_agents();
  const std::string name = created(model_spec(6)).name();
  ASSERT_TRUE(eventually([&] { return server_fitted_.load(); }));
  agents_.clear();
  server_.reset();
  options_.fitter = fit_in_process;
  start();
  const v1::Campaign end = watch(name).back().campaign();
  EXPECT_EQ(end.state(), v1::Campaign::SUCCEEDED) << end.message();
  EXPECT_EQ(end.model_version(), "models/tcp/versions/1");
}

TEST_F(CampaignsServiceTest, AModelThatCannotBeStoredIsStoredWhenThatIsPossibleAgain) {
  server_.reset();
  options_.coordinator.storage_retry_s = 0.1;
  std::atomic<int> fits = 0;
  options_.fitter = [&](const FitJob& job, const std::stop_token& stop) -> Result<FittedModel> {
    ++fits;
    return fit_in_process(job, stop);
  };
  start();
  start_agents();
  const v1::Campaign campaign = created(model_spec(6));
  Saboteur saboteur(options_.data_dir);
  ASSERT_TRUE(eventually([&] { return get(campaign.name()).runs_done() >= 1; }));
  saboteur.run("ALTER TABLE model_versions RENAME TO away");
  ASSERT_TRUE(eventually([&] { return fits > 0; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(get(campaign.name()).state(), v1::Campaign::FITTING);
  saboteur.run("ALTER TABLE away RENAME TO model_versions");
  const v1::Campaign end = watch(campaign.name()).back().campaign();
  EXPECT_EQ(end.state(), v1::Campaign::SUCCEEDED) << end.message();
  EXPECT_EQ(fits, 1);
}

// Killed between the end of the last run and the decision to fit: no one needs to connect for it.
TEST_F(CampaignsServiceTest, ACampaignWithoutOpenRunsIsFittedAfterARestart) {
  const std::string name = finish_a_campaign_and_stop();
  Saboteur(options_.data_dir).run("UPDATE campaigns SET state = 'RUNNING', model_version = ''");
  start();
  EXPECT_TRUE(eventually([&] { return get(name).state() == v1::Campaign::SUCCEEDED; }));
}

TEST_F(CampaignsServiceTest, SamplesThatCannotBeReadAreFittedWhenThatIsPossibleAgain) {
  const std::string name = finish_a_campaign_and_stop();
  Saboteur saboteur(options_.data_dir);
  saboteur.run("UPDATE campaigns SET state = 'FITTING', model_version = ''");
  saboteur.run("ALTER TABLE batches RENAME TO away");
  options_.coordinator.storage_retry_s = 0.1;
  start();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(get(name).state(), v1::Campaign::FITTING);
  saboteur.run("ALTER TABLE away RENAME TO batches");
  EXPECT_TRUE(eventually([&] { return get(name).state() == v1::Campaign::SUCCEEDED; }));
}

TEST_F(CampaignsServiceTest, TwoNetworksDoNotMakeAModel) {
  AutoAgent::Options other;
  other.provider = "other";
  const AutoAgent a(address_, "a");
  const AutoAgent b(address_, "b", other);
  ASSERT_TRUE(connected({"a", "b"}));
  const v1::Campaign end = watch(created(model_spec()).name()).back().campaign();
  EXPECT_EQ(end.state(), v1::Campaign::FAILED);
  EXPECT_NE(
      end.message().find("fabric.provider was 'other' on nodes/b in run 1 and 'synthetic' on"),
      std::string::npos)
      << end.message();
}

TEST_F(CampaignsServiceTest, OneCallerHasAShareOfTheWatches) {
  AgentClient a(address_, test_hello("a"));
  AgentClient b(address_, test_hello("b"));
  ASSERT_TRUE(connected({"a", "b"}));
  v1::WatchCampaignRequest request;
  request.set_name(created(small_spec()).name());
  // A connection has 256 calls at a time.
  std::vector<std::unique_ptr<v1::Campaigns::Stub>> stubs;
  for (int i = 0; i < 6; ++i) {
    grpc::ChannelArguments apart;
    apart.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    stubs.push_back(v1::Campaigns::NewStub(
        grpc::CreateCustomChannel(address_, grpc::InsecureChannelCredentials(), apart)));
  }
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::CampaignEvent>>> readers;
  v1::CampaignEvent event;
  std::string refusal;
  while (refusal.empty() && readers.size() < 1000) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    const auto& stub = stubs.at(readers.size() / 200);
    readers.push_back(stub->WatchCampaign(contexts.back().get(), request));
    if (!readers.back()->Read(&event)) refusal = reason_of(readers.back()->Finish());
  }
  EXPECT_EQ(refusal, "TOO_MANY_WATCHERS");
  EXPECT_EQ(readers.size(), 513U);
  for (const auto& context : contexts) context->TryCancel();
}

// With a database in which reads can be held up.
class SlowReadsTest : public ServiceTest {
 protected:
  void SetUp() override {
    if (const std::string why = PostgresServer::missing(); !why.empty()) GTEST_SKIP() << why;
    database_.emplace();
    options_.store.url = database_->url();
    ServiceTest::SetUp();
  }
  void TearDown() override { server_.reset(); }

  std::string locks(const std::string& table, const std::string& which) const {
    return database_->run("SELECT count(*) FROM pg_locks WHERE relation = '" + table +
                          "'::regclass AND " + which);
  }

  // Nothing of the table can be read for a while: until the result is there.
  std::future<void> hold(const std::string& table) const {
    auto holds = std::async(std::launch::async, [this, table] {
      database_->run("BEGIN; LOCK TABLE " + table +
                     " IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(5); COMMIT");
    });
    const bool held = eventually(
        [&] { return locks(table, "granted AND mode = 'AccessExclusiveLock'").starts_with("1"); });
    EXPECT_TRUE(held);
    return holds;
  }

  std::optional<PostgresServer> database_;
};

TEST_F(SlowReadsTest, AListHoldsUpNoOneElse) {
  AgentClient a(address_, test_hello("a"));
  ASSERT_TRUE(connected({"a"}));
  const auto holds = hold("campaigns");
  auto waits = std::async(std::launch::async, [&] {
    v1::ListCampaignsResponse response;
    grpc::ClientContext context;
    return campaigns_->ListCampaigns(&context, {}, &response).ok();
  });
  ASSERT_TRUE(eventually([&] { return locks("campaigns", "NOT granted").starts_with("1"); }));
  EXPECT_EQ(node("nodes/a").name(), "nodes/a") << "as all who need the state";
  EXPECT_EQ(waits.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  EXPECT_TRUE(waits.get());
}

// Two of a caller wait in the pool, and the others are refused: none has a thread on which agents
// are served.
TEST_F(SlowReadsTest, LongReadsAreCarriedOutInThePool) {
  v1::ListPointsRequest request;
  {
    const AgentClient a(address_, test_hello("a"));
    const AgentClient b(address_, test_hello("b"));
    ASSERT_TRUE(connected({"a", "b"}));
    request.set_name(created(small_spec()).name());
    v1::Campaign campaign;
    ASSERT_TRUE(cancel(request.name(), campaign).ok());
  }
  const auto holds = hold("points");
  std::vector<std::future<grpc::Status>> calls;
  for (int i = 0; i < 10; ++i) {
    calls.push_back(std::async(std::launch::async, [&] {
      v1::ListPointsResponse response;
      grpc::ClientContext context;
      return campaigns_->ListPoints(&context, request, &response);
    }));
  }
  int answered = 0;
  for (auto& call : calls) {
    const grpc::Status status = call.get();
    if (status.ok()) {
      ++answered;
    } else {
      EXPECT_EQ(reason_of(status), "BUSY") << status.error_message();
    }
  }
  EXPECT_EQ(answered, 2);
}

TEST_F(CampaignsServiceTest, StoppingEndsWatchers) {
  AgentClient a(address_, test_hello("a"));
  AgentClient b(address_, test_hello("b"));
  ASSERT_TRUE(connected({"a", "b"}));
  v1::WatchCampaignRequest request;
  request.set_name(created(small_spec()).name());
  grpc::ClientContext context;
  const auto reader = campaigns_->WatchCampaign(&context, request);
  v1::CampaignEvent event;
  ASSERT_TRUE(reader->Read(&event));
  std::thread stopper([&] { server_->stop(); });
  while (reader->Read(&event)) {
  }
  const grpc::Status status = reader->Finish();
  stopper.join();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(reason_of(status), "SERVER_STOPPING");
}

}  // namespace
}  // namespace stripline::server
