// What every call of gRPC and every path of HTTP answers, held against recorded_answers.txt: an
// answer and an error of each call. 'server_answers_test --record', from the top of the tree,
// writes the file.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor_database.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/pki/certificate.h"
#include "base/pki/secret_file.h"
#include "base/pki/token.h"
#include "base/whole_file.h"
#include "optimizer/campaign/offline_results.h"
#include "optimizer/experiment/tuning.h"
#include "optimizer/model/feedback.h"
#include "proto/rpc_error.h"
#include "server/clock.h"
#include "server/core/reads.h"
#include "server/doors/grpc_access.h"
#include "server/process/initialise.h"
#include "server/process/server.h"
#include "server/testing/agent_client.h"
#include "server/testing/http_client.h"
#include "server/testing/packed_settings.h"
#include "server/testing/tuned_store.h"
#include "stripline/v1/access.pb.h"
#include "stripline/v1/agents.pb.h"
#include "stripline/v1/campaigns.pb.h"

namespace stripline::server {
namespace {

bool record = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): main's argument

constexpr const char* kSpec =
    R"({"fabric":"tcp","experiments":["kernel.loop"],"runs":3,"seed":"7","when_busy":"measure"})";
// Members that do not depend on the call alone: times, the size of what holds times, secrets.
constexpr std::array<std::string_view, 5> kVolatile = {"seconds_left", "certificate_days_left",
                                                       "node_s", "size_bytes", "text"};
constexpr size_t kMaxTextShown = 300;
constexpr size_t kMaxElementsShown = 3;
constexpr size_t kMaxMembersShown = 30;
// No request of it is refused.
const std::set<std::string> kNeverRefused = {"/stripline.v1.Admin/GetSignIn"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

// The length of the RFC 3339 time that a text begins with; 0: it begins with none.
size_t time_at(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:dd";
  if (text.size() <= kForm.size()) return 0;
  for (size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] == 'd' ? !is_digit(text[i]) : text[i] != kForm[i]) return 0;
  }
  size_t end = kForm.size();
  while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
  return end < text.size() && text[end] == 'Z' ? end + 1 : 0;
}

// Without times, hashes and what else is random; its beginning, if it is long.
std::string normal(std::string_view text) {
  constexpr size_t kFewestHexDigits = 16;
  if (text.starts_with("-----BEGIN")) return "<PEM>";
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t hex = at;
    while (hex < text.size() && is_hex(text[hex])) ++hex;
    if (const size_t time = time_at(text.substr(at)); time > 0) {
      out += "<time>";
      at += time;
    } else if (hex - at >= kFewestHexDigits) {
      out += "<hex>";
      at = hex;
    } else {
      // All of the digits at once: what follows some of them is not a beginning.
      const size_t end = std::max(hex, at + 1);
      out += text.substr(at, end - at);
      at = end;
    }
    if (out.size() > kMaxTextShown) return out.substr(0, kMaxTextShown) + "...";
  }
  return out;
}

// Four digits: compilers and processors do not agree on the last ones of what is fitted.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10, 3 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

Json normal(const Json& json, std::string_view key = "") {
  if (std::ranges::find(kVolatile, key) != kVolatile.end()) return "<varies>";
  if (json.is_number_float()) return rounded(json.get<double>());
  if (json.is_string()) return normal(std::string_view(json.get_ref<const std::string&>()));
  if (!json.is_structured()) return json;
  const size_t most = json.is_array() ? kMaxElementsShown : kMaxMembersShown;
  const size_t shown = json.size() > most ? kMaxElementsShown : json.size();
  const std::string more = "... of " + std::to_string(json.size());
  if (json.is_array()) {
    std::vector<Json> elements;
    for (const Json& element : json) elements.push_back(normal(element));
    // In the order of their names, which are random.
    if (key == "tokens") std::sort(elements.begin(), elements.end());
    elements.resize(shown);
    if (shown < json.size()) elements.emplace_back(more);
    return elements;
  }
  Json members = Json::object();
  for (const auto& [name, value] : json.items()) {
    if (members.size() == shown) break;
    members[normal(std::string_view(name))] = normal(value, name);
  }
  if (shown < json.size()) members[more] = "";
  return members;
}

std::string line_of(const Json& json) { return dumped(normal(json)); }

