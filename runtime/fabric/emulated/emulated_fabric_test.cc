#include "runtime/fabric/emulated/emulated_fabric.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <limits>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "base/json.h"
#include "runtime/fabric/emulated/profile.h"
#include "runtime/fabric/emulated/testing/emulated_ranks.h"
#include "runtime/fabric/emulated/testing/profile_file.h"

namespace stripline::fabric {
namespace {

constexpr size_t kSegment = size_t{1} << 20;
constexpr double kForever = std::numeric_limits<double>::infinity();

void run_ranks(Rank ranks, const std::string& name, const std::string& clock, uint64_t seed,
               const std::function<void(Fabric&, Rank)>& body) {
  run_emulated_ranks(ranks, name, clock, seed, kSegment, body);
}

constexpr const char* kExact = "emulated:opteron-vapi,compute=none,jitter=off";

Profile exact_profile() { return resolve_profile(kExact)->profile; }

double blocking_s(const ProfileSegment& s, double bytes) {
  return s.o_base_s + s.o_per_byte_s * bytes + 2 * s.L_s + s.G_s_per_byte * bytes + s.r_base_s +
         s.r_per_byte_s * bytes;
}

TEST(VirtualClock, BlockingOperationsTakeWhatTheProfileSays) {
  const Profile profile = exact_profile();
  run_ranks(2, kExact, "virtual", 1, [&](Fabric& fabric, Rank rank) {
    if (rank != 0) return;
    std::vector<std::byte> buffer(kSegment);
    for (const size_t bytes : {size_t{8}, size_t{4096}, size_t{32768}, size_t{1} << 20}) {
      Counter counter;
      double begin = fabric.now_s();
      fabric.get({buffer.data(), bytes}, 1, 0, counter);
      fabric.wait_for(counter);
      const auto size = static_cast<double>(bytes);
      EXPECT_NEAR(fabric.now_s() - begin, blocking_s(profile.get.at(bytes), size), 1e-12) << bytes;
      begin = fabric.now_s();
      fabric.put(1, 0, {buffer.data(), bytes}, counter);
      fabric.wait_for(counter);
      EXPECT_NEAR(fabric.now_s() - begin, blocking_s(profile.put.at(bytes), size), 1e-12) << bytes;
    }
  });
}

TEST(VirtualClock, SeveralPiecesTakeWhatOneOfTheirSizeDoes) {
  run_ranks(2, kExact, "virtual", 1, [&](Fabric& fabric, Rank rank) {
    if (rank != 0) return;
    std::vector<std::byte> buffer(16384, std::byte{7});
    std::vector<Piece> pieces;
    for (size_t i = 0; i < fabric.info().iov_limit; ++i) {
      pieces.push_back({i * 8192 + 1, buffer.data() + i * 4096, 4096});
    }
    ASSERT_EQ(pieces.size(), 4U);
    const auto timed = [&](const auto& start) {
      Counter counter;
      const double begin = fabric.now_s();
      start(counter);
      EXPECT_EQ(counter.pending, 1U);
      fabric.wait_for(counter);
      return fabric.now_s() - begin;
    };
    const double put_s = timed([&](Counter& c) { fabric.put(1, 0, {buffer.data(), 16384}, c); });
    EXPECT_NEAR(timed([&](Counter& c) { fabric.putv(1, pieces, c); }), put_s, 1e-12);
    const double get_s = timed([&](Counter& c) { fabric.get({buffer.data(), 16384}, 1, 0, c); });
    EXPECT_NEAR(timed([&](Counter& c) { fabric.getv(1, pieces, c); }), get_s, 1e-12);
  });
}

TEST(VirtualClock, StreamsRunAtTheGap) {
  const Profile profile = exact_profile();
  run_ranks(2, kExact, "virtual", 1, [&](Fabric& fabric, Rank rank) {
    if (rank != 0) return;
    std::vector<std::byte> buffer(65536);
    for (const size_t bytes : {size_t{4096}, size_t{65536}}) {
      const auto flood = [&](int count) {
        Counter counter;
        const double begin = fabric.now_s();
        for (int i = 0; i < count; ++i) fabric.put(1, 0, {buffer.data(), bytes}, counter);
        fabric.wait_for(counter);
        return fabric.now_s() - begin;
      };
      const double each = (flood(64) - flood(8)) / 56;
      const ProfileSegment& s = profile.put.at(bytes);
      EXPECT_NEAR(each, s.g_s + s.G_s_per_byte * static_cast<double>(bytes), 0.01 * each);
    }
  });
}

TEST(VirtualClock, IssuingBlocksWhenTheQueueIsFull) {
  const Profile profile = exact_profile();
  run_ranks(2, kExact, "virtual", 1, [&](Fabric& fabric, Rank rank) {
    if (rank != 0) return;
    constexpr size_t kBytes = 65536;
    std::vector<std::byte> buffer(kBytes);
    const auto issue = [&](uint32_t burst) {
      Counter counter;
      const double begin = fabric.now_s();
      for (uint32_t i = 0; i < burst; ++i) fabric.put(1, 0, {buffer.data(), kBytes}, counter);
      const double issued = fabric.now_s() - begin;
      fabric.wait_for(counter);
      return issued;
    };
    const ProfileSegment& s = profile.put.at(kBytes);
    const uint32_t q = profile.queue_depth;
    EXPECT_NEAR(issue(q), q * s.o_base_s, 1e-9);
    const double gap = s.g_s + s.G_s_per_byte * kBytes;
    EXPECT_NEAR(issue(q + 40) - issue(q + 20), 20 * gap, 1e-9);
  });
}

TEST(VirtualClock, OverlapsComputationWithTransfers) {
  const Profile profile = exact_profile();
  run_ranks(2, kExact, "virtual", 1, [&](Fabric& fabric, Rank rank) {
    if (rank != 0) return;
    constexpr size_t kBytes = 65536;
    std::vector<std::byte> buffer(kBytes);
    const ProfileSegment& s = profile.get.at(kBytes);
    const double work = 2 * blocking_s(s, kBytes);
    Counter counter;
    const double begin = fabric.now_s();
    fabric.get({buffer.data(), kBytes}, 1, 0, counter);
    fabric.compute_for(work);
    fabric.wait_for(counter);
    EXPECT_NEAR(fabric.now_s() - begin, work + s.o_base_s + s.r_base_s, 1e-12);
  });
}

TEST(VirtualClock, DeclaredWorkTakesWhatTheProcessorTakes) {
  const Processor processor = *exact_profile().processor;
  const Work work{.flops = 3e6, .bytes = 1e6, .rows = 100};
  run_emulated_ranks(1, "emulated:opteron-vapi,compute=declared", "virtual", 1, 4096,
                     [&](Fabric& fabric, Rank) {
                       ASSERT_NE(fabric.work(), nullptr);
                       EXPECT_EQ(fabric.now_s(), 0);
                       *fabric.work() = work;
                       EXPECT_DOUBLE_EQ(fabric.now_s(), processor.seconds(work));
                       EXPECT_DOUBLE_EQ(fabric.now_s(), processor.seconds(work)) << "once";
                     });
}

TEST(VirtualClock, RefusesWorkThatTakesNoTimeThereIs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const double flops :
       {-1e6, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_EXIT(run_emulated_ranks(1, "emulated:opteron-vapi,compute=declared", "virtual", 1, 4096,
                                   [&](Fabric& fabric, Rank) {
                                     fabric.set_failure_handler([](const Error& error) {
                                       std::fprintf(stderr, "%s\n", error.message().c_str());
                                       ::_exit(5);
                                     });
                                     fabric.work()->compute(flops, 0);
                                     fabric.now_s();
                                   }),
                testing::ExitedWithCode(5), "not negative");
  }
}

TEST(VirtualClock, HandlersTakeTheTimeOfTheirWork) {
  class Worker final : public MessageSink {
   public:
    explicit Worker(Fabric& fabric) : fabric_(fabric) {}
    void on_message(Rank, std::span<const std::byte>) override {
      fabric_.work()->compute(1e6, 0);
      ++messages;
    }
    int messages = 0;

   private:
    Fabric& fabric_;
  };
  const Profile profile = exact_profile();
  run_emulated_ranks(2, "emulated:opteron-vapi,compute=declared,jitter=off", "virtual", 1, 4096,
                     [&](Fabric& fabric, Rank rank) {
                       Worker worker(fabric);
                       fabric.set_message_sink(&worker);
                       const std::array<std::byte, 8> message{};
                       if (rank == 0) {
                         ASSERT_TRUE(fabric.try_send(1, message));
                         return;
                       }
                       fabric.wait([&] { return worker.messages == 1; }, kForever);
                       const ProfileSegment& am = profile.am.at(8);
                       const double arrival_s =
                           am.o_base_s + 8 * am.o_per_byte_s + am.L_s + 8 * am.G_s_per_byte;
                       EXPECT_NEAR(fabric.now_s(),
                                   arrival_s + am.r_base_s + 8 * am.r_per_byte_s +
                                       1e6 * profile.processor->s_per_flop,
                                   1e-12);
                     });
}

TEST(VirtualClock, NobodyCountsWorkOnOtherClocks) {
  for (const char* compute : {"measured", "none"}) {
    run_emulated_ranks(1, std::string("emulated:opteron-vapi,compute=") + compute, "virtual", 1,
                       4096, [](Fabric& fabric, Rank) { EXPECT_EQ(fabric.work(), nullptr); });
  }
}

TEST(VirtualClock, MessagesArriveInOrderAndOnTime) {
  const Profile profile = exact_profile();
  run_ranks(2, kExact, "virtual", 1, [&](Fabric& fabric, Rank rank) {
    Inbox inbox;
    fabric.set_message_sink(&inbox);
    constexpr int kCount = 100;
    if (rank == 0) {
      for (int i = 0; i < kCount; ++i) {
        const auto bytes = std::as_bytes(std::span(&i, 1));
        while (!fabric.try_send(1, bytes)) fabric.poll();
      }
      return;
    }
    const bool first = fabric.wait([&] { return !inbox.messages.empty(); }, kForever);
    EXPECT_TRUE(first);
    const ProfileSegment& s = profile.am.at(4);
    const double expected = s.o_base_s + 4 * s.o_per_byte_s + s.L_s + 4 * s.G_s_per_byte +
                            s.r_base_s + 4 * s.r_per_byte_s;
    EXPECT_NEAR(fabric.now_s(), expected, 1e-12);
    EXPECT_TRUE(fabric.wait([&] { return inbox.messages.size() == kCount; }, kForever));
    for (int i = 0; i < kCount; ++i) {
      int value = -1;
      std::memcpy(&value, inbox.messages[static_cast<size_t>(i)].data(), sizeof value);
      EXPECT_EQ(value, i);
    }
    fabric.set_message_sink(nullptr);
  });
}

// What a rank's own operations ask of it can wait; what peers do cannot.
TEST(VirtualClock, WhoAttendsServesPeersAndLeavesItsOwnCompletions) {
  const Profile profile = exact_profile();
  run_ranks(2, kExact, "virtual", 1, [&](Fabric& fabric, Rank rank) {
    Inbox inbox;
    fabric.set_message_sink(&inbox);
    constexpr double kAllThere = 1e-2;
    if (rank == 1) {
      for (int i = 0; i < 3; ++i) ASSERT_TRUE(fabric.try_send(0, std::as_bytes(std::span(&i, 1))));
      return;
    }
    const std::array<std::byte, 64> data{};
    Counter counter;
    for (int i = 0; i < 5; ++i) fabric.put(1, 0, {data.data(), data.size()}, counter);
    fabric.compute_for(kAllThere - fabric.now_s());
    fabric.attend();
    EXPECT_EQ(inbox.messages.size(), 3U);
    EXPECT_EQ(counter.pending, 5U);
    const ProfileSegment& am = profile.am.at(4);
    const double served_s = kAllThere + profile.poll_s + 3 * (am.r_base_s + 4 * am.r_per_byte_s);
    EXPECT_NEAR(fabric.now_s(), served_s, 1e-12);
    fabric.wait_for(counter);
    EXPECT_EQ(counter.pending, 0U);
    const ProfileSegment& put = profile.put.at(data.size());
    EXPECT_NEAR(fabric.now_s(),
                served_s + 5 * (put.r_base_s + put.r_per_byte_s * static_cast<double>(data.size())),
                1e-12);
  });
}

// Ranks whose calls serve gets and puts spend their CPU on them: while they wait, or after that.
TEST(VirtualClock, WhoServesPeersSpendsTimeOnThem) {
  constexpr double kServe_s = 30e-6;
  const ProfileFile file("opteron-vapi", [&](Json& changed) {
    for (const char* operation : {"get", "put"}) {
      changed[operation]["needs_target"] = true;
      for (Json& segment : changed[operation]["segments"]) {
        segment["s_base_s"] = {{"value", kServe_s}, {"assumed", "for this test"}};
      }
    }
  });
  const std::string name = "emulated:" + file.path() + ",compute=none,jitter=off";
  const Profile profile = resolve_profile(name)->profile;
  for (const Rank initiator : {Rank{0}, Rank{1}}) {
    run_ranks(2, name, "virtual", 1, [&](Fabric& fabric, Rank rank) {
      std::array<std::byte, 8> word{};
      if (rank == initiator) {
        Counter counter;
        // No rank computes: it takes as long as if the target took no time.
        const double begin_s = fabric.now_s();
        fabric.get({word.data(), word.size()}, 1 - rank, 0, counter);
        fabric.wait_for(counter);
        EXPECT_NEAR(fabric.now_s() - begin_s, blocking_s(profile.get.at(8), 8), 1e-12);
        fabric.wait([] { return false; }, 1e-3);
        fabric.put(1 - rank, 0, {word.data(), word.size()}, counter);
        fabric.get({word.data(), word.size()}, 1 - rank, 0, counter);
        fabric.wait_for(counter);
        return;
      }
      // Long enough to serve the get meanwhile.
      fabric.wait([] { return false; }, 1e-3);
      EXPECT_NEAR(fabric.now_s(), 1e-3, 1e-12);
      fabric.compute_for(1e-3);
      const double begin_s = fabric.now_s();
      fabric.poll();
      fabric.poll();  // of the higher rank at the same time
      EXPECT_NEAR(fabric.now_s() - begin_s, 2 * profile.poll_s + 2 * kServe_s, 1e-12);
    });
  }
}

TEST(VirtualClock, AWaitEndsAtItsDeadline) {
  run_ranks(1, kExact, "virtual", 1, [&](Fabric& fabric, Rank) {
    EXPECT_FALSE(fabric.wait([] { return false; }, 0.25));
    EXPECT_NEAR(fabric.now_s(), 0.25, 1e-12);
  });
}

// All ranks pass pieces round and round with jitter; the end times must not depend on how the host
// happened to schedule the threads.
std::vector<double> ring_end_times(uint64_t seed, Rank ranks) {
  std::vector<double> ends(ranks);
  run_ranks(ranks, "emulated:power5-lapi,compute=none", "virtual", seed,
            [&](Fabric& fabric, Rank rank) {
              Inbox inbox;
              fabric.set_message_sink(&inbox);
              std::vector<std::byte> buffer(10000, std::byte{static_cast<unsigned char>(rank)});
              const Rank next = (rank + 1) % ranks;
              for (size_t round = 1; round <= 20; ++round) {
                Counter counter;
                fabric.put(next, 0, {buffer.data(), buffer.size()}, counter);
                fabric.compute_for(1e-6 * rank);
                fabric.wait_for(counter);
                while (!fabric.try_send(next, std::as_bytes(std::span(&round, 1)))) fabric.poll();
                fabric.wait([&] { return inbox.messages.size() >= round; }, kForever);
              }
              ends[rank] = fabric.now_s();
              fabric.set_message_sink(nullptr);
            });
  return ends;
}

TEST(VirtualClock, IsReproducibleUnderAnyHostScheduling) {
  const std::vector<double> first = ring_end_times(7, 6);
  EXPECT_EQ(first, ring_end_times(7, 6));
  EXPECT_EQ(first, ring_end_times(7, 6));
  EXPECT_NE(first, ring_end_times(8, 6));
}

/// Traces of one test, in files of their own; gone with it.
class RecordedCompute : public testing::Test {
 protected:
  static constexpr Rank kRanks = 3;

