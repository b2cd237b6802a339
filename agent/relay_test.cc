#include "agent/relay.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

namespace stripline::agent {
namespace {

UniqueFd connect_to(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval limit{20, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return fd;
}

void write_all(int fd, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t sent = ::send(fd, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    ASSERT_GT(sent, 0);
    done += static_cast<size_t>(sent);
  }
}

std::string read_to_end(int fd) {
  std::string text;
  char piece[4096];
  for (ssize_t got = ::recv(fd, piece, sizeof piece, 0); got > 0;
       got = ::recv(fd, piece, sizeof piece, 0)) {
    text.append(piece, static_cast<size_t>(got));
  }
  return text;
}

class RelayTest : public testing::Test {
 protected:
  RelayTest() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(server_.get(), generic, size), 0);
    EXPECT_EQ(::listen(server_.get(), 8), 0);
    EXPECT_EQ(::getsockname(server_.get(), generic, &size), 0);
    auto relay =
        Relay::open({"127.0.0.1", "0"}, {"127.0.0.1", std::to_string(ntohs(address.sin_port))});
    EXPECT_TRUE(relay.ok());
    relay_.emplace(std::move(*relay));
    thread_ = std::thread([this] { relay_->run(); });
  }
  ~RelayTest() override {
    relay_->stop();
    thread_.join();
  }

  UniqueFd client() const {
    return connect_to(static_cast<uint16_t>(std::stoi(relay_->address().port)));
  }
  UniqueFd accepted() const {
    UniqueFd fd(::accept4(server_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const timeval limit{20, 0};
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return fd;
  }

  UniqueFd server_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::optional<Relay> relay_;
  std::thread thread_;
};

TEST_F(RelayTest, PassesOnBothDirectionsToTheEnd) {
  const UniqueFd agent = client();
  const UniqueFd server = accepted();
  // More than any buffer between them holds.
  const std::string big(size_t{8} << 20, 'x');
  std::thread writer([&] {
    write_all(agent.get(), big);
    ::shutdown(agent.get(), SHUT_WR);
  });
  EXPECT_EQ(read_to_end(server.get()), big);
  writer.join();
  write_all(server.get(), "answer");
  ::shutdown(server.get(), SHUT_WR);
  EXPECT_EQ(read_to_end(agent.get()), "answer");
}

TEST_F(RelayTest, ConnectionsDoNotMix) {
  UniqueFd first = client();
  UniqueFd first_server = accepted();
  const UniqueFd second = client();
  const UniqueFd second_server = accepted();
  first_server.reset();
  EXPECT_EQ(read_to_end(first.get()), "") << "the server has closed it";
  write_all(second.get(), "still here");
  ::shutdown(second.get(), SHUT_WR);
  EXPECT_EQ(read_to_end(second_server.get()), "still here");
}

TEST_F(RelayTest, WithoutAServerTheConnectionEnds) {
  server_.reset();
  const UniqueFd agent = client();
  EXPECT_EQ(read_to_end(agent.get()), "");
}

TEST(Relay, SaysWhyItCannotListen) {
  const auto first = Relay::open({"127.0.0.1", "0"}, {"127.0.0.1", "1"});
  ASSERT_TRUE(first.ok());
  const auto second = Relay::open(first->address(), {"127.0.0.1", "1"});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code(), ErrorCode::already_exists);
  EXPECT_FALSE(Relay::open({"no.such.host.invalid", "0"}, {"127.0.0.1", "1"}).ok());
}

}  // namespace
}  // namespace stripline::agent
