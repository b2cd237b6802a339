// The issuer as it is asked: what it publishes, and what comes of it when it is down, slow or lies.
#include "server/security/oidc/issuer.h"

#include <chrono>
#include <future>
#include <httplib.h>
#include <thread>

#include <gtest/gtest.h>

#include "base/pki/certificate.h"
#include "base/testing/processes.h"
#include "base/whole_file.h"
#include "server/clock.h"
#include "server/testing/fake_issuer.h"

namespace stripline::server::oidc {
namespace {

class IssuerTest : public testing::Test {
 protected:
  void start() {
    options_.url = fake_.url();
    options_.client_id = fake_.client_id;
    options_.first_retry_s = 0.05;
    options_.last_retry_s = 0.05;
    options_.least_refresh_s = 0;
    auto issuer = Issuer::start(options_);
    ASSERT_TRUE(issuer.ok()) << issuer.error().message();
    issuer_ = std::move(*issuer);
  }

  static bool eventually(const std::function<bool()>& holds) {
    for (int i = 0; i < 2000; ++i) {
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  // What the failure says once there is one.
  std::string failure() {
    EXPECT_TRUE(eventually([&] { return issuer_->failure().has_value(); }));
    return issuer_->failure() ? issuer_->failure()->why : "";
  }
  Result<std::string> exchanged(const CodeOrder& order) {
    std::promise<Result<std::string>> promise;
    auto received = promise.get_future();
    issuer_->exchange(order,
                      [&](Result<std::string> token) { promise.set_value(std::move(token)); });
    return received.get();
  }

  FakeIssuer fake_;
  IssuerOptions options_;
  std::unique_ptr<Issuer> issuer_;
};

TEST_F(IssuerTest, FetchesWhatItPublishes) {
  start();
  ASSERT_TRUE(eventually([&] { return issuer_->facts() != nullptr; }));
  EXPECT_EQ(issuer_->facts()->token_endpoint, fake_.url() + "/token");
  EXPECT_EQ(issuer_->facts()->keys.size(), 1U);
  EXPECT_FALSE(issuer_->failure());
}

TEST_F(IssuerTest, IsAskedAgainWhileItIsDown) {
  fake_.set_down(true);
  start();
  EXPECT_NE(failure().find("503"), std::string::npos);
  EXPECT_EQ(issuer_->facts(), nullptr);
  EXPECT_GT(issuer_->failure()->since_unix_s, 0);
  fake_.set_down(false);
  ASSERT_TRUE(eventually([&] { return issuer_->facts() != nullptr; }));
  EXPECT_FALSE(issuer_->failure());
}

TEST_F(IssuerTest, AnUnknownKeyHasItsKeysFetchedButNotAllTheTime) {
  options_.least_refresh_s = 3600;
  options_.url = fake_.url();
  options_.client_id = fake_.client_id;
  issuer_ = std::move(*Issuer::start(options_));
  ASSERT_TRUE(eventually([&] { return issuer_->facts() != nullptr; }));
  for (int i = 0; i < 100; ++i) issuer_->look_again();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(fake_.keys_asked, 1);

  start();
  ASSERT_TRUE(eventually([&] { return issuer_->facts() != nullptr; }));
  fake_.rotate();
  issuer_->look_again();
  EXPECT_TRUE(eventually([&] { return issuer_->facts()->keys.front().id == "k1n"; }));
}

TEST_F(IssuerTest, MustBeWhoItIsTakenFor) {
  fake_.set_discovery({{"issuer", "https://other.example.org"}});
  start();
  EXPECT_NE(failure().find("--oidc-issuer must be the same"), std::string::npos);
  EXPECT_EQ(issuer_->facts(), nullptr);
}

TEST_F(IssuerTest, ItsPlacesMustBeEncryptedToo) {
  fake_.set_discovery({{"jwks_uri", "http://keys.example.org/keys"}});
  start();
  EXPECT_NE(failure().find("not encrypted"), std::string::npos);
}

TEST_F(IssuerTest, AnAnswerWithoutBoundsIsNotRead) {
  fake_.set_discovery({{"more", std::string(size_t{1} << 20, 'a')}});
  start();
  EXPECT_NE(failure().find("cannot read the answer"), std::string::npos);
}

TEST_F(IssuerTest, AnAnswerThatDoesNotComeIsNotWaitedFor) {
  // Takes connections, and says nothing.
  httplib::Server silent;
  std::promise<void> end;
  auto ended = end.get_future().share();
  silent.Get(".*", [ended](const httplib::Request&, httplib::Response&) { ended.wait(); });
  const int port = silent.bind_to_any_port("127.0.0.1");
  std::thread thread([&] { silent.listen_after_bind(); });
  options_.url = "http://127.0.0.1:" + std::to_string(port);
  options_.limit_s = 0.2;
  issuer_ = std::move(*Issuer::start(options_));
  EXPECT_NE(failure().find("no answer in time"), std::string::npos);
  // A request that was sent is given up when the server ends.
  options_.limit_s = 3600;
  issuer_ = std::move(*Issuer::start(options_));
  issuer_->stop();
  end.set_value();
  silent.stop();
  thread.join();
}

TEST_F(IssuerTest, ACodeThatItDidNotGiveIsRefused) {
  start();
  ASSERT_TRUE(eventually([&] { return issuer_->facts() != nullptr; }));
  const auto none = exchanged({"no code", "v", "https://h/login/callback"});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code(), ErrorCode::invalid_argument);
  EXPECT_NE(none.error().message().find("invalid_grant"), std::string::npos);
  issuer_->stop();
  EXPECT_FALSE(exchanged({"code", "v", "u"}).ok()) << "and no one waits for ever";
}

TEST_F(IssuerTest, IsKnownByItsCertificate) {
  const auto key = pki::PrivateKey::generate();
  const double now_s = unix_seconds();
  const auto authority = pki::make_authority(*key, "test", {now_s - 10, now_s + 3600});
  const auto own = pki::PrivateKey::generate();
  const auto certificate = pki::issue({*authority, *key}, *own, {"issuer", {"127.0.0.1"}, {}},
                                      pki::Use::server, {now_s - 10, now_s + 3600});
  const TempFolder folder;
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return folder / name;
  };
  httplib::SSLServer server(write("own.pem", *certificate->pem()).c_str(),
                            write("own.key", *own->pem()).c_str());
  const int port = server.bind_to_any_port("127.0.0.1");
  const std::string url = "https://127.0.0.1:" + std::to_string(port);
  server.Get("/x", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("hello", "text/plain");
  });
  std::thread thread([&] { server.listen_after_bind(); });
  web::HttpLimits limits;
  limits.authorities_file = write("authority.pem", *authority->pem());
  const auto right = web::fetch({*web::parse_url(url + "/x")}, limits, {});
  ASSERT_TRUE(right.ok()) << right.error().message();
  EXPECT_EQ(right->body, "hello");
  limits.authorities_file.clear();
  EXPECT_FALSE(web::fetch({*web::parse_url(url + "/x")}, limits, {}).ok())
      << "the system does not know it";
  limits.authorities_file = folder / "authority.pem";
  EXPECT_FALSE(
      web::fetch({*web::parse_url("https://localhost:" + std::to_string(port) + "/x")}, limits, {})
          .ok())
      << "it is not for this name";
  server.stop();
  thread.join();
}

}  // namespace
}  // namespace stripline::server::oidc
