// The door of HTTP, by real connections: what gRPC tells, to whom gRPC tells it.
#include <algorithm>
#include <atomic>
#include <cctype>
#include <future>
#include <httplib.h>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "base/pki/dev_token.h"
#include "base/pki/secret_file.h"
#include "base/pki/token.h"
#include "server/clock.h"
#include "server/process/initialise.h"
#include "server/store/sqlite_store.h"
#include "server/testing/http_client.h"
#include "server/testing/http_service_test.h"
#include "stripline/v1/access.grpc.pb.h"

namespace stripline::server {
namespace {

class HttpTest : public HttpServiceTest {
 protected:
  int port() const {
    const std::string url = *server_->http_url();
    return std::stoi(url.substr(url.rfind(':') + 1));
  }

  // The operation once it has ended.
  Json ended(const std::string& operation) {
    EXPECT_TRUE(eventually([&] { return json(operation).at("state") != "RUNNING"; }));
    return json(operation);
  }

  uint64_t get_samples() { return ServiceTest::get("campaigns/c1").samples(); }

  // A campaign of two synthetic nodes that has published models/tcp/versions/1.
  void tune() {
    const AutoAgent a(address_, "a");
    const AutoAgent b(address_, "b");
    ASSERT_TRUE(connected({"a", "b"}));
    const auto campaign = created(model_spec());
    ASSERT_EQ(watch(campaign.name()).back().campaign().model_version(), "models/tcp/versions/1");
  }
};

TEST_F(HttpTest, TellsWhatGrpcTells) {
  tune();
  const Json nodes = json("nodes").at("nodes");
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].at("name"), "nodes/a");
  EXPECT_EQ(json("nodes/b").at("name"), "nodes/b");
  EXPECT_EQ(json("nodes/b").at("quarantine"), "") << "defaults are there, too";
  const Json page = json("nodes?page_size=1");
  ASSERT_EQ(page.at("nodes").size(), 1U);
  const std::string next = page.at("next_page_token");
  EXPECT_EQ(json("nodes?page_size=1&page_token=" + next).at("nodes")[0].at("name"), "nodes/b");

  EXPECT_EQ(json("campaigns").at("campaigns")[0].at("state"), "SUCCEEDED");
  EXPECT_EQ(json("campaigns/c1").at("samples"), std::to_string(get_samples()));
  EXPECT_EQ(json("models").at("models")[0].at("latest_version"), "models/tcp/versions/1");
  EXPECT_EQ(json("models/tcp").at("fabric"), "tcp");
  EXPECT_EQ(json("models/tcp/versions").at("versions").size(), 1U);
  const std::string sha = json("models/tcp/versions/1").at("sha256");
  EXPECT_EQ(json("models/tcp/versions/1/file").at("sha256"), sha);
  EXPECT_EQ(json("whoami").at("role"), "ADMIN");

  const Json history = json("history");
  const Json& runs = history.at("runs");
  EXPECT_EQ(runs.size(), json("campaigns/c1").at("runs_done"));
  EXPECT_EQ(runs.at(0).at("name"), "campaigns/c1/runs/1");
  EXPECT_EQ(runs.at(0).at("nodes").size(), 2U);
  const Json before = json("history?from=2020-06-01T10:00:00Z&to=2020-06-01T12:00:00Z");
  EXPECT_EQ(before.at("start_time"), "2020-06-01T10:00:00.000Z");
  EXPECT_TRUE(before.at("runs").empty() && before.at("events").empty());
}

TEST_F(HttpTest, PointsAreSummedUpOverRuns) {
  tune();
  const Json points = json("campaigns/c1/points").at("points");
  ASSERT_FALSE(points.empty());
  uint64_t samples = 0;
  for (const Json& point : points) {
    samples += point.at("samples").get<uint64_t>();
    EXPECT_LE(point.at("low").get<double>(), point.at("median").get<double>());
    EXPECT_GE(point.at("high").get<double>(), point.at("median").get<double>());
  }
  EXPECT_EQ(samples, get_samples());
  const std::string etag = get("/api/v1/campaigns/c1/points")->get_header_value("ETag");
  EXPECT_EQ(get("/api/v1/campaigns/c1/points", "", {{"If-None-Match", etag}})->status, 304);
}

TEST_F(HttpTest, DecisionsAreExplainedAndTabulated) {
  tune();
  const std::string version = "models/tcp/versions/1/";
  const Json one = json(version + "explain/loop?bytes=4MiB&compute=20ms");
  EXPECT_FALSE(one.at("why").get<std::string>().empty());
  const Json table = json(version + "decisions/loop?bytes=4MiB,8MiB,16MiB&compute=20ms,1s");
  EXPECT_EQ(table.at("options"), Json({"bytes", "compute"}));
  ASSERT_EQ(table.at("decisions").size(), 6U);
  EXPECT_EQ(table.at("decisions")[0].at("values"), Json({"4MiB", "20ms"}));
  EXPECT_EQ(table.at("decisions")[0].at("plan").at("strip_bytes"),
            one.at("plan").at("strip_bytes"));
  EXPECT_EQ(table.at("decisions")[0].at("predicted_s"), one.at("plan").at("predicted_s"));

  EXPECT_EQ(status(version + "explain/poem"), 404);
  for (const char* wrong : {"explain/loop", "explain/loop?bytes=much", "explain/loop?bytes=8&x=1",
                            "explain/loop?bytes=8&direction=up", "explain/call?regions=0",
                            "explain/loop?bytes=8&path=nowhere"}) {
    const auto answer = get("/api/v1/" + version + wrong);
    EXPECT_EQ(answer->status, 400) << wrong << answer->body;
    EXPECT_FALSE(Json::parse(answer->body).at("message").get<std::string>().empty());
  }
  std::string many = "1";
  for (int i = 2; i < 100; ++i) many += "," + std::to_string(i);
  EXPECT_EQ(status(version + "decisions/loop?bytes=" + many + "&fp-ops=" + many), 429);
}