  RecordedCompute()
      : path_(testing::TempDir() + "stripline_trace_" + std::to_string(::getpid())),
        record_("emulated:opteron-vapi,compute=record:" + path_),
        replay_("emulated:opteron-vapi,compute=replay:" + path_) {}
  ~RecordedCompute() override {
    for (Rank rank = 0; rank < kRanks; ++rank) {
      std::filesystem::remove(path_ + "." + std::to_string(rank));
    }
  }
  RecordedCompute(const RecordedCompute&) = delete;
  RecordedCompute& operator=(const RecordedCompute&) = delete;

  /// Every time that any rank reads while it really computes and passes pieces on; `extra` more
  /// rounds on rank 1.
  static std::vector<double> times(const std::string& name, int extra = 0) {
    constexpr size_t kRounds = 20;
    std::vector<std::vector<double>> read(kRanks);
    run_ranks(kRanks, name, "virtual", 7, [&](Fabric& fabric, Rank rank) {
      fabric.set_failure_handler([](const Error& error) {
        std::fprintf(stderr, "%s\n", error.message().c_str());
        ::_exit(5);
      });
      std::vector<std::byte> buffer(1000);
      double sum = rank;
      for (size_t round = 1; round <= kRounds; ++round) {
        for (size_t i = 0; i < 500 * round; ++i) sum += std::sqrt(sum + static_cast<double>(i));
        Counter counter;
        fabric.put((rank + 1) % kRanks, 0, {buffer.data(), buffer.size()}, counter);
        fabric.wait_for(counter);
        read[rank].push_back(fabric.now_s());
      }
      EXPECT_GT(sum, 0);
      for (int i = 0; rank == 1 && i < extra; ++i) fabric.now_s();
    });
    std::vector<double> all;
    for (const auto& of_rank : read) all.insert(all.end(), of_rank.begin(), of_rank.end());
    return all;
  }

