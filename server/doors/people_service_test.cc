// People of an issuer, by real connections to a real server: by gRPC, by HTTP and by browser.
#include <chrono>
#include <httplib.h>
#include <thread>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "base/pki/secret_file.h"
#include "base/pki/token.h"
#include "base/testing/processes.h"
#include "base/whole_file.h"
#include "server/clock.h"
#include "server/process/initialise.h"
#include "server/process/server.h"
#include "server/security/access.h"
#include "server/security/oidc/sign_in.h"
#include "server/store/sqlite_store.h"
#include "server/testing/fake_issuer.h"
#include "server/testing/http_client.h"
#include "stripline/v1/access.grpc.pb.h"

namespace stripline::server {
namespace {

class SignInServerTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto made = initialise(folder_.path(), {"127.0.0.1"}, unix_seconds());
    ASSERT_TRUE(made.ok()) << made.error().message();
    admin_ = pki::parse_token(*pki::read_secret_line(made->admin_token_file.string()))->secret;
  }

  ServerOptions options() const {
    ServerOptions options;
    options.data_dir = folder_.path();
    options.listen = {"127.0.0.1", 0};
    options.http = ListenAddress{"127.0.0.1", 0};
    options.protection = Protection::certificates;
    options.people.emplace();
    options.people->issuer.url = issuer_.url();
    options.people->issuer.client_id = issuer_.client_id;
    options.people->issuer.first_retry_s = 0.05;
    options.people->issuer.least_refresh_s = 0;
    options.people->roles = *parse_role_rules("admin=admins,operator=staff,viewer=*");
    return options;
  }

  void start() { start(options()); }
  void start(const ServerOptions& options) {
    auto server = Server::start(options);
    ASSERT_TRUE(server.ok()) << server.error().message();
    server_ = std::make_unique<Server>(std::move(*server));
  }