TEST_F(HttpTest, SaysWhatMayBeAsked) {
  const Json description = json("explain");
  std::set<std::string> commands;
  for (const Json& command : description.at("commands")) commands.insert(command.at("command"));
  EXPECT_TRUE(commands.contains("loop") && commands.contains("nest"));
  EXPECT_FALSE(description.at("tables").empty());
}

TEST_F(HttpTest, VersionsAreCompared) {
  tune();
  const Json same = json("models/tcp/versions/1/compare?with=models/tcp/versions/1");
  EXPECT_FALSE(same.at("parameters").empty());
  EXPECT_FALSE(same.at("verdicts").contains("SLOWER"));
  EXPECT_TRUE(same.at("decisions").empty());
  EXPECT_EQ(status("models/tcp/versions/1/compare"), 400);
  EXPECT_EQ(status("models/tcp/versions/1/compare?with=models/none/versions/1"), 404);
}

TEST_F(HttpTest, WhatRunsSawIsListed) {
  tune();
  v1::SendFeedbackRequest request;
  grpc::ClientContext none;
  v1::SendFeedbackResponse response;
  EXPECT_FALSE(models_->SendFeedback(&none, request, &response).ok());
  model::Feedback report;
  report.model_sha256 = json("models/tcp/versions/1").at("sha256");
  report.ranks = 2;
  report.places = {{"t.cc:17", "get", "packed", 2, 9, 8, 1e-3, 2e-3, 1, 3e-3, 1},
                   {"t.cc:20", "put", "pieces", 2, 9, 9, 1e-3, 2e-3, 0, 0, 0}};
  for (const char* run : {"x", "y"}) {
    report.run = run;
    request.set_content(model::report_text(report));
    grpc::ClientContext context;
    const auto sent = models_->SendFeedback(&context, request, &response);
    ASSERT_TRUE(sent.ok()) << sent.error_message();
    EXPECT_EQ(response.version(), "models/tcp/versions/1");
  }
  const Json page = json("models/tcp/feedback?page_size=1");
  ASSERT_EQ(page.at("feedback").size(), 1U);
  EXPECT_EQ(page.at("feedback")[0].at("places")[1].at("place"), "t.cc:20");
  const Json rest =
      json("models/tcp/feedback?page_token=" + page.at("next_page_token").get<std::string>());
  EXPECT_EQ(rest.at("feedback").size(), 1U);
  EXPECT_EQ(json("models/tcp/versions/1/feedback").at("feedback").size(), 2U);
  EXPECT_EQ(status("models/none/feedback"), 404);
}