  std::string path_;
  std::string record_;
  std::string replay_;
};

TEST_F(RecordedCompute, IsReplayedBitByBit) {
  const std::vector<double> recorded = times(record_, 3);
  EXPECT_EQ(times(replay_, 3), recorded);
  EXPECT_EQ(times(replay_, 3), recorded);
  // Not because nothing is measured.
  EXPECT_GT(recorded.back(), times("emulated:opteron-vapi,compute=none").back());
  // The trace holds the host's time, before it is scaled.
  EXPECT_GT(times(replay_ + ",compute=100", 3).back(), recorded.back());
}

TEST_F(RecordedCompute, AnotherProgramIsAnError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  times(record_, 3);
  EXPECT_EXIT(times(replay_, 4), testing::ExitedWithCode(5), "it makes more calls than the");
  EXPECT_EXIT(times(replay_, 2), testing::ExitedWithCode(5), "it makes fewer calls than the");
}

TEST_F(RecordedCompute, IsOfTheVirtualClock) {
  for (const std::string& name : {record_, replay_}) {
    const auto opened =
        open_emulated_fabric({.fabric = name, .ranks = kRanks, .segment_bytes = kSegment});
    ASSERT_FALSE(opened.ok());
    EXPECT_NE(opened.error().message().find("--clock virtual"), std::string::npos);
  }
}

TEST_F(RecordedCompute, NoTraceNoReplay) {
  const auto opened = open_emulated_fabric({.fabric = replay_,
                                            .clock = "virtual",
                                            .rank = 1,
                                            .ranks = kRanks,
                                            .segment_bytes = kSegment});
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), ErrorCode::not_found);
}