std::string json_of(const google::protobuf::Message& message) { return *json_text(message); }

class RecordedAnswersTest : public TunedStoreTest {
 protected:
  struct Answers {
    bool ok = false;
    std::vector<Json> messages;  // as they came
  };

  void SetUp() override {
    StoreTest::SetUp();
    fill();
    store_.reset();
    const auto made = initialise(folder_.path(), {"127.0.0.1"}, unix_seconds());
    ASSERT_TRUE(made.ok()) << made.error().message();
    admin_ = pki::parse_token(*pki::read_secret_line(made->admin_token_file.string()))->secret;
    ServerOptions options;
    options.data_dir = folder_.path();
    options.listen = {"127.0.0.1", 0};
    options.http = ListenAddress{"127.0.0.1", 0};
    options.protection = Protection::certificates;
    // Runs that are given out stay where they are, and fits in progress.
    constexpr double kNever_s = 3600;
    options.coordinator.heartbeat_interval_s = kNever_s;
    options.coordinator.lease_s = kNever_s;
    options.coordinator.join_timeout_s = kNever_s;
    options.fitter = [this](const FitJob& /*job*/,
                            const std::stop_token& stop) -> Result<FittedModel> {
      ++fits_;
      while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return Error(ErrorCode::cancelled, "it was cancelled");
    };
    auto server = Server::start(options);
    ASSERT_TRUE(server.ok()) << server.error().message();
    server_ = std::make_unique<Server>(std::move(*server));
    authority_pem_ = *read_whole_file(folder_.path() / "tls" / "authority.pem");
    callers_ = channel("", "");
  }

  void fill() {
    SyntheticMachine slower;
    slower.L *= 3;
    measure_campaign(1, SyntheticMachine());
    measure_campaign(2, SyntheticMachine());
    measure_campaign(3, slower);
    for (int64_t number = 1; number <= 3; ++number) published(number, 0.01);
    model_ = fitted();
    Changes changes;
    for (const char* node : {"y", "z"}) {
      changes.nodes.push_back({node, "0.1.0", {{"cpu.model", "synthetic"}}, {"tcp"}, {}, 5});
    }
    apply(changes);
  }

  std::shared_ptr<grpc::Channel> channel(const std::string& certificate_pem,
                                         const std::string& key_pem) const {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = authority_pem_;
    options.pem_cert_chain = certificate_pem;
    options.pem_private_key = key_pem;
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(server_->address().text(), grpc::SslCredentials(options),
                                     arguments);
  }

  // A call of any kind, with these requests in their JSON form, and what it answers.
  Answers grpc_call(const std::string& method, const std::vector<std::string>& requests,
                    const std::string& bearer, const std::shared_ptr<grpc::Channel>& connection) {
    std::string name = method.substr(1);
    std::ranges::replace(name, '/', '.');
    const auto* const about =
        google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(name);
    EXPECT_NE(about, nullptr) << method;
    if (about == nullptr) return {};

    grpc::GenericStub stub(connection);
    grpc::ClientContext context;
    if (!bearer.empty()) context.AddMetadata("authorization", "Bearer " + bearer);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    grpc::CompletionQueue queue;
    const auto done = [&] {
      void* tag = nullptr;
      bool ok = false;
      return queue.Next(&tag, &ok) && ok;
    };
    const auto stream = stub.PrepareCall(&context, method, &queue);
    stream->StartCall(nullptr);
    bool open = done();
    for (size_t i = 0; i < requests.size() && open; ++i) {
      const auto request = message_of(*about->input_type());
      const auto read = google::protobuf::util::JsonStringToMessage(requests[i], request.get());
      EXPECT_TRUE(read.ok()) << method << " " << requests[i] << ": " << read.ToString();
      const grpc::Slice bytes(request->SerializeAsString());
      stream->Write(grpc::ByteBuffer(&bytes, 1), nullptr);
      open = done();
    }
    if (open) {
      stream->WritesDone(nullptr);
      done();
    }
    Answers answers;
    while (true) {
      grpc::ByteBuffer buffer;
      stream->Read(&buffer, nullptr);
      if (!done()) break;
      answers.messages.push_back(json_of_bytes(*about->output_type(), buffer));
    }
    grpc::Status status;
    stream->Finish(&status, nullptr);
    done();

    std::string request;
    for (const std::string& one : requests) request += " " + line_of(Json::parse(one));
    const RpcError error = rpc_error_from(status);
    answers.ok = status.ok();
    note(method,
         "gRPC " + method + (bearer.empty() && connection == callers_ ? " -" : "") + request,
         status.ok() ? "OK"
                     : std::to_string(status.error_code()) + " " + error.reason + ": " +
                           normal(std::string_view(status.error_message())),
         status.ok(), answers.messages);
    return answers;
  }