TEST_F(HttpTest, NodesAreHeldAndGivenBack) {
  const AutoAgent a(address_, "a");
  ASSERT_TRUE(connected({"a"}));
  const Json held = Json::parse(post("nodes/a/cordon", R"({"reason": "a new NIC"})")->body);
  EXPECT_EQ(held.at("hold").at("reason"), "a new NIC");
  EXPECT_EQ(held.at("hold").at("actor"), "users/anonymous");
  const Json drained = Json::parse(post("nodes/a/drain", R"({"time_limit_s": 60})")->body);
  EXPECT_FALSE(drained.at("hold").at("deadline").get<std::string>().empty());
  EXPECT_FALSE(Json::parse(post("nodes/a/uncordon", "")->body).contains("hold"));

  EXPECT_EQ(post("nodes/b/cordon")->status, 404);
  EXPECT_EQ(post("nodes/a/drain", R"({"time_limit_s": -1})")->status, 400);
  EXPECT_EQ(post("nodes/a/cordon", R"({"raison": "x"})")->status, 400);
  EXPECT_EQ(post("nodes/a/cordon", "{")->status, 400);
  EXPECT_EQ(post("nodes/a/cordon", "{}", "", "text/plain")->status, 415)
      << "what a page of elsewhere could send";
  EXPECT_EQ(get("/api/v1/nodes/a/cordon")->status, 404) << "reading changes nothing";
  EXPECT_EQ(post("nodes/a/cordon", std::string(100'000, ' '))->status, 413);
}

TEST_F(HttpTest, CampaignsAreCancelled) {
  const AutoAgent a(address_, "a");
  const AutoAgent b(address_, "b");
  ASSERT_TRUE(connected({"a", "b"}));
  const auto campaign = created(small_spec(1000));
  const auto cancelled = post(campaign.name() + "/cancel");
  EXPECT_EQ(Json::parse(cancelled->body).at("state"), "CANCELLED") << cancelled->body;
  EXPECT_EQ(post("campaigns/c9/cancel")->status, 404);
}

TEST_F(HttpTest, CampaignsAreEstimatedComparedAndDeleted) {
  const AutoAgent a(address_, "a");
  const AutoAgent b(address_, "b");
  ASSERT_TRUE(connected({"a", "b"}));
  const std::string asked =
      R"({"spec": {"fabric": "tcp", "experiments": ["micro.latency"], "runs": 3}})";
  const auto guess = post("campaigns/estimate", asked);
  ASSERT_EQ(guess->status, 200) << guess->body;
  EXPECT_EQ(Json::parse(guess->body).at("based_on"), "");
  EXPECT_EQ(Json::parse(guess->body).at("risks").at(0).at("kind"), "UNKNOWN_PACE");
  EXPECT_TRUE(json("campaigns").at("campaigns").empty()) << "nothing is created";
  EXPECT_EQ(post("campaigns/estimate", R"({"spec": {"fabric": ""}})")->status, 400);
  EXPECT_EQ(post("campaigns/estimate", R"({"speck": {}})")->status, 400);
  EXPECT_EQ(status("campaigns/estimate"), 400) << "no campaign is named so";

  const std::string campaign = created(small_spec(3)).name();
  ASSERT_EQ(watch(campaign).back().campaign().state(), v1::Campaign::SUCCEEDED);
  const Json same = json(campaign + "/compare?with=" + campaign + "&margin=0.05");
  ASSERT_EQ(same.at("points").size(), 8U);
  for (const Json& point : same.at("points")) {
    EXPECT_EQ(point.at("ratio"), 1) << point;
    EXPECT_NE(point.at("verdict"), "INCOMPARABLE") << point;
  }
  EXPECT_TRUE(same.at("differences").empty());
  const Json columns = json(campaign + "/compare/columns?with=" + campaign + "&margin=0.05");
  EXPECT_EQ(columns.at("ratio"), Json(std::vector<int>(8, 1)));
  EXPECT_EQ(columns.at("experiment").at("values"), Json::array({"kernel.loop"}));
  EXPECT_TRUE(columns.at("differences").empty());
  for (const char* wrong :
       {"", "?with=poem", "?with=campaigns/c1&margin=2", "?with=campaigns/c1&margin=much",
        "?with=campaigns/c1&false_discoveries=1"}) {
    EXPECT_EQ(status(campaign + "/compare" + wrong), 400) << wrong;
    EXPECT_EQ(status(campaign + "/compare/columns" + wrong), 400) << wrong;
  }
  EXPECT_EQ(status(campaign + "/compare?with=campaigns/c9"), 404);

  EXPECT_EQ(post(campaign + "/delete")->status, 200);
  EXPECT_EQ(status(campaign), 404);
}

TEST_F(HttpTest, VersionsAreLabelledAndTakenBack) {
  tune();
  const std::string version = "models/tcp/versions/1";
  const auto reason_of = [](const httplib::Result& answer) {
    return Json::parse(answer->body).at("reason").get<std::string>();
  };
  const Json gate = json(version + "/gate");
  for (const char* label : {"canary", "stable"}) {
    EXPECT_NE(gate.at(label).get<std::string>().find("was not judged"), std::string::npos);
  }
  EXPECT_EQ(reason_of(post(version + "/promote", R"({"label": "canary"})")), "GATE");
  EXPECT_EQ(post(version + "/promote", R"({"label": "newest"})")->status, 400);
  EXPECT_EQ(post("models/tcp/versions/2/promote", R"({"label": "canary"})")->status, 404);

  const auto promoted =
      post(version + "/promote", R"({"label": "canary", "unjudged_reason": "a test"})");
  EXPECT_EQ(Json::parse(promoted->body).at("labels"), Json::array({"canary"})) << promoted->body;
  const Json moves = json("models/tcp/labels").at("moves");
  ASSERT_EQ(moves.size(), 1U);
  EXPECT_EQ(moves[0].at("version"), version);
  EXPECT_EQ(moves[0].at("actor"), "users/anonymous");
  const auto back = post("models/tcp/labels/canary/rollback");
  EXPECT_TRUE(Json::parse(back->body).at("labels").empty()) << back->body;
  EXPECT_EQ(reason_of(post("models/tcp/labels/stable/rollback")), "NO_EARLIER_VERSION");
  EXPECT_EQ(post("models/tcp/labels/newest/rollback")->status, 400);
  EXPECT_EQ(post("models/none/labels/stable/rollback")->status, 404);
  EXPECT_EQ(status("models/none/labels"), 404);

  EXPECT_EQ(reason_of(post(version + "/validate", R"({"campaigns": ["campaigns/c1"]})")),
            "INVALID_FIELD")
      << "it was fitted to this one";
  EXPECT_EQ(reason_of(post(version + "/withdraw")), "INVALID_FIELD") << "no reason is given";
  const auto withdrawn = post(version + "/withdraw", R"({"reason": "another switch"})");
  EXPECT_EQ(Json::parse(withdrawn->body).at("state"), "DEPRECATED") << withdrawn->body;
  const std::string why = json(version + "/gate").at("stable");
  EXPECT_EQ(why, "it was withdrawn: another switch");
  const auto refused = post(version + "/promote", R"({"label": "stable"})");
  EXPECT_EQ(refused->status, 409);
  EXPECT_NE(refused->body.find(why), std::string::npos) << refused->body;
}

TEST_F(HttpTest, ChecksAreToldWithTheirSentinels) {
  tune();
  const std::string version = "models/tcp/versions/1";
  EXPECT_TRUE(json(version + "/sentinels").at("checks").empty());
  const AutoAgent a(address_, "a");
  const AutoAgent b(address_, "b");
  ASSERT_TRUE(connected({"a", "b"}));
  v1::CampaignSpec spec = model_spec();
  spec.add_experiments("micro.latency");
  spec.set_runs(2);
  const std::string campaign = created(spec).name();
  ASSERT_EQ(watch(campaign).back().campaign().state(), v1::Campaign::SUCCEEDED);
  const auto checked = post(version + "/check", R"({"campaign": ")" + campaign + "\"}");
  ASSERT_EQ(checked->status, 200) << checked->body;
  const Json check = json(version + "/sentinels").at("checks").at(0);
  EXPECT_EQ(check.at("campaign"), campaign);
  const Json& sentinels = check.at("sentinels");
  EXPECT_GT(sentinels.size(), 0U);
  EXPECT_EQ(sentinels.size(), check.at("points"));
  EXPECT_EQ(std::ranges::count_if(sentinels,
                                  [](const Json& one) { return one.at("outside").get<bool>(); }),
            check.at("outside"));
  for (const Json& one : sentinels) {
    EXPECT_LE(one.at("low_s").get<double>(), one.at("predicted_s").get<double>()) << one;
    EXPECT_GE(one.at("high_s").get<double>(), one.at("predicted_s").get<double>()) << one;
  }
}

TEST_F(HttpTest, FitsAreAskedForAndLookedAt) {
  tune();
  EXPECT_TRUE(json("operations").at("operations").empty());
  const std::string campaigns = R"({"campaigns": ["campaigns/c1"], "request_id": "r"})";
  const auto asked = post("models/again/fit", campaigns);
  ASSERT_EQ(asked->status, 200) << asked->body;
  const std::string operation = Json::parse(asked->body).at("name");
  EXPECT_EQ(operation, "operations/o1");
  EXPECT_EQ(Json::parse(post("models/again/fit", campaigns)->body).at("name"), operation)
      << "said again it is the same";
  const Json end = ended(operation);
  EXPECT_EQ(end.at("state"), "SUCCEEDED") << end;
  EXPECT_EQ(end.at("result"), "models/again/versions/1");
  EXPECT_EQ(end.at("actor"), "users/anonymous");
  ASSERT_EQ(post("models/more/fit", R"({"campaigns": ["campaigns/c1"]})")->status, 200);
  const Json page = json("operations?page_size=1");
  ASSERT_EQ(page.at("operations").size(), 1U);
  EXPECT_EQ(page.at("operations")[0].at("name"), "operations/o2") << "newest first";
  const std::string next = page.at("next_page_token");
  EXPECT_EQ(json("operations?page_token=" + next).at("operations")[0].at("name"), operation);

  EXPECT_EQ(post(operation + "/cancel")->status, 409);
  EXPECT_EQ(post("operations/o9/cancel")->status, 404);
  EXPECT_EQ(status("operations/o9"), 404);
  EXPECT_EQ(status("operations/poem"), 400);
  EXPECT_EQ(post("models/again/fit")->status, 400) << "to no campaign";
  EXPECT_EQ(post("models/again/fit", R"({"campaigns": ["campaigns/c9"]})")->status, 404);
  EXPECT_EQ(post("models/again/fit", R"({"campaign": "campaigns/c1"})")->status, 400);
}

// Names of members with what they refer to below "#/components/schemas/".
void collect_references(const Json& value, std::set<std::string>& found) {
  if (value.is_object() && value.contains("$ref")) {
    const std::string name = value.at("$ref");
    found.insert(name.substr(name.rfind('/') + 1));
  }
  if (!value.is_structured()) return;
  for (const Json& inner : value) collect_references(inner, found);
}

TEST_F(HttpTest, CampaignsThatFailAreCounted) {
  server_.reset();
  options_.coordinator.max_wait_s = 0.3;
  options_.monitoring = ListenAddress{"127.0.0.1", 0};
  start();
  const AgentClient a(address_, test_hello("a"));
  const AgentClient b(address_, test_hello("b"));
  ASSERT_TRUE(connected({"a", "b"}));
  created(small_spec());
  EXPECT_EQ(watch(created(small_spec()).name()).back().campaign().state(), v1::Campaign::FAILED)
      << "no nodes came in time";
  const auto figures = http_client(server_->monitoring_address()->port).Get("/metrics");
  ASSERT_TRUE(figures);
  for (const char* line :
       {"\nstripline_campaigns_failed_total 1\n", "\nstripline_campaigns_open 1\n"}) {
    EXPECT_NE(figures->body.find(line), std::string::npos) << line << figures->body;
  }
}

TEST_F(HttpTest, EveryOperationHasANameOfItsOwn) {
  const Json document = json("openapi.json");
  std::set<std::string> names;
  size_t operations = 0;
  for (const auto& [path, verbs] : document.at("paths").items()) {
    for (const auto& [verb, operation] : verbs.items()) {
      ++operations;
      const std::string name = operation.value("operationId", "");
      EXPECT_TRUE(!name.empty() && name.front() >= 'a' && name.front() <= 'z' &&
                  std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0; }))
          << verb << " " << path << " is called '" << name << "'";
      EXPECT_TRUE(names.insert(name).second) << name << " is the name of two operations";
      for (const Json& parameter : operation.at("parameters")) {
        const Json& type = parameter.at("schema").at("type");
        if (parameter.at("name") == "page_size") {
          EXPECT_EQ(type, "integer") << path;
        }
        if (parameter.at("name") == "with") {
          EXPECT_TRUE(parameter.value("required", false)) << path;
        }
      }
    }
  }
  EXPECT_EQ(names.size(), operations);
  EXPECT_GE(operations, 50U);
}