  std::string url() const {
    return server_->http_url()->substr(0, server_->http_url()->size() - 1);
  }
  httplib::Client client() const {
    httplib::Client client = http_client(url());
    client.set_ca_cert_path((folder_ / "tls" / "authority.pem").string());
    return client;
  }
  httplib::Result get(const std::string& path, const std::string& cookie = "",
                      const std::string& bearer = "") const {
    httplib::Headers headers;
    if (!cookie.empty()) headers.emplace("Cookie", cookie);
    if (!bearer.empty()) headers.emplace("Authorization", "Bearer " + bearer);
    return client().Get(path, headers);
  }
  httplib::Result post(const std::string& path, const std::string& body, const std::string& cookie,
                       const httplib::Headers& more = {}) const {
    httplib::Headers headers = more;
    headers.emplace("Cookie", cookie);
    return client().Post(path, headers, body, "application/json");
  }
  // Once the server has the issuer's keys.
  Json who(const std::string& cookie, const std::string& bearer = "") const {
    for (int i = 0; i < 2000; ++i) {
      const auto answer = get("/api/v1/whoami", cookie, bearer);
      if (answer && answer->status == 200) return Json::parse(answer->body);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return {{"name", ""}, {"role", ""}};
  }
  httplib::Result begun() const {
    for (int i = 0; i < 2000; ++i) {
      auto answer = get("/login");
      if (answer && answer->status == 303) return answer;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return get("/login");
  }

  // "name=value" of a cookie that an answer sets; of several, the first with the name.
  static std::string cookie_of(const httplib::Result& answer, const std::string& name) {
    const auto [first, last] = answer->headers.equal_range("Set-Cookie");
    for (auto one = first; one != last; ++one) {
      if (one->second.starts_with(name + "=")) return one->second.substr(0, one->second.find(';'));
    }
    return "";
  }
  // The path and query of a callback that the issuer has sent the browser to.
  std::string back(const httplib::Result& begin) {
    const std::string location = issuer_.visit(begin->get_header_value("Location"));
    EXPECT_TRUE(location.starts_with(url() + "/login/callback?")) << location;
    return location.substr(url().size());
  }
  // The cookie of a session, as who is signed in at the issuer.
  std::string signed_in() {
    const auto begin = begun();
    const auto answer = get(back(begin), cookie_of(begin, oidc::kSignInCookie));
    EXPECT_EQ(answer->status, 303) << answer->body;
    return cookie_of(answer, oidc::kSessionCookie);
  }

  TempFolder folder_;
  oidc::FakeIssuer issuer_;
  std::string admin_;
  std::unique_ptr<Server> server_;
};

TEST_F(SignInServerTest, ATokenOfTheIssuerIsTakenAtBothDoors) {
  start();
  const std::string token = issuer_.token("alice", {"staff"});
  EXPECT_EQ(who("", token).at("name"), "users/oidc:alice");
  EXPECT_EQ(who("", token).at("role"), "OPERATOR");
  EXPECT_FALSE(who("", token).at("token_expire_time").get<std::string>().empty());
  EXPECT_EQ(get("/api/v1/tokens", "", token)->status, 403);
  EXPECT_EQ(get("/api/v1/tokens", "", issuer_.token("anna", {"admins"}))->status, 200);
  EXPECT_EQ(who("", admin_).at("role"), "ADMIN") << "own tokens stay";

  const auto call = [&](const std::string& bearer, v1::WhoAmIResponse& response) {
    grpc::SslCredentialsOptions ssl;
    ssl.pem_root_certs = *read_whole_file(folder_ / "tls" / "authority.pem");
    const auto stub = v1::Admin::NewStub(
        grpc::CreateChannel(server_->address().text(), grpc::SslCredentials(ssl)));
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + bearer);
    return stub->WhoAmI(&context, {}, &response);
  };
  {
    grpc::SslCredentialsOptions ssl;
    ssl.pem_root_certs = *read_whole_file(folder_ / "tls" / "authority.pem");
    const auto stub = v1::Admin::NewStub(
        grpc::CreateChannel(server_->address().text(), grpc::SslCredentials(ssl)));
    grpc::ClientContext context;
    v1::SignIn sign_in;
    ASSERT_TRUE(stub->GetSignIn(&context, {}, &sign_in).ok()) << "to everybody";
    EXPECT_EQ(sign_in.issuer(), issuer_.url());
    EXPECT_EQ(sign_in.client_id(), issuer_.client_id);
    EXPECT_EQ(sign_in.scopes(), "openid profile");
  }
  v1::WhoAmIResponse caller;
  const auto status = call(token, caller);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(caller.name(), "users/oidc:alice");
  EXPECT_EQ(caller.role(), v1::OPERATOR);
  // As long as a token may be, there is room for it.
  const std::string padding(5800, 'x');
  const std::string longest = issuer_.token("alice", {"staff"}, {{"padding", padding}});
  ASSERT_GT(longest.size(), 7900U);
  ASSERT_LE(longest.size(), oidc::kLongestTokenBytes);
  const auto taken = call(longest, caller);
  EXPECT_TRUE(taken.ok()) << taken.error_message();
  const auto refused = call(issuer_.token("alice", {"staff"}, {{"aud", "other"}}), caller);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_NE(refused.error_message().find("audience"), std::string::npos);
  EXPECT_FALSE(call(token.substr(0, token.size() - 4), caller).ok());
  // One of a key that the server does not know yet is to be shown again, unless the server has
  // fetched the key by the time that it has read the call.
  issuer_.rotate();
  const std::string next = issuer_.token("alice", {"staff"});
  const auto early = call(next, caller);
  EXPECT_TRUE(early.ok() || early.error_code() == grpc::StatusCode::ABORTED)
      << early.error_message();
  EXPECT_EQ(who("", next).at("name"), "users/oidc:alice");
  EXPECT_TRUE(call(next, caller).ok());
}

TEST_F(SignInServerTest, ABrowserSignsInAndOut) {
  issuer_.sign_in("anna", {"admins"});
  start();
  EXPECT_EQ(Json::parse(get("/login/about")->body).at("issuer"), issuer_.url());
  const auto begin = begun();
  ASSERT_EQ(begin->status, 303);
  const std::string location = begin->get_header_value("Location");
  EXPECT_NE(location.find("code_challenge_method=S256"), std::string::npos);
  EXPECT_NE(begin->get_header_value("Set-Cookie").find("; Secure; HttpOnly; SameSite=Lax"),
            std::string::npos);
  const auto answer = get(back(begin), cookie_of(begin, oidc::kSignInCookie));
  ASSERT_EQ(answer->status, 303) << answer->body;
  EXPECT_EQ(answer->get_header_value("Location"), "../");
  EXPECT_NE(answer->get_header_value("Set-Cookie").find("; Secure; HttpOnly; SameSite=Strict"),
            std::string::npos);
  const std::string session = cookie_of(answer, oidc::kSessionCookie);
  EXPECT_EQ(who(session).at("name"), "users/oidc:anna");
  EXPECT_EQ(who(session).at("role"), "ADMIN");

  EXPECT_EQ(post("/api/v1/tokens", R"({"role": "VIEWER", "subject": "bob"})", session)->status,
            200);
  const Json audit = Json::parse(get("/api/v1/audit", session)->body);
  EXPECT_EQ(audit.at("events")[0].at("actor"), "users/oidc:anna");
  EXPECT_EQ(post("/api/v1/tokens", R"({"role": "VIEWER", "subject": "eve"})", session,
                 {{"Origin", "https://evil.example"}})
                ->status,
            403)
      << "a page of elsewhere";

  EXPECT_EQ(get("/login/out", session)->status, 405);
  EXPECT_EQ(post("/login/out", "{}", session)->status, 200);
  EXPECT_EQ(get("/api/v1/whoami", session)->status, 401);
}

TEST_F(SignInServerTest, AnAnswerCountsOnceAndInTheBrowserThatAsked) {
  start();
  const auto begin = begun();
  const std::string path = back(begin);
  const std::string cookie = cookie_of(begin, oidc::kSignInCookie);
  EXPECT_EQ(get(path)->status, 400) << "no cookie";
  EXPECT_EQ(get(path, cookie_of(begun(), oidc::kSignInCookie))->status, 400) << "of another";
  EXPECT_EQ(get(path + "x", cookie)->status, 400) << "another state";
  EXPECT_EQ(get("/login/callback?error=access_denied&state=" + path.substr(path.find("state=") + 6),
                cookie)
                ->status,
            403);
  EXPECT_EQ(issuer_.tokens_asked, 0) << "the issuer was not asked";
  EXPECT_EQ(get(path, cookie)->status, 303);
  EXPECT_EQ(get(path, cookie)->status, 400) << "the issuer takes a code once";
}

TEST_F(SignInServerTest, ATokenOfAnotherSignInIsNotTaken) {
  issuer_.sign_in("alice", {"staff"}, {{"nonce", "another"}});
  start();
  const auto begin = begun();
  const auto answer = get(back(begin), cookie_of(begin, oidc::kSignInCookie));
  EXPECT_EQ(answer->status, 401);
  EXPECT_NE(answer->body.find("nonce"), std::string::npos);
}

TEST_F(SignInServerTest, WhoHasNoRoleHearsSo) {
  auto strict = options();
  strict.people->roles = *parse_role_rules("viewer=staff");
  issuer_.sign_in("<eve>", {"others"});
  start(strict);
  const auto begin = begun();
  const auto answer = get(back(begin), cookie_of(begin, oidc::kSignInCookie));
  EXPECT_EQ(answer->status, 403);
  EXPECT_NE(answer->body.find("in no group that has a role"), std::string::npos);
  EXPECT_EQ(answer->body.find("<eve>"), std::string::npos);
}

TEST_F(SignInServerTest, AClientWithASecretShowsIt) {
  issuer_.client_secret = "a secret: with/signs";
  auto confidential = options();
  confidential.people->issuer.client_secret_file = folder_ / "client.secret";
  ASSERT_TRUE(pki::write_secret(folder_ / "client.secret", "a secret: with/signs\n").ok());
  start(confidential);
  EXPECT_EQ(who(signed_in()).at("name"), "users/oidc:alice");
  server_.reset();
  confidential.people->issuer.client_secret_file = folder_ / "none.secret";
  EXPECT_FALSE(Server::start(confidential).ok());
}

TEST_F(SignInServerTest, WhileTheIssuerIsDownOwnTokensCount) {
  issuer_.set_down(true);
  start();
  Json notices;
  for (int i = 0; i < 2000 && notices.empty(); ++i) {
    notices = Json::parse(get("/api/v1/status", "", admin_)->body).at("notices");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].at("kind"), "ISSUER");
  EXPECT_NE(notices[0].at("message").get<std::string>().find("503"), std::string::npos);
  EXPECT_EQ(get("/login")->status, 503);
  EXPECT_EQ(get("/api/v1/nodes", "", issuer_.token("alice", {"staff"}))->status, 401);
  issuer_.set_down(false);
  EXPECT_EQ(who(signed_in()).at("name"), "users/oidc:alice");
  EXPECT_TRUE(Json::parse(get("/api/v1/status", "", admin_)->body).at("notices").empty());
}

