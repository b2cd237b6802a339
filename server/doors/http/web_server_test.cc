// The server of HTTP by real connections: what callers may make it do, and how it ends.
#include "server/doors/http/web_server.h"

#include <atomic>
#include <future>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/subprocess.h"
#include "server/testing/http_client.h"

namespace stripline::server::http {
namespace {

// The letters of a text, one after the other, as often as it is asked.
class Letters final : public Pieces {
 public:
  Letters(std::string text, std::atomic<int>& asked) : text_(std::move(text)), asked_(asked) {}
  std::optional<std::string> next() override {
    ++asked_;
    if (next_ == text_.size()) return std::nullopt;
    return std::string(1, text_[next_++]);
  }

 private:
  const std::string text_;
  std::atomic<int>& asked_;
  size_t next_ = 0;
};

// Says nothing until it is woken; then one word, and ends.
class Silence final : public Pieces {
 public:
  explicit Silence(std::promise<std::function<void()>>& wake) : wake_(wake) {}
  ~Silence() override { ++ended; }
  std::optional<std::string> next() override {
    if (!woken_) return "";
    return std::exchange(said_, true) ? std::nullopt : std::optional<std::string>("woken");
  }
  void on_news(std::function<void()> wake) override {
    wake_.set_value([this, wake = std::move(wake)] {
      woken_ = true;
      wake();
    });
  }
  bool endless() const override { return true; }
  static inline std::atomic<int> ended = 0;

 private:
  std::promise<std::function<void()>>& wake_;
  std::atomic<bool> woken_ = false;
  bool said_ = false;
};

class WebServerTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.host = "127.0.0.1";
    options_.names = {"head"};
  }

  void serve() {
    auto server =
        WebServer::start(options_, [this](Request request, const WebServer::Reply& reply) {
          answer(std::move(request), reply);
        });
    ASSERT_TRUE(server.ok()) << server.error().message();
    server_.emplace(std::move(*server));
  }

  void answer(Request request, const WebServer::Reply& reply) {
    Response response;
    response.type = "text/plain";
    response.body = request.path + " " + request.body + " " + request.peer;
    if (request.path == "/large") response.body = std::string(1'000'000, 'x');
    // More than the sockets between hold.
    if (request.path == "/huge") response.body = std::string(size_t{16} << 20, 'x');
    if (request.query.contains("payer")) response.payer = request.query.at("payer");
    if (request.path == "/lasting") response.lasting = kLasting;
    if (request.path == "/letters") response.pieces = std::make_unique<Letters>("letters", asked_);
    if (request.path == "/silence") response.pieces = std::make_unique<Silence>(wake_);
    if (request.path == "/fails") throw std::runtime_error("on purpose");
    if (request.path == "/later") {
      later_ = std::async(std::launch::async, [reply, body = response.body] {
        Response late;
        late.body = body;
        reply(std::move(late));
      });
      return;
    }
    reply(std::move(response));
  }

  httplib::Client client() const { return http_client(server_->port()); }

  // Sends this, and reads until the server has closed the connection.
  std::string say(const std::string& text) const {
    const UniqueFd fd = connected();
    EXPECT_EQ(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
    return rest_of(fd);
  }

  UniqueFd connected() const {
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server_->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return fd;
  }

  static std::string rest_of(const UniqueFd& fd) {
    std::string text;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::recv(fd.get(), buffer, sizeof buffer, 0)) > 0;) {
      text.append(buffer, static_cast<size_t>(got));
    }
    return text;
  }

  // What comes until it ends so, or the server has closed the connection.
  static std::string until(const UniqueFd& fd, std::string_view ending) {
    std::string text;
    char buffer[4096];
    while (!text.ends_with(ending)) {
      const ssize_t got = ::recv(fd.get(), buffer, sizeof buffer, 0);
      if (got <= 0) break;
      text.append(buffer, static_cast<size_t>(got));
    }
    return text;
  }

  // Begins a stream in which nothing is sent before what is returned is called.
  std::function<void()> silence_on(const UniqueFd& fd) {
    const std::string ask = "GET /silence HTTP/1.1\r\nHost: head\r\nConnection: close\r\n\r\n";
    ::send(fd.get(), ask.data(), ask.size(), MSG_NOSIGNAL);
    auto wake = wake_.get_future().get();
    wake_ = {};
    return wake;
  }

  static constexpr std::string_view kLasting = "lasting";
  WebServerOptions options_;
  std::atomic<int> asked_ = 0;
  std::promise<std::function<void()>> wake_;
  std::future<void> later_;
  std::optional<WebServer> server_;
};