TEST_F(HttpTest, DescribesItselfAsItIs) {
  tune();
  ASSERT_EQ(post("models/again/fit", R"({"campaigns": ["campaigns/c1"]})")->status, 200);
  const Json document = json("openapi.json");
  const Json& schemas = document.at("components").at("schemas");
  std::set<std::string> references;
  collect_references(document, references);
  for (const std::string& name : references) EXPECT_TRUE(schemas.contains(name)) << name;

  const std::map<std::string, std::string> names = {{"{node}", "a"},    {"{campaign}", "c1"},
                                                    {"{model}", "tcp"}, {"{version}", "1"},
                                                    {"{point}", "0"},   {"{operation}", "o1"}};
  std::set<std::string> answered;
  for (const auto& [path, operations] : document.at("paths").items()) {
    if (!operations.contains("get")) continue;
    std::string asked = path.substr(1);
    for (const auto& [name, value] : names) {
      const size_t at = asked.find(name);
      if (at != std::string::npos) asked.replace(at, name.size(), value);
    }
    const Json& content = operations.at("get").at("responses").at("200").at("content");
    if (asked.find('{') != std::string::npos || !content.contains("application/json")) continue;
    // With itself.
    if (asked.ends_with("compare")) asked += "?with=" + asked.substr(0, asked.rfind('/'));
    if (asked.ends_with("points/columns")) asked += "?experiment=micro.latency";
    if (asked.ends_with("compare/columns")) asked += "?with=campaigns/c1";
    const Json answer = json(asked);
    answered.insert(path);
    const Json& schema = content.at("application/json");
    if (!schema.contains("schema")) continue;
    const std::string reference = schema.at("schema").at("$ref");
    const Json& members = schemas.at(reference.substr(reference.rfind('/') + 1)).at("properties");
    for (const auto& [member, value] : answer.items()) {
      EXPECT_TRUE(members.contains(member)) << path << " answers " << member;
    }
  }
  EXPECT_TRUE(answered.contains("/nodes/{node}") && answered.contains("/models/{model}/versions"));
  EXPECT_TRUE(answered.contains("/campaigns/{campaign}/compare"));
  EXPECT_TRUE(answered.contains("/operations") && answered.contains("/operations/{operation}"));
  const Json& estimate = document.at("paths").at("/campaigns/estimate").at("post");
  EXPECT_EQ(estimate.at("x-role"), "viewer") << "it changes nothing";
  EXPECT_TRUE(schemas.at("EstimateCampaignRequest").at("properties").contains("spec"));
  EXPECT_EQ(document.at("paths").at("/campaigns/{campaign}/delete").at("post").at("x-role"),
            "operator");
  const Json& cancel = document.at("paths").at("/campaigns/{campaign}/cancel").at("post");
  EXPECT_EQ(cancel.at("x-role"), "operator");
  const Json& promote = document.at("paths").at("/models/{model}/versions/{version}/promote");
  EXPECT_EQ(promote.at("post").at("x-role"), "publisher");
  EXPECT_TRUE(promote.at("post").contains("requestBody"));
  for (const char* path : {"/models/{model}/fit", "/operations/{operation}/cancel"}) {
    EXPECT_EQ(document.at("paths").at(path).at("post").at("x-role"), "publisher") << path;
  }
  EXPECT_TRUE(schemas.at("FitModelRequest").at("properties").contains("campaigns"));
  EXPECT_EQ(schemas.at("Campaign").at("properties").at("samples").at("type"), "string")
      << "64 bits, which a double would not hold";
}