TEST(VirtualClock, RanksOfANodeShareItsNic) {
  std::vector<double> ends(4);
  const auto run = [&](const char* fabric_name, uint32_t nic_ranks) {
    run_ranks(4, fabric_name, "virtual", 1, [&](Fabric& fabric, Rank rank) {
      EXPECT_EQ(fabric.info().nic_ranks, nic_ranks);
      if (rank < 2) {  // ranks 0 and 1 each send to a rank of their own
        std::vector<std::byte> buffer(kSegment);
        Counter counter;
        fabric.put(rank + 2, 0, {buffer.data(), buffer.size()}, counter);
        fabric.wait_for(counter);
      }
      ends[rank] = fabric.now_s();
    });
    return std::max(ends[0], ends[1]);
  };
  const double apart = run("emulated:opteron-vapi,compute=none,jitter=off", 1);
  const double shared = run("emulated:opteron-vapi,compute=none,jitter=off,ranks_per_node=2", 2);
  EXPECT_GT(shared, 1.9 * apart);
}

constexpr const char* kTree = "emulated:congested-tree,compute=none,jitter=off";

// When each rank's transfer of 512 KiB to (or from) `peer_of(rank)` was complete; all begin at
// once.
std::vector<double> transfer_times(const char* fabric_name, Rank ranks, bool put,
                                   const std::function<Rank(Rank)>& peer_of) {
  std::vector<double> times(ranks);
  run_ranks(ranks, fabric_name, "virtual", 1, [&](Fabric& fabric, Rank rank) {
    const Rank peer = peer_of(rank);
    if (peer == rank) return;
    std::vector<std::byte> buffer(kSegment / 2);
    Counter counter;
    if (put) {
      fabric.put(peer, 0, {buffer.data(), buffer.size()}, counter);
    } else {
      fabric.get({buffer.data(), buffer.size()}, peer, 0, counter);
    }
    fabric.wait_for(counter);
    times[rank] = fabric.now_s();
  });
  return times;
}