  Answers grpc_call(const std::string& method, const std::string& request) {
    return grpc_call("/stripline.v1." + method, {request}, admin_, callers_);
  }

  // A path of /api/v1 by the name of its operation.
  Json http_call(const std::string& operation, const std::string& path,
                 const std::string& body = "{}") {
    return http_call(operation, path, body, web_);
  }
  Json http_call(const std::string& operation, const std::string& path, const std::string& body,
                 const std::string& bearer) {
    auto client = http_client(server_->http_url()->substr(0, server_->http_url()->size() - 1));
    client.set_ca_cert_path((folder_.path() / "tls" / "authority.pem").string());
    httplib::Headers headers;
    if (!bearer.empty()) headers.emplace("Authorization", "Bearer " + bearer);
    const bool is_post = operations_.at(operation) == "post";
    int status = 0;
    std::string type;
    std::string body_of_answer;
    const auto take = [&](const httplib::Response& head) {
      status = head.status;
      type = head.get_header_value("Content-Type");
      return true;
    };
    if (is_post) {
      const auto answer = client.Post("/api/v1/" + path, headers, body, "application/json");
      EXPECT_TRUE(answer) << path << ": " << httplib::to_string(answer.error());
      if (!answer) return {};
      take(*answer);
      body_of_answer = answer->body;
    } else {
      // A stream of several campaigns goes on when the last of them has ended, and is left then.
      bool ended = false;
      const auto more = [&](const char* data, size_t bytes) {
        body_of_answer.append(data, bytes);
        ended =
            type == "text/event-stream" && body_of_answer.find("event: end\n") < std::string::npos;
        return !ended;
      };
      const auto answer = client.Get("/api/v1/" + path, headers, take, more);
      EXPECT_TRUE(answer || ended) << path << ": " << httplib::to_string(answer.error());
      if (!answer && !ended) return {};
    }
    std::vector<Json> messages;
    if (type.starts_with("application/json")) {
      messages.push_back(Json::parse(body_of_answer, nullptr, false));
    } else {
      messages = events_of(body_of_answer);
    }
    note(operation,
         std::string("HTTP ") + (is_post ? "POST " : "GET ") + operation + " " +
             normal(std::string_view(path)) + (bearer.empty() ? " -" : "") +
             (is_post ? " " + line_of(Json::parse(body)) : ""),
         std::to_string(status) + " " + type, status == 200, messages);
    return messages.empty() ? Json() : messages.front();
  }

  // The paths of the description, by operation: "get" or "post", and the path with its parameters.
  void read_operations() {
    const Json description = http_description();
    for (const auto& [path, verbs] : description.at("paths").items()) {
      for (const auto& [verb, about] : verbs.items()) {
        if (verb != "get" && verb != "post") continue;
        const auto operation = about.at("operationId").get<std::string>();
        operations_[operation] = verb;
        paths_[operation] = path.substr(1);
      }
    }
  }

  // A certificate for a node, by a token that enrols.
  std::shared_ptr<grpc::Channel> enrolled(const std::string& node, const std::string& token) {
    const auto key = pki::PrivateKey::generate();
    v1::EnrollRequest request;
    request.set_token(token);
    request.set_node(node);
    request.set_request_pem(*pki::make_request(*key));
    // Its request differs each time: only its answer is recorded.
    const auto answers = grpc_call("/stripline.v1.Agents/Enroll", {json_of(request)}, "", callers_);
    EXPECT_TRUE(answers.ok) << node;
    if (answers.messages.empty()) return callers_;
    return channel(answers.messages.front().at("certificate_pem").get<std::string>(), *key->pem());
  }

