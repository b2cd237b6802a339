// Access, by real connections: every method times every kind of caller; certificates and
// tokens that end; the audit trail.
#include <functional>
#include <mutex>
#include <set>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor_database.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include "base/pki/certificate.h"
#include "base/pki/dev_token.h"
#include "base/pki/secret_file.h"
#include "base/pki/token.h"
#include "base/testing/assert_ok.h"
#include "base/testing/processes.h"
#include "base/whole_file.h"
#include "proto/rpc_error.h"
#include "server/clock.h"
#include "server/doors/grpc_access.h"
#include "server/process/initialise.h"
#include "server/process/server.h"
#include "server/testing/agent_client.h"
#include "stripline/v1/access.grpc.pb.h"
#include "stripline/v1/agents.grpc.pb.h"
#include "stripline/v1/campaigns.grpc.pb.h"

namespace stripline::server {
namespace {

using grpc::StatusCode;

constexpr double kDay_s = 86400;

// A caller: what it shows of itself in a handshake and with each call.
struct Client {
  std::string bearer;
  std::string certificate_pem;
  std::string key_pem;
};

// What the program logs while this exists.
class Logged {
 public:
  Logged() : before_(spdlog::default_logger()) {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", lines_));
  }
  Logged(const Logged&) = delete;
  Logged& operator=(const Logged&) = delete;
  ~Logged() { spdlog::set_default_logger(before_); }

  bool has(const std::string& line) const { return lines_->has(line); }

 private:
  class Lines final : public spdlog::sinks::base_sink<std::mutex> {
   public:
    bool has(const std::string& line) {
      const std::lock_guard lock(mutex_);
      return lines_.contains(line);
    }

   private:
    void sink_it_(const spdlog::details::log_msg& message) override {
      lines_.emplace(message.payload.data(), message.payload.size());
    }
    void flush_() override {}

    std::set<std::string> lines_;
  };

  const std::shared_ptr<spdlog::logger> before_;
  const std::shared_ptr<Lines> lines_ = std::make_shared<Lines>();
};

class SecurityTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(const auto made, initialise(folder_.path(), {"head"}, unix_seconds()));
    first_node_token_ = *pki::read_secret_line(made.node_token_file.string());
    admin_.bearer = parse(*pki::read_secret_line(made.admin_token_file.string())).secret;
    start();
  }

  void start() {
    ServerOptions options;
    options.data_dir = folder_.path();
    options.listen = {"127.0.0.1", 0};
    options.protection = Protection::certificates;
    ASSERT_OK_AND_ASSIGN(auto server, Server::start(options));
    server_ = std::make_unique<Server>(std::move(server));
    authority_pem_ = *read_whole_file(folder_ / "tls" / "authority.pem");
  }

  static pki::Token parse(const std::string& text) {
    const auto token = pki::parse_token(text);
    EXPECT_TRUE(token.ok());
    return token.ok() ? *token : pki::Token{};
  }

  std::shared_ptr<grpc::Channel> channel(const Client& client) const {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = authority_pem_;
    options.pem_cert_chain = client.certificate_pem;
    options.pem_private_key = client.key_pem;
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(server_->address().text(), grpc::SslCredentials(options),
                                     arguments);
  }

  static void show(const Client& client, grpc::ClientContext& context) {
    if (!client.bearer.empty()) context.AddMetadata("authorization", "Bearer " + client.bearer);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  }