TEST(FatTreeNetwork, SwitchesAddToTheLatencyAndNothingElseWhileNobodyElseSends) {
  const double hop_s = resolve_profile(kTree)->profile.tree.hop_s();
  ASSERT_GT(hop_s, 0);
  const Profile profile = resolve_profile(kTree)->profile;
  for (const bool put : {true, false}) {
    const auto alone = [&](Rank target) {
      return transfer_times(kTree, 20, put,
                            [&](Rank rank) { return rank == 0 ? target : rank; })[0];
    };
    constexpr double bytes = 0.5 * kSegment;
    const double near_s = blocking_s((put ? profile.put : profile.get).at(kSegment / 2), bytes);
    EXPECT_NEAR(alone(3), near_s, 1e-12);
    EXPECT_NEAR(alone(4), near_s + 2 * 2 * hop_s, 1e-12);
    EXPECT_NEAR(alone(19), near_s + 2 * 4 * hop_s, 1e-12);
  }
}

TEST(FatTreeNetwork, MessagesWaitForEachOtherWhereTheyShareALink) {
  const Profile profile = resolve_profile(kTree)->profile;
  const double wire_s = profile.put.at(kSegment / 2).G_s_per_byte * kSegment / 2;
  for (const bool put : {true, false}) {
    const auto last_of = [&](Rank ranks, const std::function<Rank(Rank)>& peer_of) {
      const std::vector<double> times = transfer_times(kTree, ranks, put, peer_of);
      return *std::max_element(times.begin(), times.end());
    };
    // This many of the first switch's four ranks send to one below another switch: two links lead
    // there.
    const auto senders = [](Rank count) {
      return [count](Rank rank) { return rank < count ? rank + 4 : rank; };
    };
    const double one = last_of(8, senders(1));
    EXPECT_NEAR(last_of(8, senders(2)), one, 1e-12);
    EXPECT_NEAR(last_of(8, senders(4)) - one, wire_s, 0.01 * wire_s);
    // To both directions at once: links are there for each.
    EXPECT_NEAR(last_of(8, [](Rank rank) { return rank ^ 4; }) - one, wire_s, 0.01 * wire_s);
    // Below one switch no message waits.
    EXPECT_NEAR(last_of(8, [](Rank rank) { return rank ^ 1; }),
                last_of(2, [](Rank rank) { return rank ^ 1; }), 1e-12);
  }
}

