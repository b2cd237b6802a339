// Ranks as processes: bytes really cross the provider, and a peer that dies is noticed.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/hex.h"
#include "base/json_channel.h"
#include "base/sha256.h"
#include "runtime/fabric/ofi/ofi_fabric.h"
#include "runtime/fabric/ofi/ofi_test_ranks.h"

namespace stripline::fabric::ofi {
namespace {

constexpr size_t kSegmentBytes = size_t{4} << 20;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string tool(const std::string& name) { return executable_folder() + "/" + name; }

/// The other end of ofi_test_peer.
class PeerProcess {
 public:
  PeerProcess(const std::string& fabric, Rank rank, Rank ranks, size_t segment_bytes,
              std::vector<std::string> prefix = {},
              std::map<std::string, std::string> environment = {})
      : PeerProcess(socket_pair(), fabric, rank, ranks, segment_bytes, std::move(prefix),
                    std::move(environment)) {}

  Json ask(const Json& message) {
    EXPECT_TRUE(channel_.write(message).ok());
    return next();
  }
  Json next() {
    auto answer = channel_.read(30);
    if (!answer.ok() || !*answer) {
      ADD_FAILURE() << "no answer from the peer process";
      return Json::object();
    }
    return **answer;
  }
  void tell(const Json& message) { EXPECT_TRUE(channel_.write(message).ok()); }
  Subprocess& process() { return process_; }
  const std::string& address() const { return address_; }
  /// Kills it by SIGKILL and clears what it could not.
  void kill() {
    process_.signal(SIGKILL);
    process_.wait(10).ok();
    remove_ofi_leftovers(process_.pid());
  }

 private:
  PeerProcess(Result<std::pair<UniqueFd, UniqueFd>> ends, const std::string& fabric, Rank rank,
              Rank ranks, size_t segment_bytes, std::vector<std::string> prefix,
              std::map<std::string, std::string> environment)
      : channel_(std::move(ends->first)),
        process_(start(ends->second.get(), fabric, rank, ranks, segment_bytes, std::move(prefix),
                       std::move(environment))) {
    ends->second.reset();
    address_ = from_hex(next().value("address", "")).value_or("");
  }
  static Subprocess start(int fd, const std::string& fabric, Rank rank, Rank ranks,
                          size_t segment_bytes, std::vector<std::string> prefix,
                          std::map<std::string, std::string> environment) {
    SubprocessOptions options;
    options.argv = std::move(prefix);
    for (const std::string& word : {tool("ofi_test_peer"), fabric, std::to_string(rank),
                                    std::to_string(ranks), std::to_string(segment_bytes)}) {
      options.argv.push_back(word);
    }
    options.environment = std::move(environment);
    options.inherit = {{fd, 3}};
    auto process = Subprocess::spawn(options);
    if (!process.ok()) throw FabricFailure(process.error());
    return std::move(process).value();
  }

  JsonChannel channel_;
  Subprocess process_;
  std::string address_;
};

/// Rank 0 here, rank 1 in a process of its own.
struct ProcessPair {
  explicit ProcessPair(const std::string& fabric, const Settings& settings = {})
      : peer(fabric, 1, 2, kSegmentBytes) {
    auto opened = open_rank(fabric, 0, 2, kSegmentBytes, settings);
    if (!opened.ok()) throw FabricFailure(opened.error());
    mine = std::move(opened).value();
    const std::vector<std::string> addresses = {mine->local_address(), peer.address()};
    peer.tell({{"addresses", {to_hex(addresses[0]), to_hex(addresses[1])}}});
    const Status status = mine->connect(addresses, 20);
    if (!status.ok()) throw FabricFailure(status.error());
    EXPECT_TRUE(peer.next().value("connected", false));
  }