TEST_F(HttpTest, WhatDoesNotChangeIsSentOnce) {
  tune();
  const auto first = get("/api/v1/models/tcp/versions/1/file");
  const std::string etag = first->get_header_value("ETag");
  ASSERT_FALSE(etag.empty());
  EXPECT_EQ(get("/api/v1/models/tcp/versions/1/file", "", {{"If-None-Match", etag}})->status, 304);
}

// Pages ask for lists every few seconds.
TEST_F(HttpTest, ListsAreSentAgainWhenTheyHaveChanged) {
  tune();
  const auto first = get("/api/v1/models");
  const httplib::Headers shown = {{"If-None-Match", first->get_header_value("ETag")}};
  EXPECT_EQ(first->get_header_value("Cache-Control"), "no-cache");
  const auto same = get("/api/v1/models", "", shown);
  EXPECT_EQ(same->status, 304);
  EXPECT_EQ(same->body, "");
  EXPECT_EQ(get("/api/v1/models?page_size=0", "", shown)->status, 304) << "it is the same list";
  ASSERT_EQ(post("models/tcp/versions/1/withdraw", R"({"reason": "a test"})")->status, 200);
  const auto changed = get("/api/v1/models", "", shown);
  EXPECT_EQ(changed->status, 200);
  EXPECT_NE(changed->body, first->body);
  EXPECT_EQ(get("/api/v1/audit")->get_header_value("Cache-Control"), "no-store");
}