// Bandwidth per rank when half of the ranks exchange with the other half: what is left of it falls
// with their number, as more of them share the links towards the root.
TEST(FatTreeNetwork, BandwidthFallsWithDistanceAndScale) {
  const Profile profile = resolve_profile(kTree)->profile;
  const double wire_s = profile.put.at(kSegment / 2).G_s_per_byte * kSegment / 2;
  const auto exchange = [&](Rank ranks) {
    const std::vector<double> times =
        transfer_times(kTree, ranks, true, [&](Rank rank) { return rank ^ (ranks / 2); });
    return *std::max_element(times.begin(), times.end()) / wire_s;
  };
  EXPECT_NEAR(exchange(2), 1, 0.05);
  EXPECT_NEAR(exchange(4), 1, 0.05);
  EXPECT_NEAR(exchange(8), 2, 0.1);  // 4 ranks on 2 links
  // 16 ranks on 4 links, to which they come, and from which they go, by links of which each is used
  // twice.
  const double farthest = exchange(64);
  EXPECT_GE(farthest, 4);
  EXPECT_LE(farthest, 6);
}

TEST(VirtualClock, DeadlockIsReportedNotSuffered) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_ranks(2, kExact, "virtual", 1,
                        [](Fabric& fabric, Rank) {
                          fabric.set_failure_handler([](const Error& error) {
                            std::fprintf(stderr, "%s\n", error.message().c_str());
                            ::_exit(5);
                          });
                          fabric.wait([] { return false; }, kForever);
                        }),
              testing::ExitedWithCode(5), "deadlock on the virtual clock");
}