  // As 'run-plan' would have written it.
  static std::string results_of(const std::string& plan) {
    campaign::OfflineResults results;
    results.plan = *campaign::read_bundle(plan);
    for (uint32_t number = 1; number <= results.plan.rule.runs; ++number) {
      campaign::OfflineRun run;
      run.grid = results.plan.rule.all_points;
      run.start_s = 0.5;
      run.duration_s = 2;
      run.rank_nodes = {"a", "b"};
      for (const std::string& node : run.rank_nodes) run.facts[node] = {{"cpu.model", "synthetic"}};
      std::vector<experiment::SampleSeries>& all = run.batches.emplace_back();
      for (const experiment::Point& point : results.plan.assignment.points) {
        all.push_back(measure(SyntheticMachine(), point, number, number));
      }
      results.runs.push_back(std::move(run));
    }
    results.spent_s = 2 * results.plan.rule.runs;
    results.reason = campaign::StopReason::max_runs;
    return *campaign::results_text(results);
  }

  std::string report() const {
    model::Feedback report;
    report.model_sha256 = model_.sha256;
    report.run = "x";
    report.program = "t";
    report.fabric = "tcp";
    report.ranks = 2;
    report.places = {{"t.cc:17", "get", "packed", 2, 9, 8, 1e-3, 2e-3, 1, 3e-3, 1}};
    return model::report_text(report);
  }

  // Until the fitter has begun as often: before, what operations say of themselves changes.
  void wait_for_fits(int count) const {
    const double end_s = steady_seconds() + kTestPatienceS;
    while (fits_ < count && steady_seconds() < end_s) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_GE(fits_, count);
  }

  void refusals();
  void fleet();
  void models_by_grpc();
  void settings();
  void campaigns_by_grpc();
  void all_by_http();

  // By call: true for an answer, false for an error.
  std::map<std::string, std::set<bool>> seen_;
  std::vector<std::string> lines_;
  std::map<std::string, std::string> operations_;
  std::map<std::string, std::string> paths_;
  std::string results_;  // of a campaign without a server

 private:
  void note(const std::string& call, const std::string& title, const std::string& outcome, bool ok,
            const std::vector<Json>& messages) {
    seen_[call].insert(ok);
    // Requests of certificates, and tokens in them.
    lines_.push_back("@ " + (call == "/stripline.v1.Agents/Enroll" && ok ? "gRPC " + call : title));
    lines_.push_back("= " + outcome);
    for (size_t i = 0; i < std::min(messages.size(), kMaxElementsShown); ++i) {
      lines_.push_back("< " + line_of(messages[i]));
    }
    if (messages.size() > kMaxElementsShown) {
      lines_.push_back("< ... of " + std::to_string(messages.size()));
    }
  }

  Json http_description() {
    operations_["getDescription"] = "get";
    return http_call("getDescription", "openapi.json", "", admin_);
  }

  static std::unique_ptr<google::protobuf::Message> message_of(
      const google::protobuf::Descriptor& type) {
    const auto* const prototype =
        google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type);
    return std::unique_ptr<google::protobuf::Message>(prototype->New());
  }

  // A member "data" of bytes is shown as text: all of them are.
  static Json json_of_bytes(const google::protobuf::Descriptor& type,
                            const grpc::ByteBuffer& buffer) {
    std::vector<grpc::Slice> slices;
    EXPECT_TRUE(buffer.Dump(&slices).ok());
    std::string bytes;
    for (const grpc::Slice& slice : slices) bytes.append(slice.begin(), slice.end());
    const auto message = message_of(type);
    EXPECT_TRUE(message->ParseFromString(bytes)) << type.full_name();
    const auto* const data = type.FindFieldByName("data");
    std::string text;
    if (data != nullptr && data->type() == google::protobuf::FieldDescriptor::TYPE_BYTES) {
      text = message->GetReflection()->GetString(*message, data);
      message->GetReflection()->ClearField(message.get(), data);
    }
    Json json = Json::parse(json_of(*message));
    if (!text.empty()) json["data"] = text;
    return json;
  }

  // What the lines of a stream of events hold; those that only keep it alive say nothing.
  static std::vector<Json> events_of(const std::string& body) {
    std::vector<Json> events;
    std::istringstream text(body);
    for (std::string line; std::getline(text, line);) {
      constexpr std::string_view kData = "data: ";
      if (line.starts_with(kData)) {
        events.push_back(Json::parse(line.substr(kData.size()), nullptr, false));
      }
    }
    return events;
  }

  FittedModel model_;
  std::atomic<int> fits_ = 0;  // that have begun
  std::unique_ptr<Server> server_;
  std::string authority_pem_;
  std::shared_ptr<grpc::Channel> callers_;
  std::string admin_;
  std::string web_;  // an administrator's token, with an allowance of calls of its own
  std::unique_ptr<AgentClient> a_;
  std::unique_ptr<AgentClient> b_;
};