// A value may hold what stands between two options.
TEST_F(HttpTest, AnAnswerIsKeptForItsOptionsAlone) {
  tune();
  const std::string loop = "models/tcp/versions/1/explain/loop?bytes=4MiB";
  EXPECT_EQ(status(loop + "&compute=20ms"), 200);
  EXPECT_EQ(status(loop + "%26compute%3D20ms"), 400);
  EXPECT_EQ(status(loop + "%265:compute%3D4:20ms"), 400);
}

TEST_F(HttpTest, WrongPathsAndNamesAreRefused) {
  EXPECT_EQ(status("campaigns/c9"), 404);
  EXPECT_EQ(status("campaigns/poem"), 400);
  EXPECT_EQ(status("models/none/versions/1"), 404);
  EXPECT_EQ(status("nodes?page_size=-1"), 400);
  EXPECT_EQ(status("nodes?page_token=x"), 400);
  EXPECT_EQ(status("history?from=yesterday"), 400);
  EXPECT_EQ(status("history?to=2026-06-01T12:00:00Z&from=2026-06-01T12:00:00Z"), 400);
  EXPECT_EQ(status("nowhere"), 404);
  EXPECT_EQ(status("nodes/a/b"), 404);
  EXPECT_EQ(status(""), 404);
  EXPECT_EQ(get("/api")->status, 404);
  const Json problem = Json::parse(get("/api/v1/nodes/none")->body);
  EXPECT_EQ(problem.at("reason"), "NODE_NOT_FOUND");
  EXPECT_EQ(post("nodes")->status, 404) << "nothing is made there";
}

TEST_F(HttpTest, ACampaignIsFollowedToItsEnd) {
  const AutoAgent a(address_, "a");
  const AutoAgent b(address_, "b");
  ASSERT_TRUE(connected({"a", "b"}));
  const auto campaign = created(small_spec());
  std::string text;
  httplib::Client client = http_client(port());
  const auto followed =
      client.Get("/api/v1/" + campaign.name() + "/events", [&](const char* data, size_t size) {
        text.append(data, size);
        return true;
      });
  ASSERT_TRUE(followed);
  EXPECT_EQ(followed->get_header_value("Content-Type"), "text/event-stream");
  EXPECT_TRUE(text.starts_with("id: ")) << text;
  EXPECT_TRUE(text.ends_with("event: end\ndata: \"\"\n\n")) << text;
  // From the last event on there is nothing but the end.
  const size_t last = text.rfind("id: ");
  const std::string cursor = text.substr(last + 4, text.find('\n', last) - last - 4);
  EXPECT_EQ(get("/api/v1/" + campaign.name() + "/events?cursor=" + cursor)->body,
            "event: end\ndata: \"\"\n\n");
}

TEST_F(HttpTest, OneStreamFollowsSeveralCampaigns) {
  const AutoAgent a(address_, "a");
  const AutoAgent b(address_, "b");
  ASSERT_TRUE(connected({"a", "b"}));
  const std::string first = created(small_spec()).name();
  const std::string second = created(small_spec()).name();
  std::string text;
  std::set<std::string> ended;
  httplib::Client client = http_client(port());
  client.Get("/api/v1/events?after=c1:0,c2", [&](const char* data, size_t size) {
    text.append(data, size);
    for (const std::string& name : {first, second}) {
      if (text.find("event: end\ndata: \"" + name + "\"\n\n") != std::string::npos) {
        ended.insert(name);
      }
    }
    return ended.size() < 2;  // it would go on
  });
  EXPECT_EQ(ended.size(), 2U) << text;
  for (const std::string& name : {first, second}) {
    EXPECT_NE(text.find("\"name\":\"" + name + "\""), std::string::npos) << name;
  }
  for (const char* wrong :
       {"", "?after=", "?after=poem", "?after=c1:x", "?after=c1,c1", "?after=c1:1:1"}) {
    EXPECT_EQ(status(std::string("events") + wrong), 400) << wrong;
  }
  std::string many;
  for (int i = 1; i <= 33; ++i) many += (i > 1 ? ",c" : "c") + std::to_string(i);
  EXPECT_EQ(status("events?after=" + many), 400);
  EXPECT_EQ(status("events?after=c9"), 404);
}