TEST_F(WebServerTest, AnswersOneRequestAfterTheOther) {
  serve();
  auto one = client();
  one.set_keep_alive(true);
  for (int i = 0; i < 3; ++i) {
    const auto got = one.Get("/a%20b");
    ASSERT_TRUE(got);
    EXPECT_EQ(got->body, "/a b  127.0.0.1");
    EXPECT_EQ(got->get_header_value("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(one.Post("/x", "text", "text/plain")->body, "/x text 127.0.0.1");
  }
  EXPECT_EQ(one.Get("/large")->body.size(), 1'000'000U);
  EXPECT_EQ(one.Get("/lasting")->body, "lasting");
  EXPECT_EQ(one.Get("/letters")->body, "letters");
  EXPECT_EQ(one.Get("/later")->body, "/later  127.0.0.1");
  const auto head = one.Head("/large");
  EXPECT_EQ(head->get_header_value("Content-Length"), "1000000");
  EXPECT_EQ(one.Get("/fails")->status, kInternalError);
}

TEST_F(WebServerTest, RequestsMayComeAtOnce) {
  serve();
  const std::string two =
      say("GET /1 HTTP/1.1\r\nHost: head\r\n\r\n"
          "GET /2 HTTP/1.1\r\nHost: head\r\nConnection: close\r\n\r\n");
  EXPECT_NE(two.find("/1  127"), std::string::npos) << two;
  EXPECT_NE(two.find("/2  127"), std::string::npos) << two;
}

TEST_F(WebServerTest, OldCallersAreAnswered) {
  serve();
  const std::string letters = say("GET /letters HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(letters.ends_with("\r\n\r\nletters")) << letters;
}

TEST_F(WebServerTest, WhoWaitsForItIsAskedForTheBody) {
  serve();
  const UniqueFd fd = connected();
  const std::string head =
      "POST /x HTTP/1.1\r\nHost: head\r\nContent-Length: 4\r\nExpect: 100-continue\r\nConnection: "
      "close\r\n\r\n";
  ::send(fd.get(), head.data(), head.size(), MSG_NOSIGNAL);
  std::string asked(25, '\0');
  EXPECT_EQ(::recv(fd.get(), asked.data(), asked.size(), MSG_WAITALL), 25);
  EXPECT_EQ(asked, "HTTP/1.1 100 Continue\r\n\r\n");
  ::send(fd.get(), "body", 4, MSG_NOSIGNAL);
  EXPECT_NE(rest_of(fd).find("/x body"), std::string::npos);
}

TEST_F(WebServerTest, WhoIsRefusedSeesWhy) {
  serve();
  EXPECT_TRUE(say("GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
                  .starts_with("HTTP/1.1 421 "));
  // Though much more of it is still to come.
  const auto large = client().Post("/x", std::string(500'000, 'x'), "text/plain");
  ASSERT_TRUE(large);
  EXPECT_EQ(large->status, kTooLarge);
}

TEST_F(WebServerTest, RangesAreNotServed) {
  serve();
  std::string ranges = "bytes=0-";
  for (int i = 0; i < 2000; ++i) ranges += ",0-";
  const auto got = client().Get("/large", {{"Range", ranges}});
  ASSERT_TRUE(got);
  EXPECT_EQ(got->status, kOk);
  EXPECT_EQ(got->body.size(), 1'000'000U);
}

// None of them makes room for another, however many ask at once.
TEST_F(WebServerTest, AnAddressMayUseAllOfItsConnections) {
  serve();
  std::vector<UniqueFd> callers;
  for (size_t i = 0; i < options_.bounds.connections_of_address; ++i) {
    callers.push_back(connected());
  }
  const std::string ask = "GET /x HTTP/1.1\r\nHost: head\r\n\r\n";
  for (int round = 0; round < 3; ++round) {
    for (const UniqueFd& caller : callers) {
      EXPECT_EQ(::send(caller.get(), ask.data(), ask.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(ask.size()));
    }
    for (size_t i = 0; i < callers.size(); ++i) {
      const std::string answer = until(callers[i], "/x  127.0.0.1");
      EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << round << " " << i << ": " << answer;
    }
  }
}

TEST_F(WebServerTest, ACallerWhoSaysNothingMakesRoom) {
  options_.bounds.connections_of_address = 4;
  serve();
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 32; ++i) {
    silent.push_back(connected());
    ::send(silent.back().get(), "GET", 3, MSG_NOSIGNAL);
  }
  EXPECT_EQ(client().Get("/x")->status, kOk);
  EXPECT_EQ(rest_of(silent.front()), "") << "it was closed";
}

TEST_F(WebServerTest, ACallerWhoReadsNothingMakesRoom) {
  options_.bounds.connections_of_address = 4;
  serve();
  std::string many;
  for (int i = 0; i < 30; ++i) many += "GET /large HTTP/1.1\r\nHost: head\r\n\r\n";
  std::vector<UniqueFd> deaf;
  for (int i = 0; i < 8; ++i) {
    deaf.push_back(connected());
    ::send(deaf.back().get(), many.data(), many.size(), MSG_NOSIGNAL);
  }
  // While the answers of all four are worked out none of them makes room: this one waits.
  const auto answer = client().Get("/x");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, kOk);
}

TEST_F(WebServerTest, ARequestHasItsTime) {
  options_.bounds.request_s = 0.05;
  serve();
  const UniqueFd fd = connected();
  ::send(fd.get(), "GET / HTT", 9, MSG_NOSIGNAL);
  EXPECT_EQ(rest_of(fd), "") << "it ends without an answer";
}

TEST_F(WebServerTest, AnAnswerThatNoOneReadsIsGivenUp) {
  options_.bounds.write_s = 0.05;
  serve();
  const UniqueFd fd = connected();
  const int small = 4096;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  // More than the buffers of both sides hold.
  std::string many;
  for (int i = 0; i < 30; ++i) many += "GET /large HTTP/1.1\r\nHost: head\r\n\r\n";
  ::send(fd.get(), many.data(), many.size(), MSG_NOSIGNAL);
  // The server ends the connection, whose last word is a reset.
  while (::send(fd.get(), "x", 1, MSG_NOSIGNAL) == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(client().Get("/x")->status, kOk);
}

TEST_F(WebServerTest, StreamsAreWokenAndAtMostAsManyAsTheyMay) {
  options_.bounds.streams = 1;
  serve();
  const UniqueFd fd = connected();
  const auto wake = silence_on(fd);
  EXPECT_EQ(client().Get("/silence")->status, kTooManyRequests);
  wake();
  const std::string said = rest_of(fd);
  EXPECT_NE(said.find("5\r\nwoken\r\n0\r\n\r\n"), std::string::npos) << said;
}

TEST_F(WebServerTest, AnswersThatOneCallerDoesNotReadShutNoOneOut) {
  options_.bounds.answers_bytes_of_payer = size_t{20} << 20;
  serve();
  const UniqueFd deaf = connected();
  const std::string ask = "GET /huge?payer=a HTTP/1.1\r\nHost: head\r\n\r\n";
  ::send(deaf.get(), ask.data(), ask.size(), MSG_NOSIGNAL);
  char first = 0;  // of the answer, which is not refused, as nothing else is being sent
  ASSERT_EQ(::recv(deaf.get(), &first, 1, MSG_PEEK), 1);
  int own = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (own != kTooManyRequests && std::chrono::steady_clock::now() < end) {
    own = client().Get("/huge?payer=a")->status;
  }
  EXPECT_EQ(own, kTooManyRequests);
  EXPECT_EQ(client().Get("/huge?payer=b")->status, kOk);
}

TEST_F(WebServerTest, StreamsOfAnAddressLeaveItSeats) {
  options_.bounds.streams_of_address = 1;
  serve();
  const UniqueFd fd = connected();
  const auto wake = silence_on(fd);
  EXPECT_EQ(client().Get("/silence")->status, kTooManyRequests);
  EXPECT_EQ(client().Get("/a")->status, kOk);
  wake();
  EXPECT_NE(rest_of(fd).find("woken"), std::string::npos);
  // It is given back with the stream.
  std::thread waker([&] { wake_.get_future().get()(); });
  const auto again = client().Get("/silence");
  waker.join();
  EXPECT_EQ(again->status, kOk);
}

TEST_F(WebServerTest, AStreamEndsWithItsReader) {
  serve();
  const int before = Silence::ended;
  {
    const UniqueFd fd = connected();
    const std::string ask = "GET /silence HTTP/1.1\r\nHost: head\r\n\r\n";
    ::send(fd.get(), ask.data(), ask.size(), MSG_NOSIGNAL);
    wake_.get_future().wait();
  }
  while (Silence::ended == before) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

TEST_F(WebServerTest, EndsThoughConnectionsAreOpen) {
  serve();
  const UniqueFd silent = connected();
  const UniqueFd stream = connected();
  const std::string ask = "GET /silence HTTP/1.1\r\nHost: head\r\n\r\n";
  ::send(stream.get(), ask.data(), ask.size(), MSG_NOSIGNAL);
  wake_.get_future().wait();
  server_.reset();
  EXPECT_EQ(rest_of(silent), "");
}

TEST_F(WebServerTest, APortIsOneServersAlone) {
  serve();
  options_.port = server_->port();
  const auto second = WebServer::start(options_, [](const Request&, const WebServer::Reply&) {});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code(), ErrorCode::already_exists) << second.error().message();
}

}  // namespace
}  // namespace stripline::server::http
