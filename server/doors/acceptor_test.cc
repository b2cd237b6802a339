#include "server/doors/acceptor.h"

#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <mutex>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

UniqueFd connection_to(uint16_t port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(fd.get(), generic, sizeof address) != 0) return {};
  return fd;
}

// Waits until the other end has closed it: it sends nothing.
bool is_refused(const UniqueFd& fd) {
  char byte = 0;
  return ::recv(fd.get(), &byte, 1, 0) <= 0;
}

bool eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

TEST(Listener, SaysWhyItCannotListen) {
  const auto first = Listener::open({"127.0.0.1", 0});
  ASSERT_TRUE(first.ok()) << first.error().message();
  EXPECT_NE(first->port(), 0);
  const auto taken = Listener::open({"127.0.0.1", first->port()});
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().code(), ErrorCode::already_exists);

  // TEST-NET-1 of RFC 5737: no machine has it.
  const auto foreign = Listener::open({"192.0.2.1", 0});
  ASSERT_FALSE(foreign.ok());
  EXPECT_EQ(foreign.error().code(), ErrorCode::invalid_argument);
}

TEST(Listener, ANameWithSeveralAddressesHasOnePort) {
  const auto listener = Listener::open({"localhost", 0});
  ASSERT_TRUE(listener.ok()) << listener.error().message();
  EXPECT_TRUE(connection_to(listener->port()));
}

class AcceptorTest : public testing::Test {
 protected:
  void SetUp() override {
    auto listener = Listener::open({"127.0.0.1", 0});
    ASSERT_TRUE(listener.ok());
    port_ = listener->port();
    acceptor_ = std::make_unique<Acceptor>(
        std::move(*listener),
        [this](UniqueFd fd) {
          const std::lock_guard lock(mutex_);
          served_.push_back(std::move(fd));
        },
        [this](const Error&) { failed_ = true; });
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit_), 0);
  }
  void TearDown() override { allow(limit_.rlim_cur); }

  void allow(rlim_t descriptors) {
    const rlimit limit{descriptors, limit_.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  size_t served() {
    const std::lock_guard lock(mutex_);
    return served_.size();
  }
  void release() {
    const std::lock_guard lock(mutex_);
    served_.clear();
  }

  rlimit limit_{};
  uint16_t port_ = 0;
  std::mutex mutex_;
  std::vector<UniqueFd> served_;
  std::atomic<bool> failed_ = false;
  std::unique_ptr<Acceptor> acceptor_;
};

TEST_F(AcceptorTest, ConnectionsLeaveDescriptorsToTheRest) {
  // Both ends are in this process.
  constexpr rlim_t kRoom = 60;
  allow(static_cast<rlim_t>(UniqueFd(::dup(0)).get()) + kRoom);
  std::vector<UniqueFd> clients;
  for (size_t i = 0; i < kRoom / 2; ++i) {
    if (UniqueFd client = connection_to(port_)) clients.push_back(std::move(client));
  }
  ASSERT_GT(clients.size(), 1U);
  EXPECT_TRUE(is_refused(clients.back()));
  EXPECT_LT(served(), clients.size());
  EXPECT_GT(served(), 0U);
  EXPECT_TRUE(UniqueFd(::dup(0)));

  clients.clear();
  release();
  const UniqueFd later = connection_to(port_);
  EXPECT_TRUE(eventually([&] { return served() == 1; }));
  EXPECT_FALSE(failed_);
}

TEST_F(AcceptorTest, GoesOnAfterItHasFoundNoDescriptor) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "UBSan, which comes with it, looks at objects through a pipe";
#endif
  const UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  allow(static_cast<rlim_t>(client.get()) + 1);  // not one more
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port_);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
            0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // let it try
  EXPECT_EQ(served(), 0U);
  allow(limit_.rlim_cur);
  EXPECT_TRUE(eventually([&] { return served() == 1; }));
  EXPECT_FALSE(failed_);
}

}  // namespace
}  // namespace stripline::server
