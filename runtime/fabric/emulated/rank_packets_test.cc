// Networks whose switches hold little: what is held back, by how much, and that everything arrives.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "base/json.h"
#include "runtime/fabric/emulated/profile.h"
#include "runtime/fabric/emulated/testing/emulated_ranks.h"

namespace stripline::fabric {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr size_t kSegment = size_t{4} << 20;

Json of(double value) { return {{"value", value}, {"assumed", "for the test"}}; }

Json tree_with_buffers() {
  return *parse_json(builtin_profile_text("small-buffer-tree"), "small-buffer-tree");
}

/// A profile in a file, gone with it.
class ProfileFile {
 public:
  explicit ProfileFile(const Json& profile) {
    static int files = 0;
    path_ = testing::TempDir() + "stripline_buffers_" + std::to_string(::getpid()) + "_" +
            std::to_string(files++) + ".json";
    EXPECT_TRUE(write_json_file(path_, profile).ok());
  }
  ~ProfileFile() { std::filesystem::remove(path_); }
  ProfileFile(const ProfileFile&) = delete;
  ProfileFile& operator=(const ProfileFile&) = delete;

  std::string fabric(const std::string& options = "compute=none,jitter=off") const {
    return "emulated:" + path_ + (options.empty() ? "" : "," + options);
  }
  Profile profile() const { return resolve_profile(fabric())->profile; }