// Each call without a token, and with one, but without saying what is asked for.
void RecordedAnswersTest::refusals() {
  for (const auto& [method, role] : method_roles()) {
    grpc_call(method, {"{}"}, "", callers_);
    grpc_call(method, {"{}"}, admin_, callers_);
  }
  for (const auto& [operation, path] : paths_) {
    std::string named;
    for (size_t at = 0; at < path.size(); ++at) {
      const bool is_name = path[at] == '{';
      named += is_name ? std::string("none") : path.substr(at, 1);
      if (is_name) at = path.find('}', at);
    }
    http_call(operation, named, "{}", "");
    http_call(operation, named, "{}", admin_);
  }
  // What is answered without anything being asked for can be asked for wrongly.
  for (const char* list : {"Campaigns/ListCampaigns", "Fleet/ListNodes", "Models/ListModels",
                           "Operations/ListOperations", "Admin/ListAuditEvents"}) {
    grpc_call(list, R"({"page_token":"nonsense"})");
  }
  grpc_call("Fleet/GetHistory", R"({"from":"yesterday"})");
  http_call("getHistory", "history?from=yesterday", "{}", admin_);
}

void RecordedAnswersTest::fleet() {
  grpc_call("Admin/WhoAmI", "{}");
  const auto web = grpc_call("Admin/CreateToken", R"({"role":"ADMIN","subject":"web"})");
  ASSERT_TRUE(web.ok);
  web_ = pki::parse_token(web.messages.front().at("text").get<std::string>())->secret;
  const auto made = grpc_call("Admin/CreateToken", R"({"role":"AGENT","count":3})");
  ASSERT_TRUE(made.ok);
  const auto token = made.messages.front().at("text").get<std::string>();
  const auto a = enrolled("a", token);
  const auto b = enrolled("b", token);
  v1::AgentMessage hello;
  *hello.mutable_hello() = test_hello("r");
  grpc_call("/stripline.v1.Agents/Session", {json_of(hello)}, "", enrolled("r", token));
  a_ = std::make_unique<AgentClient>(a, test_hello("a"));
  ASSERT_TRUE(a_->receive(v1::ServerMessage::kHelloAck));
  // One that lets another runtime be tuned, and installs settings of it.
  v1::Hello with_target = test_hello("b");
  with_target.add_fabrics(experiment::tuning_fabric("openmpi"));
  with_target.add_fabrics(experiment::settings_fabric("openmpi"));
  with_target.add_experiments_json(experiment::to_json(experiment::tune_declaration()).dump());
  (*with_target.mutable_fingerprint())[experiment::version_fact("openmpi")] = "4.1.4";
  b_ = std::make_unique<AgentClient>(b, with_target);
  ASSERT_TRUE(b_->receive(v1::ServerMessage::kHelloAck));

  grpc_call("Admin/RevokeNode", R"({"name":"nodes/r"})");
  grpc_call("Admin/ListTokens", "{}");
  grpc_call("Admin/RevokeToken",
            Json{{"name", made.messages.front().at("token").at("name")}}.dump());
  grpc_call("Fleet/GetServerStatus", "{}");
  grpc_call("Fleet/ListNodes", "{}");
  grpc_call("Fleet/GetNode", R"({"name":"nodes/a"})");
  grpc_call("Fleet/CordonNode", R"({"name":"nodes/a","reason":"a new NIC"})");
  grpc_call("Fleet/DrainNode", R"({"name":"nodes/a","time_limit_s":60})");
  grpc_call("Fleet/UncordonNode", R"({"name":"nodes/a"})");
  grpc_call("Fleet/RemoveNode", R"({"name":"nodes/a"})");
  grpc_call("Fleet/RemoveNode", R"({"name":"nodes/z"})");
}