TEST(VirtualClock, ALostPeerIsReported) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_ranks(2, "emulated:opteron-vapi,compute=none,lose=1@0.001", "virtual", 1,
                        [](Fabric& fabric, Rank rank) {
                          fabric.set_failure_handler([](const Error& error) {
                            std::fprintf(stderr, "%s\n", error.message().c_str());
                            ::_exit(5);
                          });
                          if (rank != 0) return;
                          fabric.compute_for(0.01);
                          Counter counter;
                          std::byte byte{};
                          fabric.get({&byte, 1}, 1, 0, counter);
                          fabric.wait_for(counter);
                        }),
              testing::ExitedWithCode(5), "lost contact with rank 1");
}

// A network so slow that every host, and every sanitizer, keeps up with it in real time.
std::string slow_profile_file() {
  Json profile = *parse_json(builtin_profile_text("itanium-gm"), "itanium-gm");
  for (const char* operation : {"put", "get", "am"}) {
    for (Json& segment : profile[operation]["segments"]) {
      segment["G_s_per_byte"] = {{"value", 2e-7}, {"assumed", "slow enough for any host"}};
    }
  }
  profile["compute_scale"] = {{"value", 1}, {"assumed", "the host's own"}};
  std::string path =
      testing::TempDir() + "stripline_slow_profile_" + std::to_string(::getpid()) + ".json";
  EXPECT_TRUE(write_json_file(path, profile).ok());
  return path;
}

class BothClocks : public testing::TestWithParam<const char*> {};

TEST_P(BothClocks, MoveTheRightBytes) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "the real clock needs two cores";
  const std::string file = slow_profile_file();
  run_ranks(2, "emulated:" + file, GetParam(), 3, [&](Fabric& fabric, Rank rank) {
    Inbox inbox;
    fabric.set_message_sink(&inbox);
    size_t barriers = 0;
    const auto barrier = [&] {
      ++barriers;
      const std::byte token{};
      while (!fabric.try_send(1 - rank, std::span(&token, 1))) fabric.poll();
      ASSERT_TRUE(fabric.wait([&] { return inbox.messages.size() >= barriers; }, kForever));
    };
    for (const size_t bytes : {size_t{0}, size_t{1}, size_t{255}, size_t{4097}, size_t{100000}}) {
      std::vector<unsigned char> source(bytes);
      for (size_t i = 0; i < bytes; ++i) source[i] = static_cast<unsigned char>(i * 7 + rank);
      Counter counter;
      constexpr size_t kOffset = 3;  // misaligned on purpose
      fabric.put(1 - rank, kOffset, {reinterpret_cast<const std::byte*>(source.data()), bytes},
                 counter);
      fabric.wait_for(counter);
      EXPECT_EQ(counter.pending, 0U);
      barrier();
      const auto* mine = reinterpret_cast<const unsigned char*>(fabric.segment().data()) + kOffset;
      for (size_t i = 0; i < bytes; ++i) {
        ASSERT_EQ(mine[i], static_cast<unsigned char>(i * 7 + 1 - rank)) << bytes << " at " << i;
      }
      std::vector<unsigned char> back(bytes + 1);
      fabric.get({reinterpret_cast<std::byte*>(back.data() + 1), bytes}, 1 - rank, kOffset,
                 counter);
      fabric.wait_for(counter);
      EXPECT_TRUE(std::equal(source.begin(), source.end(), back.begin() + 1)) << bytes;
      barrier();
    }
    EXPECT_EQ(fabric.traffic().puts, 5U);
    EXPECT_EQ(fabric.traffic().get_bytes, 0U + 1 + 255 + 4097 + 100000);
    fabric.set_message_sink(nullptr);
  });
  std::filesystem::remove(file);
}