  // The status of a call with an empty request, which no method carries out.
  StatusCode call(const std::shared_ptr<grpc::Channel>& channel, const Client& client,
                  const std::string& method) const {
    grpc::GenericStub stub(channel);
    grpc::ClientContext context;
    show(client, context);
    grpc::CompletionQueue queue;
    const grpc::Slice nothing("", size_t{0});
    const grpc::ByteBuffer request(&nothing, 1);
    grpc::ByteBuffer response;
    grpc::Status status;
    const auto reader = stub.PrepareUnaryCall(&context, method, request, &queue);
    reader->StartCall();
    reader->Finish(&response, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    return status.error_code();
  }

  v1::CreateTokenResponse create_token(v1::Role role, const std::string& subject,
                                       double valid_s = 0) {
    const auto stub = v1::Admin::NewStub(channel(admin_));
    grpc::ClientContext context;
    show(admin_, context);
    v1::CreateTokenRequest request;
    request.set_role(role);
    request.set_subject(subject);
    request.set_valid_s(valid_s);
    v1::CreateTokenResponse response;
    const grpc::Status status = stub->CreateToken(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  Client user(v1::Role role, const std::string& name) {
    return {parse(create_token(role, name).text()).secret, "", ""};
  }

  grpc::Status enroll(const std::string& token, const std::string& node, Client& client) {
    const auto key = pki::PrivateKey::generate();
    const auto stub = v1::Agents::NewStub(channel({}));
    grpc::ClientContext context;
    show({}, context);
    v1::EnrollRequest request;
    request.set_token(token);
    request.set_node(node);
    request.set_request_pem(*pki::make_request(*key));
    v1::EnrollResponse response;
    grpc::Status status = stub->Enroll(&context, request, &response);
    client = {"", response.certificate_pem(), *key->pem()};
    return status;
  }

  Client enrolled(const std::string& node) {
    Client client;
    const grpc::Status status = enroll(create_token(v1::AGENT, node).text(), node, client);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return client;
  }

  // A certificate for a node as no authority would give it.
  Client forged(const pki::Issuer& issuer, const std::string& node, const pki::Validity& validity,
                pki::Use use = pki::Use::client) {
    const auto key = pki::PrivateKey::generate();
    const auto certificate = pki::issue(issuer, *key, {node, {}, {node_uri(node)}}, use, validity);
    return {"", *certificate->pem(), *key->pem()};
  }

  pki::Issuer own_issuer() const {
    return {*pki::Certificate::from_pem(authority_pem_),
            *pki::PrivateKey::from_pem(*pki::read_secret(folder_ / "tls" / "authority.key"))};
  }

  // The agents of two nodes, which a campaign needs.
  void connect_agents() {
    for (const char* const node : {"a", "b"}) {
      agents_.push_back(std::make_unique<AgentClient>(channel(enrolled(node)), test_hello(node)));
      ASSERT_TRUE(agents_.back()->receive(v1::ServerMessage::kHelloAck));
    }
  }

  // A campaign that he creates, for nodes that are connected.
  v1::Campaign campaign_of(const Client& client) {
    const auto stub = v1::Campaigns::NewStub(channel(client));
    v1::CreateCampaignRequest request;
    request.mutable_spec()->set_fabric("tcp");
    request.mutable_spec()->add_experiments("kernel.loop");
    v1::Campaign campaign;
    grpc::ClientContext context;
    show(client, context);
    const grpc::Status created = stub->CreateCampaign(&context, request, &campaign);
    EXPECT_TRUE(created.ok()) << created.error_message();
    return campaign;
  }

  grpc::Status revoke_node(const std::string& node) {
    const auto stub = v1::Admin::NewStub(channel(admin_));
    grpc::ClientContext context;
    show(admin_, context);
    v1::RevokeNodeRequest request;
    request.set_name("nodes/" + node);
    v1::RevokeNodeResponse response;
    return stub->RevokeNode(&context, request, &response);
  }

  void revoke_token(const std::string& name) {
    const auto stub = v1::Admin::NewStub(channel(admin_));
    grpc::ClientContext context;
    show(admin_, context);
    v1::RevokeTokenRequest request;
    request.set_name(name);
    v1::Token token;
    EXPECT_TRUE(stub->RevokeToken(&context, request, &token).ok());
    EXPECT_FALSE(token.end_time().empty());
  }

  std::vector<std::string> audit() {
    const auto stub = v1::Admin::NewStub(channel(admin_));
    grpc::ClientContext context;
    show(admin_, context);
    v1::ListAuditEventsResponse response;
    EXPECT_TRUE(stub->ListAuditEvents(&context, {}, &response).ok());
    std::vector<std::string> lines;
    for (const v1::AuditEvent& event : response.events()) {
      lines.push_back(event.actor() + " " + event.action() + " " + event.object());
    }
    return lines;
  }

  Logged log_;  // outlives the server
  TempFolder folder_;
  std::unique_ptr<Server> server_;
  std::string authority_pem_;
  std::string first_node_token_;
  Client admin_;
  std::vector<std::unique_ptr<AgentClient>> agents_;  // are gone before the server is
};

// The methods of all services of ours that this program holds, so that those of a new one are among
// them.
std::set<std::string> all_methods() {
  std::vector<std::string> files;
  google::protobuf::DescriptorPool::internal_generated_database()->FindAllFileNames(&files);
  std::set<std::string> methods;
  for (const std::string& name : files) {
    if (!name.starts_with("stripline/")) continue;
    const auto* file = google::protobuf::DescriptorPool::generated_pool()->FindFileByName(name);
    for (int s = 0; s < file->service_count(); ++s) {
      const auto& service = *file->service(s);
      for (int m = 0; m < service.method_count(); ++m) {
        methods.insert("/" + service.full_name() + "/" + service.method(m)->name());
      }
    }
  }
  return methods;
}

TEST(MethodRoles, EveryMethodSaysWhoMayCallIt) {
  const std::map<std::string, Role> roles = method_roles();
  const auto methods = all_methods();
  for (const std::string& method : methods) {
    EXPECT_TRUE(roles.contains(method))
        << method << " has no role, or its file is not listed in server/doors/grpc_access.cc";
  }
  EXPECT_EQ(roles.size(), methods.size());
  for (const char* service : {"Admin", "Agents", "Campaigns", "Fleet", "Models", "Operations"}) {
    const std::string prefix = std::string("/stripline.v1.") + service + "/";
    EXPECT_TRUE(methods.lower_bound(prefix) != methods.end() &&
                methods.lower_bound(prefix)->starts_with(prefix))
        << service;
  }
}

// One table: of each kind of caller, which roles it has.
TEST_F(SecurityTest, EveryMethodLetsInWhomItSays) {
  using Roles = std::set<Role>;
  const Roles viewer{Role::nobody, Role::viewer};
  const Roles operators{Role::nobody, Role::viewer, Role::operator_};
  const Roles publisher{Role::nobody, Role::viewer, Role::operator_, Role::publisher};
  const Roles admin{Role::nobody, Role::viewer, Role::operator_, Role::publisher, Role::admin};
  const pki::PrivateKey foreign_key = *pki::PrivateKey::generate();
  const double now_s = unix_seconds();
  const pki::Issuer foreign{
      *pki::make_authority(foreign_key, "Foreign", {now_s - 60, now_s + kDay_s}), foreign_key};
  const Client revoked_node = enrolled("r");
  ASSERT_TRUE(revoke_node("r").ok());
  const auto ended = create_token(v1::ADMIN, "ended");
  revoke_token(ended.token().name());
  const auto short_lived = create_token(v1::ADMIN, "brief", 1);

  struct Row {
    const char* what;
    Client client;
    Roles may;
    bool known;  // else UNAUTHENTICATED where it may not
  };
  const std::vector<Row> rows{
      {"nothing", {}, {Role::nobody}, false},
      {"viewer", user(v1::VIEWER, "v"), viewer, true},
      {"operator", user(v1::OPERATOR, "o"), operators, true},
      {"publisher", user(v1::PUBLISHER, "p"), publisher, true},
      {"admin", admin_, admin, true},
      {"agent", enrolled("a"), {Role::nobody, Role::agent}, true},
      {"revoked node", revoked_node, {Role::nobody}, false},
      {"revoked token", {parse(ended.text()).secret, "", ""}, {Role::nobody}, false},
      {"expired token", {parse(short_lived.text()).secret, "", ""}, {Role::nobody}, false},
      {"unknown token", {std::string(43, 'A'), "", ""}, {Role::nobody}, false},
      {"enrolment token as a user's",
       {parse(first_node_token_).secret, "", ""},
       {Role::nobody},
       false},
      {"expired certificate",
       forged(own_issuer(), "x", {now_s - kDay_s, now_s - 60}),
       {Role::nobody},
       false},
      {"certificate that is not valid yet",
       forged(own_issuer(), "x", {now_s + kDay_s, now_s + 2 * kDay_s}),
       {Role::nobody},
       false},
      {"certificate of a foreign authority",
       forged(foreign, "a", {now_s - 60, now_s + kDay_s}),
       {Role::nobody},
       false},
      {"certificate of a server",
       forged(own_issuer(), "a", {now_s - 60, now_s + kDay_s}, pki::Use::server),
       {Role::nobody},
       false}};
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // until the brief one has expired

  for (const Row& row : rows) {
    const auto connection = channel(row.client);
    for (const auto& [method, role] : method_roles()) {
      // An agent that is let in and says nothing would be waited for.
      if (role == Role::agent && row.may.contains(role)) continue;
      const StatusCode status = call(connection, row.client, method);
      const std::string what = std::string(row.what) + " " + method;
      if (row.may.contains(role)) {
        EXPECT_NE(status, StatusCode::PERMISSION_DENIED) << what;
        EXPECT_NE(status, StatusCode::UNAVAILABLE) << what;
        EXPECT_NE(status, StatusCode::UNIMPLEMENTED) << what << " is not served";
        // Enroll judges by itself.
        if (role != Role::nobody) {
          EXPECT_NE(status, StatusCode::UNAUTHENTICATED) << what;
        }
      } else {
        EXPECT_EQ(status, row.known ? StatusCode::PERMISSION_DENIED : StatusCode::UNAUTHENTICATED)
            << what;
      }
    }
    EXPECT_EQ(call(connection, row.client, "/stripline.v1.Fleet/NoSuchMethod"),
              StatusCode::UNIMPLEMENTED);
    EXPECT_EQ(call(connection, row.client, "/grpc.health.v1.Health/Check"), StatusCode::OK);
  }
}

TEST_F(SecurityTest, TheLogSaysFromWhereRefusedCallsCome) {
  const auto refused = [this](const Client& client, const std::string& method) {
    (void)call(channel(client), client, "/stripline.v1." + method);
  };
  const Client viewer = user(v1::VIEWER, "v");
  refused(viewer, "Campaigns/CancelCampaign");
  refused(viewer, "Campaigns/ImportResults");
  refused({}, "Campaigns/WatchCampaign");
  refused({}, "Agents/Session");
  const std::string prefix = "refused /stripline.v1.";
  const std::string from = " from 127.0.0.1: ";
  const std::string is_viewer = from + "users/v has the role viewer; this needs ";
  EXPECT_TRUE(log_.has(prefix + "Campaigns/CancelCampaign" + is_viewer + "operator"));
  EXPECT_TRUE(log_.has(prefix + "Campaigns/ImportResults" + is_viewer + "publisher"));
  EXPECT_TRUE(log_.has(prefix + "Campaigns/WatchCampaign" + from +
                       "a token is needed here; 'stripline login' takes one"));
  EXPECT_TRUE(log_.has(prefix + "Agents/Session" + from +
                       "agents show a certificate here; enrol the node with 'stripline-agent "
                       "--enroll'"));
}

// What comes too often is refused before it is read.
TEST_F(SecurityTest, ManyRefusedCallsDoNotKeepOthersOutOfTheLog) {
  const auto connection = channel({});
  constexpr int kCalls = 500;
  for (int i = 0; i < kCalls; ++i) {
    ASSERT_EQ(call(connection, {}, "/stripline.v1.Campaigns/CreateCampaign"),
              StatusCode::UNAUTHENTICATED)
        << i;
  }
  const Client viewer = user(v1::VIEWER, "v");
  EXPECT_EQ(call(channel(viewer), viewer, "/stripline.v1.Campaigns/CreateCampaign"),
            StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(
      log_.has("refused /stripline.v1.Campaigns/CreateCampaign from 127.0.0.1: users/v has the "
               "role viewer; this needs operator"));
}

TEST_F(SecurityTest, AnEnrolmentTokenWorksOnceAndForItsNode) {
  Client client;
  const std::string token = create_token(v1::AGENT, "a").text();
  EXPECT_EQ(enroll(token, "b", client).error_code(), StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(enroll(token, "No Name", client).error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_TRUE(enroll(token, "a", client).ok());
  EXPECT_EQ(enroll(token, "a", client).error_code(), StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(enroll("nonsense", "a", client).error_code(), StatusCode::UNAUTHENTICATED);
  const std::string of_user = create_token(v1::ADMIN, "u").text();
  EXPECT_EQ(enroll(of_user, "a", client).error_code(), StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(enroll(first_node_token_, "any-name", client).ok());
}

TEST_F(SecurityTest, AStreamEndsWithItsToken) {
  ASSERT_NO_FATAL_FAILURE(connect_agents());
  const auto stub = v1::Campaigns::NewStub(channel(admin_));
  const v1::Campaign campaign = campaign_of(admin_);
  const auto follow = [&](const v1::CreateTokenResponse& token, const std::function<void()>& then) {
    grpc::ClientContext context;
    show({parse(token.text()).secret, "", ""}, context);
    v1::WatchCampaignRequest watch;
    watch.set_name(campaign.name());
    const auto reader = stub->WatchCampaign(&context, watch);
    v1::CampaignEvent event;
    EXPECT_TRUE(reader->Read(&event));
    then();
    while (reader->Read(&event)) {
    }
    return reader->Finish().error_code();
  };
  const auto token = create_token(v1::VIEWER, "v");
  EXPECT_EQ(follow(token, [&] { revoke_token(token.token().name()); }),
            StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(follow(create_token(v1::VIEWER, "w", 2), [] {}), StatusCode::UNAUTHENTICATED);
}

TEST_F(SecurityTest, AnOperatorChangesOwnCampaignsOnly) {
  ASSERT_NO_FATAL_FAILURE(connect_agents());
  const Client alice = user(v1::OPERATOR, "alice");
  const std::string name = campaign_of(alice).name();
  using Stub = v1::Campaigns::Stub;
  // As this caller; the response does not matter.
  const auto ask = [&](const Client& client, auto method, auto request, auto response) {
    const auto stub = v1::Campaigns::NewStub(channel(client));
    grpc::ClientContext context;
    show(client, context);
    request.set_name(name);
    return ((*stub).*method)(&context, request, &response);
  };
  const auto pause = [&](const Client& client) {
    return ask(client, &Stub::PauseCampaign, v1::PauseCampaignRequest(), v1::Campaign());
  };
  const auto reason = [](const grpc::Status& status) { return rpc_error_from(status).reason; };

  const Client bob = user(v1::OPERATOR, "bob");
  const grpc::Status refused = pause(bob);
  EXPECT_EQ(refused.error_code(), StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(reason(refused), "NOT_OWNER");
  EXPECT_EQ(refused.error_message(),
            name +
                " belongs to users/alice, and users/bob has the role operator, which may change "
                "only its own campaigns; users/alice, a publisher or an administrator may pause "
                "it");
  const v1::Campaign campaign;
  EXPECT_EQ(reason(ask(bob, &Stub::CancelCampaign, v1::CancelCampaignRequest(), campaign)),
            "NOT_OWNER");
  EXPECT_EQ(reason(ask(bob, &Stub::ResumeCampaign, v1::ResumeCampaignRequest(), campaign)),
            "NOT_OWNER");
  EXPECT_EQ(reason(ask(bob, &Stub::RetryCampaign, v1::RetryCampaignRequest(), campaign)),
            "NOT_OWNER");
  EXPECT_EQ(reason(ask(bob, &Stub::LabelCampaign, v1::LabelCampaignRequest(), campaign)),
            "NOT_OWNER");
  EXPECT_EQ(reason(ask(bob, &Stub::DeleteCampaign, v1::DeleteCampaignRequest(),
                       v1::DeleteCampaignResponse())),
            "NOT_OWNER");
  EXPECT_TRUE(pause(alice).ok());
  EXPECT_TRUE(
      ask(user(v1::PUBLISHER, "p"), &Stub::ResumeCampaign, v1::ResumeCampaignRequest(), campaign)
          .ok());
  EXPECT_TRUE(ask(admin_, &Stub::CancelCampaign, v1::CancelCampaignRequest(), campaign).ok());
  EXPECT_TRUE(
      ask(alice, &Stub::DeleteCampaign, v1::DeleteCampaignRequest(), v1::DeleteCampaignResponse())
          .ok());
}

TEST_F(SecurityTest, ANodeSpeaksForItselfOnly) {
  const Client a = enrolled("a");
  AgentClient as_itself(channel(a), test_hello("a"));
  EXPECT_TRUE(as_itself.receive(v1::ServerMessage::kHelloAck));
  AgentClient as_another(channel(a), test_hello("b"));
  EXPECT_EQ(as_another.finish().error_code(), StatusCode::PERMISSION_DENIED);
}

TEST_F(SecurityTest, RevocationEndsTheSession) {
  const Client a = enrolled("a");
  AgentClient agent(channel(a), test_hello("a"));
  ASSERT_TRUE(agent.receive(v1::ServerMessage::kHelloAck));
  ASSERT_TRUE(revoke_node("a").ok());
  EXPECT_EQ(agent.finish().error_code(), StatusCode::UNAUTHENTICATED);
  AgentClient again(channel(a), test_hello("a"));
  EXPECT_EQ(again.finish().error_code(), StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(rpc_error_from(revoke_node("never-seen")).reason, "NODE_NOT_FOUND");
}

TEST_F(SecurityTest, ALaterEnrolmentReplacesTheCertificate) {
  const Client first = enrolled("a");
  // Certificates begin at whole seconds.
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  const Client second = enrolled("a");
  AgentClient old(channel(first), test_hello("a"));
  EXPECT_EQ(old.finish().error_code(), StatusCode::UNAUTHENTICATED);
  AgentClient agent(channel(second), test_hello("a"));
  EXPECT_TRUE(agent.receive(v1::ServerMessage::kHelloAck));
}

TEST_F(SecurityTest, ACertificateIsRenewedWithinItsSession) {
  const Client a = enrolled("a");
  AgentClient agent(channel(a), test_hello("a"));
  ASSERT_TRUE(agent.receive(v1::ServerMessage::kHelloAck));
  v1::AgentMessage message;
  const auto key = pki::PrivateKey::from_pem(a.key_pem);
  message.mutable_renew_certificate()->set_request_pem(*pki::make_request(*key));
  agent.send(message);
  const auto answer = agent.receive(v1::ServerMessage::kNewCertificate);
  ASSERT_TRUE(answer);
  const Client renewed{"", answer->new_certificate().certificate_pem(), a.key_pem};
  agent.vanish();
  AgentClient again(channel(renewed), test_hello("a"));
  EXPECT_TRUE(again.receive(v1::ServerMessage::kHelloAck));

  message.mutable_renew_certificate()->set_request_pem("nonsense");
  again.send(message);
  EXPECT_EQ(again.finish().error_code(), StatusCode::INVALID_ARGUMENT);
}

TEST_F(SecurityTest, WhatWasGrantedOutlivesARestart) {
  const Client viewer = user(v1::VIEWER, "v");
  const Client a = enrolled("a");
  const Client b = enrolled("b");
  ASSERT_TRUE(revoke_node("b").ok());
  server_.reset();
  start();
  EXPECT_EQ(call(channel(viewer), viewer, "/stripline.v1.Fleet/ListNodes"), StatusCode::OK);
  AgentClient agent(channel(a), test_hello("a"));
  EXPECT_TRUE(agent.receive(v1::ServerMessage::kHelloAck));
  AgentClient shut_out(channel(b), test_hello("b"));
  EXPECT_EQ(shut_out.finish().error_code(), StatusCode::UNAUTHENTICATED);
}

TEST_F(SecurityTest, TheAuditTrailNamesWhoDidWhat) {
  const std::string token = create_token(v1::AGENT, "a").token().name();
  Client client = enrolled("b");
  ASSERT_TRUE(revoke_node("b").ok());
  const std::vector<std::string> lines = audit();
  ASSERT_GE(lines.size(), 4U);
  EXPECT_EQ(lines[0], "users/admin revoke node nodes/b");
  EXPECT_EQ(lines[1].substr(lines[1].find(' ')), " enrol node nodes/b");
  EXPECT_EQ(lines[1].rfind("tokens/", 0), 0U);
  EXPECT_EQ(lines[3], "users/admin create token for agent a " + token);
  EXPECT_EQ(lines.back().rfind("users/installer ", 0), 0U);
}

TEST_F(SecurityTest, SecretsAreNotInTheDatabase) {
  const std::string secret = parse(create_token(v1::VIEWER, "v").text()).secret;
  server_.reset();
  for (const auto& file : std::filesystem::directory_iterator(folder_.path())) {
    if (!file.is_regular_file() || file.path().filename() == "admin.token") continue;
    const std::string bytes = read_file(file.path());
    EXPECT_EQ(bytes.find(secret), std::string::npos) << file.path();
    EXPECT_EQ(bytes.find(admin_.bearer), std::string::npos) << file.path();
  }
}

// A server with --dev: no certificates, one secret.
class DevTest : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("XDG_STATE_HOME", (folder_ / "state").c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    ServerOptions options;
    options.data_dir = folder_ / "data";
    options.listen = {"127.0.0.1", 0};
    options.protection = Protection::own_user;
    ASSERT_OK_AND_ASSIGN(auto server, Server::start(options));
    server_ = std::make_unique<Server>(std::move(server));
    admin_ = v1::Admin::NewStub(
        grpc::CreateChannel(server_->address().text(), grpc::InsecureChannelCredentials()));
  }

  grpc::Status who_am_i(const std::string& secret, v1::WhoAmIResponse& response) {
    grpc::ClientContext context;
    if (!secret.empty()) context.AddMetadata("authorization", "Bearer " + secret);
    return admin_->WhoAmI(&context, {}, &response);
  }

  TempFolder folder_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<v1::Admin::Stub> admin_;
};

TEST_F(DevTest, LetsInWhoCanReadItsFile) {
  const std::string port = std::to_string(server_->address().port);
  const auto secret = pki::dev_secret({"localhost", port});
  ASSERT_TRUE(secret.ok());
  ASSERT_FALSE(secret->empty());
  EXPECT_EQ(*pki::dev_secret({"10.0.0.1", port}), "");
  v1::WhoAmIResponse response;
  EXPECT_TRUE(who_am_i(*secret, response).ok());
  EXPECT_EQ(response.role(), v1::ADMIN);
  EXPECT_EQ(who_am_i("", response).error_code(), StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(who_am_i(std::string(43, 'A'), response).error_code(), StatusCode::UNAUTHENTICATED);
  server_.reset();
  EXPECT_EQ(*pki::dev_secret({"localhost", port}), "");
}

}  // namespace
}  // namespace stripline::server
