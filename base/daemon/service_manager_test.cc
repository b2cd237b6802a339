#include "base/daemon/service_manager.h"

#include <array>
#include <cstdlib>
#include <sys/socket.h>
#include <sys/un.h>

#include <gtest/gtest.h>

#include "base/subprocess.h"
#include "base/testing/processes.h"

namespace stripline {
namespace {

// The socket of a service manager, and what was sent to it.
class Manager {
 public:
  explicit Manager(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  std::string next() const {
    std::array<char, 512> text{};
    const ssize_t size = ::recv(fd_.get(), text.data(), text.size(), MSG_DONTWAIT);
    return size < 0 ? "" : std::string(text.data(), static_cast<size_t>(size));
  }

 private:
  UniqueFd fd_;
};

TEST(ServiceManager, IsToldInDatagrams) {
  const TempFolder folder;
  const Manager manager((folder / "notify").string());
  ::setenv("NOTIFY_SOCKET", (folder / "notify").c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  const ServiceManager service = ServiceManager::from_environment();
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  EXPECT_EQ(std::getenv("NOTIFY_SOCKET"), nullptr) << "children would speak for this process";
  EXPECT_TRUE(service.ready("listening\non 1:2").ok());
  EXPECT_EQ(manager.next(), "READY=1\nSTATUS=listening\\u000aon 1:2");
  EXPECT_TRUE(service.reloading().ok());
  EXPECT_EQ(manager.next().find("RELOADING=1\nMONOTONIC_USEC="), 0U);
  EXPECT_TRUE(service.stopping("draining").ok());
  EXPECT_EQ(manager.next(), "STOPPING=1\nSTATUS=draining");
}

TEST(ServiceManager, WithoutOneNothingIsSaid) {
  EXPECT_TRUE(ServiceManager("").ready("x").ok());
  const Status gone = ServiceManager("/nowhere/notify").ready("x");
  ASSERT_FALSE(gone.ok());
  EXPECT_NE(gone.error().message().find("/nowhere/notify"), std::string::npos);
  EXPECT_FALSE(ServiceManager(std::string(200, 'x')).ready("x").ok());
}

}  // namespace
}  // namespace stripline