 private:
  std::string path_;
};

/// Without buffer_bytes, switches hold everything.
Json with_packets(Json profile, double packet_bytes, std::optional<double> buffer_bytes) {
  profile["fat_tree"]["packet_bytes"] = of(packet_bytes);
  profile["fat_tree"].erase("buffer_bytes");
  if (buffer_bytes) profile["fat_tree"]["buffer_bytes"] = of(*buffer_bytes);
  return profile;
}

/// Every time that a rank reads while it puts, gets, sends and counts at random, in sizes below and
/// above what buffers hold; all that arrives is checked.
std::vector<std::vector<double>> random_traffic(const std::string& fabric_name, Rank ranks) {
  constexpr int kSteps = 40;
  std::vector<std::vector<double>> times(ranks);
  run_emulated_ranks(ranks, fabric_name, "virtual", 5, kSegment, [&](Fabric& fabric, Rank rank) {
    Inbox inbox;
    fabric.set_message_sink(&inbox);
    std::mt19937_64 random(rank);
    std::vector<std::byte> data(size_t{1} << 17, std::byte{7});
    std::vector<std::byte> got(data.size());
    Counter counter;
    uint64_t before = 0;
    for (int step = 0; step < kSteps; ++step) {
      const auto peer = static_cast<Rank>(random() % ranks);
      const size_t bytes = random() % (size_t{1} << (random() % 18));
      switch (random() % 4) {
        case 0:
          fabric.put(peer, 0, {data.data(), bytes}, counter);
          break;
        case 1:
          fabric.get({got.data(), bytes}, peer, 1 << 20, counter);
          break;
        case 2:
          fabric.atomic({.op = AtomicOp::add, .type = AtomicType::uint64, .operand = 1}, peer,
                        2 << 20, &before, counter);
          break;
        default:
          while (!fabric.try_send(peer, std::span(data.data(), bytes % 4096))) fabric.poll();
      }
      if (random() % 4 == 0) fabric.wait_for(counter);
      times[rank].push_back(fabric.now_s());
    }
    fabric.wait_for(counter);
    times[rank].push_back(fabric.now_s());
    fabric.set_message_sink(nullptr);
  });
  return times;
}

TEST(FiniteBuffers, ThatAreNeverFullChangeNothing) {
  constexpr double kVast = 1U << 30;
  const ProfileFile vast(with_packets(tree_with_buffers(), 2048, kVast));
  const ProfileFile unlimited(with_packets(tree_with_buffers(), 2048, std::nullopt));
  const ProfileFile whole(with_packets(tree_with_buffers(), kVast, kVast));
  for (const Rank ranks : {Rank{5}, Rank{32}}) {
    const auto packets = random_traffic(vast.fabric("compute=none"), ranks);
    EXPECT_EQ(packets, random_traffic(unlimited.fabric("compute=none"), ranks));
    const auto small = random_traffic("emulated:small-buffer-tree,compute=none", ranks);
    if (ranks > 8) {
      EXPECT_NE(packets, small);
    }
    // Messages that are one packet each.
    const auto messages = random_traffic(whole.fabric("compute=none"), ranks);
    EXPECT_EQ(messages, random_traffic("emulated:congested-tree,compute=none", ranks));
    EXPECT_NE(messages, packets);
  }
}

TEST(FiniteBuffers, AreReproducibleUnderAnyHostScheduling) {
  const ProfileFile small(with_packets(tree_with_buffers(), 512, 2048));
  const auto times = random_traffic(small.fabric("compute=none"), 12);
  for (const char* seed : {"1", "2"}) {
    EXPECT_EQ(random_traffic(small.fabric(std::string("compute=none,host_delays=") + seed), 12),
              times);
  }
}

// From node 0 to 16, which leads over two levels, of which the second takes four times as long for
// a byte. Puts are issued when the NIC has let go of the one before. Put i starts on the slow link
// at
//   b(i) = o + L + hop + i w_slow.
// Four fit into each of the two buffers before it: those of the first switch and of the second. Put
// i + 4 leaves for the second switch when the rest of put i leaves that one as fast as
// the next comes, w_slow - w_link after b(i); and put i + 8 leaves the NIC when put i + 4 makes
// room for it at the first. The NIC is done with it g + w_nic later, unless it has not been that
// far yet: with nothing to wait for it takes o + g + w_nic for each.
TEST(FiniteBuffers, HoldASenderToTheSpeedOfASlowLink) {
  constexpr size_t kBytes = 4096;
  constexpr int kPuts = 40;
  Json tree = tree_with_buffers();
  tree["queue_depth"] = of(1);
  const double slow_G = 4 * tree["fat_tree"]["levels"][1]["G_s_per_byte"]["value"].get<double>();
  tree["fat_tree"]["levels"][1]["G_s_per_byte"] = of(slow_G);
  for (const bool finite : {true, false}) {
    SCOPED_TRACE(finite);
    const ProfileFile file(
        with_packets(tree, kBytes, finite ? std::optional<double>(4 * kBytes) : std::nullopt));
    const Profile profile = file.profile();
    const ProfileSegment& put = profile.put.at(kBytes);
    std::vector<double> let_go_s;
    double end_s = 0;
    run_emulated_ranks(17, file.fabric(), "virtual", 1, kSegment, [&](Fabric& fabric, Rank rank) {
      if (rank != 0) return;
      const std::vector<std::byte> data(kBytes);
      Counter counter;
      for (int i = 0; i < kPuts; ++i) {
        fabric.put(16, 0, {data.data(), kBytes}, counter);
        if (i > 0) let_go_s.push_back(fabric.now_s() - put.o_base_s);  // of put i - 1
      }
      fabric.wait_for(counter);
      end_s = fabric.now_s();
    });
    const double w_nic = kBytes * put.G_s_per_byte;
    const double w_slow = kBytes * slow_G;
    const double first_s = put.o_base_s + put.L_s + profile.tree.hop_s();
    // The slow link down delays it by as much, too.
    EXPECT_NEAR(end_s,
                first_s + kPuts * w_slow + 3 * profile.tree.hop_s() + put.L_s +
                    4 * profile.tree.hop_s() + put.r_base_s,
                2 * w_nic);
    for (int i = 0; i < kPuts - 1; ++i) {
      double expected_s = (i + 1) * (put.o_base_s + put.g_s + w_nic);
      if (finite && i >= 8) {
        const double w_link = kBytes * profile.tree.hop(0, 16, 0, 17).G_s_per_byte;
        expected_s =
            std::max(expected_s, first_s + (i - 8) * w_slow + w_slow - w_link + put.g_s + w_nic);
      }
      EXPECT_NEAR(let_go_s[static_cast<size_t>(i)], expected_s, 1e-12) << i;
    }
  }
}

// The same, in puts of several times what buffers hold: the route is full, and the slow link never
// idle, so that the sender is held to its speed.
TEST(FiniteBuffers, HoldASenderToTheSpeedOfASlowLinkInMessagesLargerThanThey) {
  constexpr size_t kBytes = 65536;
  constexpr int kPuts = 10;
  Json tree = tree_with_buffers();
  tree["queue_depth"] = of(1);
  const double slow_G = 4 * tree["fat_tree"]["levels"][1]["G_s_per_byte"]["value"].get<double>();
  tree["fat_tree"]["levels"][1]["G_s_per_byte"] = of(slow_G);
  const ProfileFile file(with_packets(tree, 2048, 16384));
  std::vector<double> issued_s;
  run_emulated_ranks(17, file.fabric(), "virtual", 1, kSegment, [&](Fabric& fabric, Rank rank) {
    if (rank != 0) return;
    const std::vector<std::byte> data(kBytes);
    Counter counter;
    for (int i = 0; i < kPuts; ++i) {
      fabric.put(16, 0, {data.data(), kBytes}, counter);
      issued_s.push_back(fabric.now_s());
    }
    fabric.wait_for(counter);
  });
  const double w_slow = kBytes * slow_G;
  for (size_t i = 2; i < kPuts; ++i) EXPECT_NEAR(issued_s[i] - issued_s[i - 1], w_slow, 1e-9) << i;
}

struct Flow {
  Rank source;
  Rank target;
};

/// When the last of each flow's `puts`, of `bytes` each, has arrived and is acknowledged.
std::vector<double> flow_ends(const std::string& fabric_name, const std::vector<Flow>& flows,
                              int puts, size_t bytes) {
  std::vector<double> ends(flows.size());
  run_emulated_ranks(8, fabric_name, "virtual", 1, kSegment, [&](Fabric& fabric, Rank rank) {
    const std::vector<std::byte> data(bytes);
    for (size_t f = 0; f < flows.size(); ++f) {
      if (flows[f].source != rank) continue;
      Counter counter;
      for (int i = 0; i < puts; ++i) fabric.put(flows[f].target, 0, {data.data(), bytes}, counter);
      fabric.wait_for(counter);
      ends[f] = fabric.now_s();
    }
  });
  return ends;
}

// Node 0 sends to 4, where three of its neighbours send to as well, and node 1 to 6, which receives
// nothing else. Both come by the same links, 4 and 6 being even. Switches that hold everything pass
// node 1's puts on at half of the links' speed. Switches that do not fill with what waits for node
// 4, of which one in four is node 0's, and node 1 gets through what node 0 does: a quarter. What
// goes to node 7 comes by other links and is alone.
TEST(FiniteBuffers, BlockWhatComesBehindWhatWaits) {
  constexpr size_t kBytes = 245760;
  const auto victim = [&](const char* name, Rank target, size_t bytes, bool hot) {
    const std::string fabric_name = std::string("emulated:") + name + ",compute=none,jitter=off";
    std::vector<Flow> flows{{1, target}, {0, 4}};
    if (hot) flows.insert(flows.end(), {{5, 4}, {6, 4}, {7, 4}});
    const int puts = static_cast<int>(kBytes / bytes);
    const double wire_s = resolve_profile(fabric_name)->profile.put.at(bytes).G_s_per_byte *
                          static_cast<double>(bytes);
    return flow_ends(fabric_name, flows, puts, bytes)[0] / (puts * wire_s);
  };
  for (const size_t bytes : {size_t{4096}, size_t{16384}, size_t{49152}}) {
    SCOPED_TRACE(bytes);
    EXPECT_NEAR(victim("congested-tree", 6, bytes, true), 2, 0.2);
    EXPECT_NEAR(victim("small-buffer-tree", 6, bytes, false), 2, 0.2);
    EXPECT_NEAR(victim("small-buffer-tree", 6, bytes, true), 4, 0.4);
  }
  EXPECT_NEAR(victim("small-buffer-tree", 7, 16384, true), 1, 0.1);
}

// Below one switch: two nodes send to a third at once, which takes their packets in turns. The
// switch holds eight of each node: number k (from 0) leaves its NIC when the receiver begins with
// number k - 8, after 2 (k - 8) packets in all. That is number 32 here, which goes to somebody
// else.
TEST(FiniteBuffers, OfABusyReceiverHoldBackTheSendersNic) {
  constexpr size_t kBehind = 2048;
  constexpr size_t kBefore = 32 * kBehind;
  constexpr double kLater_s = 1e-5;
  for (const bool finite : {true, false}) {
    const ProfileFile file(with_packets(tree_with_buffers(), 2048,
                                        finite ? std::optional<double>(16384) : std::nullopt));
    double there_s = 0;
    const Profile profile = file.profile();
    const ProfileSegment put = profile.put.at(kBehind);
    run_emulated_ranks(4, file.fabric(), "virtual", 1, kSegment, [&](Fabric& fabric, Rank rank) {
      if (rank > 1) return;
      const std::vector<std::byte> data(3 * kBefore);
      Counter counter;
      if (rank == 0) {
        fabric.put(3, 0, {data.data(), data.size()}, counter);
      } else {
        fabric.compute_for(kLater_s);
        fabric.put(3, 0, {data.data(), kBefore}, counter);
        Counter other;
        fabric.put(2, 0, {data.data(), kBehind}, other);
        fabric.wait_for(other);
        there_s = fabric.now_s() - put.L_s - put.r_base_s;
      }
      fabric.wait_for(counter);
    });
    const double packet_s = 2048 * profile.put.at(kBefore).G_s_per_byte;
    const double first_s = kLater_s + put.o_base_s + profile.put.at(kBefore).L_s;
    const double expected_s = first_s + (finite ? put.L_s + 49 * packet_s : 33 * packet_s);
    EXPECT_NEAR(there_s, expected_s, 3 * packet_s) << finite;
  }
}

// Without packets, of two messages that meet at a link the second one waits until the first has
// passed. With them they take turns, and both pass in twice the time.
TEST(Packets, TakeTurns) {
  constexpr size_t kBytes = size_t{1} << 20;
  const ProfileFile packets(with_packets(tree_with_buffers(), 2048, std::nullopt));
  const std::string options = ",compute=none,jitter=off";
  const std::vector<Flow> flows{{0, 4}, {1, 6}};
  const double alone = flow_ends(packets.fabric(), {flows[0]}, 1, kBytes)[0];
  const auto whole = flow_ends("emulated:congested-tree" + options, flows, 1, kBytes);
  EXPECT_NEAR(whole[0] / alone, 1, 0.01);
  EXPECT_NEAR(whole[1] / alone, 2, 0.02);
  for (const double end : flow_ends(packets.fabric(), flows, 1, kBytes)) {
    EXPECT_NEAR(end / alone, 2, 0.02);
  }
}

// Everybody to everybody at once, puts with flags and gets, of sizes below and above what a switch
// holds.
TEST(FiniteBuffers, LetEverythingArrive) {
  constexpr Rank kMostRanks = 64;
  constexpr size_t kLargest = 20000;
  constexpr uint64_t kFlags = kMostRanks * kLargest;
  constexpr uint64_t kSource = kFlags + kMostRanks * sizeof(uint64_t);
  for (const Rank ranks : {Rank{16}, kMostRanks}) {
    const double buffer_bytes = ranks == kMostRanks ? 2048 : 16384;  // with a single packet's room
    const ProfileFile file(with_packets(tree_with_buffers(), 2048, buffer_bytes));
    run_emulated_ranks(
        ranks, file.fabric("compute=none"), "virtual", 1, kSegment, [&](Fabric& fabric, Rank rank) {
          const auto value = [](Rank of) { return static_cast<std::byte>(of + 1); };
          std::fill_n(fabric.segment().data() + kSource, kLargest, value(rank));
          const auto bytes_of = [&](Rank from, Rank to) { return kLargest >> ((from + to) % 12); };
          const std::vector<std::byte> data(kLargest, value(rank));
          std::vector<std::byte> got(ranks * kLargest);
          Counter counter;
          for (Rank i = 1; i < ranks; ++i) {
            const Rank to = (rank + i) % ranks;
            fabric.put_signal(to, uint64_t{rank} * kLargest, {data.data(), bytes_of(rank, to)},
                              {.offset = kFlags + rank * sizeof(uint64_t), .value = 1}, counter);
            fabric.get({got.data() + to * kLargest, bytes_of(to, rank)}, to, kSource, counter);
          }
          fabric.wait_for(counter);
          for (Rank from = 0; from < ranks; ++from) {
            if (from == rank) continue;
            const std::byte* const mine = fabric.segment().data();
            EXPECT_TRUE(fabric.wait(
                [&] {
                  uint64_t flag = 0;
                  std::memcpy(&flag, mine + kFlags + from * sizeof flag, sizeof flag);
                  return flag == 1;
                },
                kForever));
            const size_t bytes = bytes_of(from, rank);
            const auto all = [&](const std::byte* begin) {
              return std::all_of(begin, begin + bytes,
                                 [&](std::byte b) { return b == value(from); });
            };
            EXPECT_TRUE(all(mine + from * kLargest)) << from << " to " << rank;
            EXPECT_TRUE(all(got.data() + from * kLargest)) << rank << " from " << from;
          }
        });
  }
}

TEST(FiniteBuffers, LetEverythingArriveOnTheRealClock) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "the real clock needs two cores";
  Json tree = with_packets(tree_with_buffers(), 400, 1000);
  for (const char* operation : {"put", "get", "am"}) {
    for (Json& segment : tree[operation]["segments"]) {
      segment["G_s_per_byte"]["value"] = 2e-7;  // slow enough for any host
    }
  }
  tree["compute_scale"]["value"] = 1;
  tree["fat_tree"]["levels"][0]["down"] = 1;
  const ProfileFile file(tree);
  constexpr uint64_t kBack = 1 << 20;
  constexpr size_t kPuts = 20;
  run_emulated_ranks(2, file.fabric(""), "real", 3, kSegment, [&](Fabric& fabric, Rank rank) {
    Inbox inbox;
    fabric.set_message_sink(&inbox);
    const Rank other = 1 - rank;
    std::vector<std::byte> data(kPuts * 300, static_cast<std::byte>(rank + 1));
    std::fill_n(fabric.segment().data() + kBack, data.size(), data[0]);
    const std::byte token{};
    while (!fabric.try_send(other, std::span(&token, 1))) fabric.poll();
    ASSERT_TRUE(fabric.wait([&] { return inbox.messages.size() == 1; }, kForever));
    std::vector<std::byte> got(data.size());
    Counter counter;
    for (size_t i = 0; i < kPuts; ++i) {
      fabric.put(other, i * data.size(), {data.data(), 150 * i}, counter);
      fabric.get({got.data() + 300 * i, 300}, other, kBack + 300 * i, counter);
    }
    fabric.wait_for(counter);
    while (!fabric.try_send(other, std::span(&token, 1))) fabric.poll();
    ASSERT_TRUE(fabric.wait([&] { return inbox.messages.size() == 2; }, kForever));
    const auto theirs = static_cast<std::byte>(other + 1);
    EXPECT_EQ(static_cast<size_t>(std::count(got.begin(), got.end(), theirs)), kPuts * 300);
    for (size_t i = 0; i < kPuts; ++i) {
      const std::byte* const begin = fabric.segment().data() + i * data.size();
      EXPECT_EQ(std::count(begin, begin + 150 * i, theirs), static_cast<long>(150 * i));
    }
    fabric.set_message_sink(nullptr);
  });
}

}  // namespace
}  // namespace stripline::fabric