TEST_F(HttpTest, PointsThatNoOneReadsAreBounded) {
  tune();
  server_.reset();
  {
    auto store = open_sqlite_store(folder_.path() / kDatabaseFile);
    ASSERT_TRUE(store.ok()) << store.error().message();
    // More than the sockets between hold.
    CampaignPoints points{.campaign = 1, .points = {}, .first = 100'000};
    for (int i = 0; i < 20'000; ++i) {
      points.points.push_back({"kernel.loop", std::to_string(i) + std::string(1000, 'v'), {}});
    }
    const Status stored = (*store)->apply({.points = {points}});
    ASSERT_TRUE(stored.ok()) << stored.error().message();
  }
  start();
  constexpr const char* kPoints = "/api/v1/campaigns/c1/points";
  std::promise<void> go_on;
  const auto may_read = go_on.get_future().share();
  std::atomic<int> begun = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      bool first = true;
      client().Get(kPoints, [&](const char*, size_t) {
        if (std::exchange(first, false)) ++begun;
        may_read.wait();
        return false;
      });
    });
  }
  EXPECT_TRUE(eventually([&] { return begun == 4; }));
  const auto fifth = get(kPoints);
  EXPECT_EQ(fifth->status, 429);
  EXPECT_EQ(Json::parse(fifth->body).at("reason"), "BUSY");
  EXPECT_EQ(status("nodes"), 200) << "all else is answered";
  go_on.set_value();
  for (auto& reader : readers) reader.join();
  EXPECT_TRUE(eventually([&] { return get(kPoints)->status == 200; })) << "places are given back";
}

TEST_F(HttpTest, ACallerHasAsManyStreamsAsHeMay) {
  AutoAgent::Options slow;
  slow.batch_delay_s = 0.2;
  const AutoAgent a(address_, "a", slow);
  const AutoAgent b(address_, "b", slow);
  ASSERT_TRUE(connected({"a", "b"}));
  const std::string campaign = created(model_spec()).name();
  std::atomic<int> open = 0;
  std::vector<std::unique_ptr<httplib::Client>> clients;
  std::vector<std::thread> readers;
  for (int i = 0; i < 8; ++i) {
    auto& client = *clients.emplace_back(std::make_unique<httplib::Client>(http_client(port())));
    readers.emplace_back([&] {
      bool first = true;
      client.Get("/api/v1/" + campaign + "/events", [&](const char*, size_t) {
        if (std::exchange(first, false)) ++open;
        return true;
      });
    });
  }
  EXPECT_TRUE(eventually([&] { return open == 8; }));
  const auto ninth = get("/api/v1/" + campaign + "/events");
  EXPECT_EQ(ninth->status, 429);
  EXPECT_EQ(Json::parse(ninth->body).at("reason"), "TOO_MANY_STREAMS");
  EXPECT_EQ(status("nodes"), 200) << "all else is answered";
  server_->stop();
  for (auto& reader : readers) reader.join();
}

TEST_F(HttpTest, AServerThatStopsEndsItsStreams) {
  AutoAgent::Options slow;
  slow.batch_delay_s = 0.2;
  const AutoAgent a(address_, "a", slow);
  const AutoAgent b(address_, "b", slow);
  ASSERT_TRUE(connected({"a", "b"}));
  const auto campaign = created(model_spec());
  std::string text;
  std::atomic<bool> began = false;
  std::thread reader([&] {
    httplib::Client client = http_client(port());
    client.Get("/api/v1/" + campaign.name() + "/events", [&](const char* data, size_t size) {
      text.append(data, size);
      began = true;
      return true;
    });
  });
  EXPECT_TRUE(eventually([&] { return began.load(); }));
  server_->stop();
  reader.join();
  EXPECT_NE(text.find("event: refused"), std::string::npos) << text;
}

TEST_F(HttpTest, AListOfReportsCountsAsSeveralCalls) {
  int calls = 0;
  while (calls < 900 && status("models/tcp/feedback") != 429) ++calls;
  EXPECT_LT(calls, 900) << "this number of cheap ones may come at once";
}

TEST_F(HttpTest, AHistoryCountsAsSeveralCalls) {
  int calls = 0;
  while (calls < 900 && status("history") != 429) ++calls;
  EXPECT_LT(calls, 900);
}

TEST_F(HttpTest, PagesAreSentAsTheyWereCompressed) {
  const auto form = [&](const char* encoding) {
    return client().Get("/app.js", {{"Accept-Encoding", encoding}});
  };
  const auto plain = form("identity");
  if (plain->status == 404) GTEST_SKIP() << "built without the dashboard";
  // The client inflates what it gets; what was sent is in its length.
  const auto length = [](const httplib::Result& got) {
    return std::stoul(got->get_header_value("Content-Length"));
  };
  for (const char* encoding : {"gzip", "br"}) {
    const auto got = form(encoding);
    EXPECT_EQ(got->get_header_value("Content-Encoding"), encoding);
    EXPECT_EQ(got->get_header_value("Vary"), "Accept-Encoding");
    EXPECT_LT(length(got), length(plain) / 2) << encoding;
    EXPECT_EQ(got->body, plain->body) << encoding;
    EXPECT_NE(got->get_header_value("ETag"), plain->get_header_value("ETag"));
    const auto again = client().Get("/app.js", {{"Accept-Encoding", encoding},
                                                {"If-None-Match", got->get_header_value("ETag")}});
    EXPECT_EQ(again->status, 304);
  }
  EXPECT_EQ(form("br;q=0")->get_header_value("Content-Encoding"), "");
  const auto worker = client().Get("/events.js", {{"Accept-Encoding", "br"}});
  EXPECT_EQ(worker->status, 200) << "what all tabs of a browser share";
  EXPECT_EQ(worker->get_header_value("Content-Encoding"), "br");
}