  PeerProcess peer;
  std::unique_ptr<Fabric> mine;
};

std::string digest(std::span<const std::byte> bytes) {
  return sha256_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

/// Bytes received by the loopback interface so far.
uint64_t loopback_bytes() {
  std::ifstream file("/proc/self/net/dev");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon != std::string::npos && line.substr(0, colon).ends_with("lo")) {
      uint64_t bytes = 0;
      std::istringstream(line.substr(colon + 1)) >> bytes;
      return bytes;
    }
  }
  return 0;
}

bool shares_memory(pid_t a, pid_t b) {
  const auto shared_mappings = [](pid_t pid) {
    std::set<std::string> inodes;
    std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
    for (std::string line; std::getline(maps, line);) {
      std::istringstream fields(line);
      std::string range;
      std::string permissions;
      std::string offset;
      std::string device;
      std::string inode;
      fields >> range >> permissions >> offset >> device >> inode;
      if (permissions.ends_with('s') && inode != "0") inodes.insert(device + inode);
    }
    return inodes;
  };
  const auto first = shared_mappings(a);
  const auto second = shared_mappings(b);
  return std::ranges::any_of(first, [&](const auto& inode) { return second.contains(inode); });
}

TEST(OfiProcessTest, BytesCrossTheNetworkBetweenProcesses) {
  ProcessPair pair("tcp");
  // No memory is shared, so what appears in the peer's segment came through the loopback device.
  EXPECT_FALSE(shares_memory(getpid(), pair.peer.process().pid()));
  const auto data = pattern(kSegmentBytes, 42);
  const uint64_t before = loopback_bytes();
  Counter counter;
  pair.mine->put(1, 0, {data.data(), data.size()}, counter);
  pair.mine->wait_for(counter);
  EXPECT_GE(loopback_bytes() - before, kSegmentBytes);
  EXPECT_EQ(pair.mine->traffic().put_bytes, kSegmentBytes);
  EXPECT_EQ(pair.peer.ask({{"command", "digest"}}).value("digest", ""), digest(data));

  std::vector<std::byte> back(kSegmentBytes);
  const uint64_t between = loopback_bytes();
  pair.mine->get({back.data(), back.size()}, 1, 0, counter);
  pair.mine->wait_for(counter);
  EXPECT_GE(loopback_bytes() - between, kSegmentBytes);
  EXPECT_EQ(back, data);
  pair.peer.tell({{"command", "leave"}});
}

class DeathTest : public testing::TestWithParam<const char*> {
 protected:
  /// The failure that `act` ends with, and how long it took.
  struct Failure {
    std::string message;
    ErrorCode code = ErrorCode::internal;
    double seconds = 0;
  };
  static std::optional<Failure> failure_of(const std::function<void()>& act) {
    const auto start = std::chrono::steady_clock::now();
    try {
      act();
    } catch (const FabricFailure& failure) {
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      return Failure{failure.what(), failure.code, elapsed.count()};
    }
    return std::nullopt;
  }
  static void expect_loss_of_rank_1(const std::optional<Failure>& failure) {
    ASSERT_TRUE(failure) << "the peer's death was not noticed";
    EXPECT_EQ(failure->code, ErrorCode::aborted);
    EXPECT_NE(failure->message.find("rank 1 (host "), std::string::npos) << failure->message;
    EXPECT_LT(failure->seconds, 10) << failure->message;
  }
};

TEST_P(DeathTest, IsNoticedWhileTransferring) {
  ProcessPair pair(GetParam());
  std::vector<std::byte> data(1 << 20);
  Counter counter;
  const auto failure = failure_of([&] {
    for (int round = 0;; ++round) {
      if (round == 20) pair.peer.kill();
      pair.mine->put(1, 0, {data.data(), data.size()}, counter);
      pair.mine->get({data.data(), 8}, 1, 0, counter);
      pair.mine->wait_for(counter);
    }
  });
  expect_loss_of_rank_1(failure);
}

TEST_P(DeathTest, IsNoticedWhileWaitingForAMessage) {
  ProcessPair pair(GetParam());
  pair.peer.kill();
  expect_loss_of_rank_1(failure_of([&] { pair.mine->wait([] { return false; }, kInfinity); }));
}

TEST_P(DeathTest, IsNoticedWhileSending) {
  ProcessPair pair(GetParam());
  pair.peer.kill();
  const std::vector<std::byte> message(1000);
  expect_loss_of_rank_1(failure_of([&] {
    while (true) {
      pair.mine->try_send(1, message);
      pair.mine->poll();
    }
  }));
}

TEST_P(DeathTest, ClosingDoesNotHangAfterwards) {
  ProcessPair pair(GetParam());
  pair.peer.kill();
  const auto start = std::chrono::steady_clock::now();
  pair.mine.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST_P(DeathTest, AStoppedPeerIsNamedAfterTheTimeout) {
  Settings settings;
  settings.peer_timeout_s = 1;
  ProcessPair pair(GetParam(), settings);
  pair.peer.process().signal(SIGSTOP);
  Counter counter;
  std::byte value[8] = {};
  const auto failure = failure_of([&] {
    pair.mine->put(1, 0, {value, sizeof(value)}, counter);
    pair.mine->wait_for(counter);
  });
  expect_loss_of_rank_1(failure);
  pair.peer.kill();
}

TEST_P(DeathTest, APeerThatLeavesInGoodOrderIsNone) {
  ProcessPair pair(GetParam());
  pair.peer.tell({{"command", "leave"}});
  const auto failure =
      failure_of([&] { pair.mine->wait([] { return false; }, pair.mine->now_s() + 2); });
  EXPECT_FALSE(failure) << failure->message;
  const auto status = pair.peer.process().wait(10);
  ASSERT_TRUE(status.ok());
  EXPECT_TRUE(status->ok()) << status->describe();
}

INSTANTIATE_TEST_SUITE_P(Providers, DeathTest, testing::Values("tcp", "shm"),
                         [](const auto& fabric) { return std::string(fabric.param); });

TEST(OfiLeftoversTest, RemovesOnlyThoseOfTheProcess) {
  const std::filesystem::path mine = "/dev/shm/999999999:0:1";
  const std::filesystem::path other = "/dev/shm/9999999991:0:1";
  std::ofstream(mine) << "x";
  std::ofstream(other) << "x";
  remove_ofi_leftovers(999999999);
  EXPECT_FALSE(std::filesystem::exists(mine));
  EXPECT_TRUE(std::filesystem::remove(other));
}

TEST(OfiLeftoversTest, RemovesThoseOfTheDead) {
  const std::filesystem::path folder = "/dev/shm";
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::minutes(5);
  // No process has a number so large.
  const std::filesystem::path dead = folder / "999999998:0:1";
  const std::filesystem::path alive = folder / (std::to_string(getpid()) + ":0:99");
  const std::filesystem::path another = folder / "999999998:of-another-program";
  for (const auto& path : {dead, alive, another}) std::ofstream(path) << "x";
  for (const auto& path : {dead, alive, another}) std::filesystem::last_write_time(path, old);
  remove_ofi_leftovers_of_the_dead();
  EXPECT_FALSE(std::filesystem::exists(dead));
  for (const auto& path : {alive, another}) {
    EXPECT_TRUE(std::filesystem::remove(path)) << path;
  }
}

/// Two network namespaces with a cable between them; removed on destruction.
class Namespaces {
 public:
  Namespaces() : id_(std::to_string(getpid())) {
    usable_ = run({"ip", "netns", "add", name(0)}) && run({"ip", "netns", "add", name(1)}) &&
              run({"ip", "link", "add", device(0), "netns", name(0), "type", "veth", "peer", "name",
                   device(1), "netns", name(1)});
    for (int side = 0; side < 2 && usable_; ++side) {
      usable_ = run({"ip", "-n", name(side), "link", "set", "lo", "up"}) &&
                run({"ip", "-n", name(side), "addr", "add", address(side) + "/24", "dev",
                     device(side)}) &&
                run({"ip", "-n", name(side), "link", "set", device(side), "up"});
    }
  }
  ~Namespaces() {
    run({"ip", "netns", "del", name(0)});
    run({"ip", "netns", "del", name(1)});
  }
  Namespaces(const Namespaces&) = delete;
  Namespaces& operator=(const Namespaces&) = delete;

  bool usable() const { return usable_; }
  std::string name(int side) const { return "stripline-" + id_ + "-" + std::to_string(side); }
  std::string device(int side) const { return "sl" + id_ + (side == 0 ? "a" : "b"); }
  static std::string address(int side) { return side == 0 ? "10.213.7.1" : "10.213.7.2"; }

 private:
  static bool run(const std::vector<std::string>& command) {
    const UniqueFd null(open("/dev/null", O_WRONLY | O_CLOEXEC));
    SubprocessOptions options;
    options.argv = command;
    options.stderr_fd = null.get();
    auto process = Subprocess::spawn(options);
    if (!process.ok()) return false;
    const auto status = process->wait(10);
    return status.ok() && status->ok();
  }
  std::string id_;
  bool usable_ = false;
};

TEST(OfiNamespaceTest, RanksOfTwoNetworksReachEachOther) {
  const Namespaces networks;
  if (!networks.usable()) GTEST_SKIP() << "network namespaces need root and iproute2";
  for (const bool by_address : {true, false}) {
    std::vector<std::unique_ptr<PeerProcess>> peers;
    Json addresses = Json::array();
    for (int side = 0; side < 2; ++side) {
      const std::map<std::string, std::string> environment =
          by_address
              ? std::map<std::string, std::string>{{"STRIPLINE_ADDRESS", Namespaces::address(side)}}
              : std::map<std::string, std::string>{{"STRIPLINE_IFACE", networks.device(side)}};
      peers.push_back(std::make_unique<PeerProcess>(
          "tcp", static_cast<Rank>(side), 2, kSegmentBytes,
          std::vector<std::string>{"ip", "netns", "exec", networks.name(side)}, environment));
      addresses.push_back(to_hex(peers.back()->address()));
    }
    for (const auto& peer : peers) peer->tell({{"addresses", addresses}});
    for (const auto& peer : peers) {
      const Json answer = peer->next();
      EXPECT_TRUE(answer.value("connected", false)) << answer.dump();
    }
    const Json answer =
        peers[0]->ask({{"command", "put"}, {"target", 1}, {"bytes", kSegmentBytes}});
    EXPECT_EQ(answer.value("put_bytes", size_t{0}), kSegmentBytes);
    EXPECT_EQ(peers[1]->ask({{"command", "digest"}}).value("digest", ""),
              digest(pattern(kSegmentBytes, 1)));
    for (const auto& peer : peers) peer->tell({{"command", "leave"}});
    for (const auto& peer : peers) EXPECT_TRUE(peer->process().wait(10).ok());
  }
}

TEST(OfiNamespaceTest, LoopbackAddressesOfTwoNetworksAreExplained) {
  const Namespaces networks;
  if (!networks.usable()) GTEST_SKIP() << "network namespaces need root and iproute2";
  PeerProcess inside("tcp", 1, 2, 0, {"ip", "netns", "exec", networks.name(0)});
  auto mine = open_rank("tcp", 0, 2, 0, {});
  ASSERT_TRUE(mine.ok());
  const Status status =
      (*mine)->connect(std::vector<std::string>{(*mine)->local_address(), inside.address()}, 5);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message().find("STRIPLINE_ADDRESS"), std::string::npos)
      << status.error().message();
}

}  // namespace
}  // namespace stripline::fabric::ofi