TEST_F(SignInServerTest, AStreamEndsWithItsSession) {
  auto store = open_sqlite_store(folder_ / "stripline.db");
  ASSERT_TRUE(store.ok()) << store.error().message();
  const double now_s = unix_seconds();
  auto access = Access::with_authority(**store, *Authority::open(folder_.path(), now_s));
  ASSERT_TRUE(access.ok());
  auto started = People::start(*options().people);
  ASSERT_TRUE(started.ok());
  const std::shared_ptr<People> people = std::move(*started);
  access->let_in(people);
  while (!people->issuer().facts()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const auto secret =
      people->open_session(issuer_.token("alice", {"staff"}, {{"nonce", "n"}}), "n", now_s);
  ASSERT_TRUE(secret);
  const auto in_session = access->identify({"", "", *secret}, now_s);
  ASSERT_TRUE(in_session);
  EXPECT_EQ(in_session->name, "users/oidc:alice");
  const auto by_token = access->identify({issuer_.token("bob", {"staff"}), "", *secret}, now_s);
  ASSERT_TRUE(by_token);
  EXPECT_EQ(by_token->name, "users/oidc:bob") << "a token that is shown counts first";
  EXPECT_FALSE(access->refusal_of_stream(*in_session, now_s));
  EXPECT_FALSE(access->refusal_of_stream(*by_token, now_s));
  EXPECT_TRUE(access->refusal_of_stream(*by_token, now_s + 3700));
  people->close_session(*secret);
  EXPECT_TRUE(access->refusal_of_stream(*in_session, now_s));
  // A name of this kind is none that an own token may have.
  EXPECT_FALSE(access->create_token(*by_token, Role::viewer, "oidc:alice", 0, now_s));
}

TEST_F(SignInServerTest, WithoutAnIssuerThereIsNoSignIn) {
  auto alone = options();
  alone.people.reset();
  start(alone);
  EXPECT_EQ(get("/login")->status, 404);
  EXPECT_EQ(get("/login/about")->status, 404);
  EXPECT_EQ(get("/api/v1/nodes", "", issuer_.token("alice", {"staff"}))->status, 401);
  EXPECT_EQ(get("/api/v1/nodes", std::string(oidc::kSessionCookie) + "=a")->status, 401);
}

TEST_F(SignInServerTest, AServerWithoutCertificatesTakesNoIssuer) {
  auto open = options();
  open.protection = Protection::none;
  EXPECT_FALSE(Server::start(open).ok());
}

}  // namespace
}  // namespace stripline::server