void RecordedAnswersTest::models_by_grpc() {
  const std::string first = R"("name":"models/tcp/versions/1")";
  grpc_call("Models/ListModels", "{}");
  grpc_call("Models/GetModel", R"({"name":"models/tcp"})");
  grpc_call("Models/ListModelVersions", R"({"parent":"models/tcp"})");
  grpc_call("Models/GetModelVersion", "{" + first + "}");
  grpc_call("Models/FetchModelVersion", "{" + first + "}");
  grpc_call("Models/ValidateModelVersion", "{" + first + R"(,"campaigns":["campaigns/c1"]})");
  grpc_call("Models/ValidateModelVersion", "{" + first + R"(,"campaigns":["campaigns/c2"]})");
  grpc_call("Models/CheckModelVersion", "{" + first + R"(,"campaign":"campaigns/c2"})");
  grpc_call("Models/PromoteModelVersion", "{" + first + R"(,"label":"stable"})");
  grpc_call("Models/PromoteModelVersion", R"({"name":"models/tcp/versions/2","label":"stable"})");
  grpc_call("Models/RollbackModelLabel", R"({"name":"models/tcp/labels/stable"})");
  v1::ImportModelVersionRequest import;
  import.set_content(model_.content);
  grpc_call("Models/ImportModelVersion", json_of(import));
  grpc_call("Models/WithdrawModelVersion",
            R"({"name":"models/tcp/versions/4","reason":"a busy host"})");
  v1::SendFeedbackRequest feedback;
  feedback.set_content(report());
  grpc_call("Models/SendFeedback", json_of(feedback));
  grpc_call("Models/ListFeedback", R"({"parent":"models/tcp"})");
  const auto fit =
      grpc_call("Models/FitModel", R"({"model":"models/tcp","campaigns":["campaigns/c1"]})");
  ASSERT_TRUE(fit.ok);
  wait_for_fits(1);
  const std::string operation = Json{{"name", fit.messages.front().at("name")}}.dump();
  grpc_call("Operations/GetOperation", operation);
  grpc_call("Operations/ListOperations", "{}");
  grpc_call("Operations/CancelOperation", operation);
}

// Versions that hold settings of another runtime, and campaigns that tune it.
void RecordedAnswersTest::settings() {
  v1::ImportModelVersionRequest import;
  import.set_content(packed_settings());
  grpc_call("Models/ImportModelVersion", json_of(import));
  import.set_parent("models/tcp");
  grpc_call("Models/ImportModelVersion", json_of(import));
  import.clear_parent();
  import.set_content(R"({"format":"stripline export 1"})");
  grpc_call("Models/ImportModelVersion", json_of(import));
  const std::string version = "models/openmpi/versions/1";
  const std::string named = R"("name":")" + version + '"';
  grpc_call("Models/GetModelVersion", "{" + named + "}");
  grpc_call("Models/FetchModelVersion", "{" + named + "}");
  grpc_call("Models/ValidateModelVersion", "{" + named + R"(,"campaigns":["campaigns/c1"]})");
  grpc_call("Models/CheckModelVersion", "{" + named + R"(,"campaign":"campaigns/c1"})");
  grpc_call("Models/PromoteModelVersion", "{" + named + R"(,"label":"stable"})");
  http_call("getModelVersion", version);
  http_call("getModelFile", version + "/file");
  http_call("getGate", version + "/gate");
  http_call("listSentinels", version + "/sentinels");
  http_call("explainDecision", version + "/explain/loop?bytes=4MiB&compute=20ms");
  http_call("compareModelVersions", version + "/compare?with=" + version);
  for (const char* spec :
       {R"({"fabric":"tune:openmpi","tune_ranks":"2,4","tune_path":"tcp","commutative_only":true})",
        R"({"fabric":"tune:openmpi","tune_ranks":"1"})", R"({"fabric":"tune:mpich"})",
        R"({"fabric":"target:openmpi"})", R"({"fabric":"tcp","accept_untried":true})"}) {
    const std::string asked = std::string(R"({"spec":)") + spec + "}";
    grpc_call("Campaigns/EstimateCampaign", asked);
    http_call("estimateCampaign", "campaigns/estimate", asked);
  }
}