TEST_F(HttpTest, AnswersAreNotCompressedDearly) {
  EXPECT_EQ(client()
                .Get("/api/v1/nodes", {{"Accept-Encoding", "br, gzip"}})
                ->get_header_value("Content-Encoding"),
            "");
}

TEST_F(HttpTest, PagesAreServedToBrowsersAlone) {
  const auto page = get("/");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_NE(page->get_header_value("Content-Security-Policy").find("default-src 'self'"),
            std::string::npos);
  EXPECT_EQ(get("/../etc/passwd")->status, 404);
}

class DevHttpTest : public HttpTest {
 protected:
  void SetUp() override {
    options_.protection = Protection::own_user;
    HttpTest::SetUp();
  }
};

TEST_F(DevHttpTest, AsksForTheSecretOfThisStart) {
  EXPECT_EQ(status("nodes"), 401);
  EXPECT_EQ(status("nodes", "wrong"), 401);
  EXPECT_EQ(get("/")->status, 200) << "the pages themselves hold no secret";
  const auto file = pki::dev_token_file(std::to_string(server_->address().port));
  const std::string text = *pki::read_secret_line(file->string());
  EXPECT_EQ(status("nodes", text), 200) << "as it stands in the file";
  EXPECT_EQ(json("whoami", pki::parse_token(text)->secret).at("name"), "users/dev");
}

class TlsHttpTest : public HttpTest {
 protected:
  void SetUp() override {
    const auto made = initialise(folder_.path(), {"127.0.0.1"}, unix_seconds());
    ASSERT_TRUE(made.ok()) << made.error().message();
    admin_ = *pki::read_secret_line(made->admin_token_file.string());
    options_.protection = Protection::certificates;
    HttpTest::SetUp();
  }

  std::string token(v1::Role role, const std::string& subject) {
    grpc::SslCredentialsOptions ssl;
    ssl.pem_root_certs = read_file(folder_ / "tls" / "authority.pem");
    const auto stub = v1::Admin::NewStub(grpc::CreateChannel(address_, grpc::SslCredentials(ssl)));
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + pki::parse_token(admin_)->secret);
    v1::CreateTokenRequest request;
    request.set_role(role);
    request.set_subject(subject);
    v1::CreateTokenResponse response;
    const grpc::Status status = stub->CreateToken(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.text();
  }

  std::string admin_;
};

// What the description says of each path, for each role. Names that nothing has stand in paths, so
// that nothing is done for those who may.
TEST_F(TlsHttpTest, EveryPathLetsInWhomItSays) {
  const std::vector<std::string> roles = {"viewer", "operator", "publisher", "admin"};
  std::vector<std::string> tokens;
  for (const v1::Role role : {v1::VIEWER, v1::OPERATOR, v1::PUBLISHER, v1::ADMIN}) {
    tokens.push_back(token(role, "one-" + std::to_string(role)));
  }
  const Json paths = json("openapi.json", admin_).at("paths");
  std::set<std::string> seen;
  for (const auto& [path, verbs] : paths.items()) {
    std::string named = path.substr(1);
    for (size_t at = named.find('{'); at != std::string::npos; at = named.find('{')) {
      named.replace(at, named.find('}', at) + 1 - at, "none");
    }
    for (const auto& [verb, about] : verbs.items()) {
      const auto status_for = [&, is_post = verb == "post"](const std::string& bearer) {
        const auto answer = is_post ? post(named, "{}", bearer) : get("/api/v1/" + named, bearer);
        if (answer && answer->status == 403) {
          EXPECT_EQ(Json::parse(answer->body).at("reason"), "PERMISSION_DENIED") << named;
        }
        return answer ? answer->status : -1;
      };
      EXPECT_EQ(status_for(""), 401) << verb << " " << path;
      const std::string needed = about.at("x-role");
      seen.insert(needed);
      bool may = false;
      for (size_t i = 0; i < roles.size(); ++i) {
        may = may || roles[i] == needed;
        const int status = status_for(tokens[i]);
        EXPECT_TRUE(may ? status > 0 && status != 401 && status != 403 : status == 403)
            << roles[i] << ": " << verb << " " << path << ": " << status;
      }
    }
  }
  EXPECT_EQ(seen, std::set<std::string>(roles.begin(), roles.end()));
}

// As the tabs and tools of those behind one address do.
TEST_F(TlsHttpTest, ManyOfOneAddressAreAnsweredAtOnce) {
  std::vector<std::future<int>> all;
  for (int i = 0; i < 64; ++i) {
    all.push_back(std::async(std::launch::async, [this] { return status("nodes", admin_); }));
  }
  for (auto& one : all) EXPECT_EQ(one.get(), 200);
}

TEST_F(TlsHttpTest, ServesByTlsToThoseWithAToken) {
  EXPECT_TRUE(server_->http_url()->starts_with("https://"));
  EXPECT_EQ(status("nodes"), 401);
  EXPECT_EQ(json("whoami", admin_).at("role"), "ADMIN");
  httplib::Client plain = http_client(port());
  const auto answer = plain.Get("/api/v1/nodes");
  EXPECT_TRUE(!answer || answer->status != 200);
}

}  // namespace
}  // namespace stripline::server