INSTANTIATE_TEST_SUITE_P(Emulated, BothClocks, testing::Values("real", "virtual"));

TEST(RealClock, KnowsNoDeclaredWork) {
  const auto opened = open_emulated_fabric({.fabric = "emulated:opteron-vapi,compute=declared",
                                            .clock = "real",
                                            .job_id = "declared",
                                            .segment_bytes = 4096});
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message().find("--clock virtual"), std::string::npos);
}

TEST(RealClock, RefusesWhatTheHostCannotReproduce) {
  const OpenOptions too_fast{.fabric = "emulated:modern-rdma",
                             .ranks = 1,
                             .job_id = "fast" + std::to_string(::getpid()),
                             .segment_bytes = 4096};
  const auto fast = open_emulated_fabric(too_fast);
  ASSERT_FALSE(fast.ok());
  EXPECT_EQ(fast.error().code(), ErrorCode::failed_precondition);
  EXPECT_NE(fast.error().message().find("--clock virtual"), std::string::npos);

  OpenOptions crowded = too_fast;
  crowded.fabric = "emulated:itanium-gm";
  crowded.ranks = 100000;
  EXPECT_FALSE(open_emulated_fabric(crowded).ok());
}

// Whoever knows the name may make the memory first, and change what the ranks share.
TEST(Open, MemoryOfAnotherUserOrOpenToOthersIsNotUsed) {
  OpenOptions options{.fabric = kExact,
                      .clock = "virtual",
                      .job_id = "foreign" + std::to_string(::getpid()),
                      .segment_bytes = 4096};
  const std::string name = "/stripline-" + options.job_id;
  const auto refusal = [&](mode_t mode, uid_t owner) -> std::string {
    const int file = ::shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    EXPECT_GE(file, 0);
    EXPECT_EQ(::fchmod(file, mode), 0);
    EXPECT_EQ(::fchown(file, owner, static_cast<gid_t>(-1)), 0);
    ::close(file);
    const auto fabric = open_emulated_fabric(options);
    ::shm_unlink(name.c_str());
    if (fabric.ok()) return "";
    EXPECT_EQ(fabric.error().code(), ErrorCode::failed_precondition);
    return fabric.error().message();
  };
  EXPECT_NE(refusal(0666, ::geteuid()).find("open to others"), std::string::npos);
  EXPECT_EQ(refusal(0600, ::geteuid()), "");
  {
    const std::string other = name + "-other";
    const int file = ::shm_open(other.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    ASSERT_GE(file, 0);
    ::close(file);
    ASSERT_EQ(::link(("/dev/shm" + other).c_str(), ("/dev/shm" + name).c_str()), 0);
    const auto fabric = open_emulated_fabric(options);
    ::shm_unlink(name.c_str());
    struct stat left = {};
    EXPECT_EQ(::stat(("/dev/shm" + other).c_str(), &left), 0);
    EXPECT_EQ(left.st_size, 0) << "it was written into";
    ::shm_unlink(other.c_str());
    ASSERT_FALSE(fabric.ok());
    EXPECT_NE(fabric.error().message().find("is a link to another file"), std::string::npos);
  }
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  constexpr uid_t kNobody = 65534;
  EXPECT_NE(refusal(0600, kNobody).find("made by another user (id 65534)"), std::string::npos);
}

TEST(Open, ASegmentThatDoesNotFitIsAnError) {
  const auto fabric = open_emulated_fabric({.fabric = kExact,
                                            .clock = "virtual",
                                            .job_id = "huge" + std::to_string(::getpid()),
                                            .segment_bytes = size_t{1} << 43});
  ASSERT_FALSE(fabric.ok());
  EXPECT_EQ(fabric.error().code(), ErrorCode::resource_exhausted);
  EXPECT_NE(fabric.error().message().find("STRIPLINE_SEGMENT_BYTES"), std::string::npos);
}

}  // namespace
}  // namespace stripline::fabric