void RecordedAnswersTest::campaigns_by_grpc() {
  const std::string spec = std::string(R"({"spec":)") + kSpec + "}";
  grpc_call("Campaigns/EstimateCampaign", spec);
  const auto plan = grpc_call("Campaigns/ExportPlan", spec);
  ASSERT_TRUE(plan.ok);
  std::string text;
  for (const Json& part : plan.messages) text += part.at("data").get<std::string>();
  v1::ResultsChunk results;
  results.set_data(results_of(text));
  results_ = json_of(results);
  const auto imported = grpc_call("Campaigns/ImportResults", results_);
  ASSERT_TRUE(imported.ok);
  const std::string name = Json{{"name", imported.messages.front().at("name")}}.dump();
  grpc_call("Campaigns/GetCampaign", name);
  grpc_call("Campaigns/ListCampaigns", R"({"page_size":2})");
  grpc_call("Campaigns/ListPoints", name);
  const Json campaign = imported.messages.front().at("name");
  grpc_call("Campaigns/CompareCampaigns",
            Json{{"baseline", campaign}, {"candidate", campaign}}.dump());
  grpc_call("Campaigns/ExportSamples", name);
  grpc_call("Campaigns/WatchCampaign", name);

  // The first one takes the nodes, the others wait for them.
  ASSERT_TRUE(grpc_call("Campaigns/CreateCampaign", spec).ok);
  const auto waiting = grpc_call("Campaigns/CreateCampaign", spec);
  ASSERT_TRUE(waiting.ok);
  const std::string other = Json{{"name", waiting.messages.front().at("name")}}.dump();
  Json labelled = Json::parse(other);
  labelled["labels"] = Json::array({"weekly"});
  grpc_call("Campaigns/LabelCampaign", labelled.dump());
  for (const char* call : {"PauseCampaign", "ResumeCampaign", "DeleteCampaign", "CancelCampaign",
                           "RetryCampaign", "CancelCampaign", "DeleteCampaign"}) {
    grpc_call(std::string("Campaigns/") + call, other);
  }
  grpc_call("Admin/ListAuditEvents", R"({"page_size":2})");
  grpc_call("Fleet/GetHistory", "{}");
}

void RecordedAnswersTest::all_by_http() {
  const std::string version = "models/tcp/versions/1";
  http_call("whoAmI", "whoami");
  http_call("getServerStatus", "status");
  http_call("listNodes", "nodes?page_size=1");
  http_call("getNode", "nodes/a");
  http_call("cordonNode", "nodes/a/cordon", R"({"reason":"a new NIC"})");
  http_call("drainNode", "nodes/a/drain", R"({"time_limit_s":60})");
  http_call("uncordonNode", "nodes/a/uncordon");
  http_call("removeNode", "nodes/y/remove");

  http_call("listModels", "models");
  http_call("getModel", "models/tcp");
  http_call("listModelVersions", "models/tcp/versions?page_size=1");
  http_call("getModelVersion", version);
  http_call("listFeedback", "models/tcp/feedback");
  http_call("listVersionFeedback", version + "/feedback");
  http_call("getModelFile", version + "/file");
  http_call("listDecisions", "explain");
  http_call("explainDecision", version + "/explain/loop?bytes=4MiB&compute=20ms");
  http_call("tabulateDecisions", version + "/decisions/loop?bytes=4MiB,8MiB&compute=20ms");
  http_call("compareModelVersions", version + "/compare?with=models/tcp/versions/2");
  http_call("listSentinels", version + "/sentinels");
  http_call("getGate", version + "/gate");
  http_call("promoteModelVersion", "models/tcp/versions/2/promote", R"({"label":"stable"})");
  http_call("listLabelMoves", "models/tcp/labels");
  http_call("rollbackModelLabel", "models/tcp/labels/stable/rollback");
  http_call("validateModelVersion", version + "/validate", R"({"campaigns":["campaigns/c2"]})");
  http_call("checkModelVersion", version + "/check", R"({"campaign":"campaigns/c2"})");
  http_call("withdrawModelVersion", "models/tcp/versions/3/withdraw", R"({"reason":"a test"})");
  const Json fit = http_call("fitModel", "models/tcp/fit", R"({"campaigns":["campaigns/c1"]})");
  wait_for_fits(2);
  const std::string operation = fit.value("name", "");
  http_call("listOperations", "operations");
  http_call("getOperation", operation);
  http_call("cancelOperation", operation + "/cancel");

  Json chunk = Json::parse(results_);
  chunk["upload"] = "u1";
  chunk["last"] = true;
  const Json imported = http_call("importResults", "campaigns/import", chunk.dump());
  const std::string name = imported.value("name", "");
  http_call("listCampaigns", "campaigns?page_size=1");
  http_call("getCampaign", name);
  http_call("getPoints", name + "/points");
  http_call("getPointSummary", name + "/points/summary");
  http_call("getPointColumns", name + "/points/columns?experiment=kernel.loop");
  http_call("getSamplesOfPoint", name + "/points/0");
  http_call("listRuns", name + "/runs");
  http_call("watchCampaign", name + "/events");
  http_call("watchCampaigns", "events?after=" + name.substr(name.rfind('/') + 1) + ":0");
  http_call("compareCampaigns", name + "/compare?with=" + name);
  http_call("getComparisonColumns", name + "/compare/columns?with=" + name);
  const std::string spec = std::string(R"({"spec":)") + kSpec + "}";
  http_call("estimateCampaign", "campaigns/estimate", spec);
  const std::string created = http_call("createCampaign", "campaigns", spec).value("name", "");
  http_call("labelCampaign", created + "/label", R"({"labels":["weekly"]})");
  http_call("pauseCampaign", created + "/pause");
  http_call("resumeCampaign", created + "/resume");
  http_call("cancelCampaign", created + "/cancel");
  http_call("retryCampaign", created + "/retry");
  http_call("cancelCampaign", created + "/cancel");
  http_call("deleteCampaign", created + "/delete");

  http_call("listTokens", "tokens");
  const Json made = http_call("createToken", "tokens", R"({"role":"VIEWER","subject":"eve"})");
  http_call("revokeToken", made.value("token", Json::object()).value("name", "") + "/revoke");
  http_call("listAuditEvents", "audit?page_size=2");
  http_call("getHistory", "history");
}

TEST_F(RecordedAnswersTest, AreAsRecorded) {
  ASSERT_NO_FATAL_FAILURE(read_operations());
  refusals();
  ASSERT_NO_FATAL_FAILURE(fleet());
  ASSERT_NO_FATAL_FAILURE(models_by_grpc());
  settings();
  ASSERT_NO_FATAL_FAILURE(campaigns_by_grpc());
  all_by_http();

  // By the tables of methods and paths, so that a call that is added is asked for here.
  std::set<std::string> all;
  for (const auto& [method, role] : method_roles()) all.insert(method);
  for (const auto& [operation, path] : paths_) all.insert(operation);
  for (const std::string& call : all) {
    EXPECT_TRUE(seen_[call].contains(true)) << call << ": no answer of it is recorded";
    EXPECT_TRUE(seen_[call].contains(false) || kNeverRefused.contains(call))
        << call << ": no error of it is recorded";
  }

  const char* source = std::getenv("STRIPLINE_TEST_SOURCE");  // NOLINT(concurrency-mt-unsafe)
  const std::filesystem::path file =
      std::filesystem::path(source == nullptr ? "." : source) / "server/doors/recorded_answers.txt";
  if (record) {
    std::ofstream out(file);
    for (const std::string& line : lines_) out << line << '\n';
    ASSERT_TRUE(out.flush()) << file;
    return;
  }
  std::ifstream in(file);
  std::vector<std::string> known;
  for (std::string line; std::getline(in, line);) known.push_back(line);
  std::string call;
  size_t differing = 0;
  for (size_t i = 0; i < std::min(known.size(), lines_.size()) && differing < 5; ++i) {
    if (lines_[i].starts_with('@')) call = lines_[i];
    EXPECT_EQ(known[i], lines_[i]) << file << ":" << i + 1 << ": " << call;
    differing += known[i] != lines_[i] ? 1 : 0;
  }
  EXPECT_EQ(known.size(), lines_.size())
      << "other answers are meant? server_answers_test --record writes " << file;
}

}  // namespace
}  // namespace stripline::server

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  stripline::server::record = argc > 1 && std::string_view(argv[1]) == "--record";
  return RUN_ALL_TESTS();
}
