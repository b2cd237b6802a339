// Programs whose time follows from the written physics (docs/emulated-fabric.md, "Physics") in
// closed form, from 2 to 64 ranks, alone on their node or sharing its NIC.
//
// A put of S bytes that a rank begins at t:
//   t + o                     the CPU is free; the put goes to the transmit side of the node,
//   which is busy for         x = g + S G;
//   L after it began there    the first byte is at the receive side, which is busy for S G;
//   then                      the data and the flag are there: it has landed;
//   L later                   it is complete, and the initiator pays r when it retires it.
// Sides are first come, first served; those that come at once go by rank. P ranks, m on each of
// N = P/m nodes; rank j is number q = j mod m of its node.
//
// The emulator adds and compares times and does nothing else with them. On a network whose values
// are multiples of powers of two all sums are exact, so that times are equal to the last bit; on
// published values they differ by the rounding of sums in another order, far below 1e-12.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <ostream>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "base/json.h"
#include "runtime/fabric/emulated/profile.h"
#include "runtime/fabric/emulated/testing/emulated_ranks.h"
#include "tests/scale/costs.h"

namespace stripline::fabric {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr size_t kBytes = 4096;
constexpr uint64_t kFlags = uint64_t{64} * kBytes;  // flags, 8 bytes for each source, behind blocks
constexpr size_t kSegment = kFlags + 64 * sizeof(uint64_t);

/// A network of powers of two: a unit is 2^-20 s.
std::string binary_profile_file() {
  Json profile = *parse_json(builtin_profile_text("opteron-vapi"), "opteron-vapi");
  const double unit_s = std::exp2(-20);
  const auto value = [](double x) { return Json{{"value", x}, {"assumed", "sums are exact"}}; };
  const auto segments = [&](double o, double latency, double g, double r) {
    return Json::array({{{"from_bytes", 0},
                         {"o_base_s", value(o * unit_s)},
                         {"o_per_byte_s", value(unit_s / 65536)},
                         {"L_s", value(latency * unit_s)},
                         {"g_s", value(g * unit_s)},
                         {"G_s_per_byte", value(unit_s / 1024)},
                         {"r_base_s", value(r * unit_s)},
                         {"r_per_byte_s", value(unit_s / 131072)}}});
  };
  profile["put"]["segments"] = segments(1, 4, 1, 0.25);
  profile["get"]["segments"] = segments(1.5, 5, 1.25, 0.5);
  profile["am"]["segments"] = segments(1.25, 4.5, 0.75, 0.5);
  profile["poll_s"] = value(unit_s / 8);
  profile["queue_depth"] = value(4096);
  profile["max_message_bytes"] = value(256);
  std::string path =
      testing::TempDir() + "stripline_binary_profile_" + std::to_string(::getpid()) + ".json";
  EXPECT_TRUE(write_json_file(path, profile).ok());
  return path;
}

struct Size {
  Rank ranks;
  Rank per_node;
};

void PrintTo(const Size& size, std::ostream* out) {
  *out << size.ranks << " ranks, " << size.per_node << " a node";
}

class ClosedForms : public testing::TestWithParam<Size> {
 protected:
  ClosedForms() : file_(binary_profile_file()) {}
  ~ClosedForms() override { std::filesystem::remove(file_); }
  ClosedForms(const ClosedForms&) = delete;
  ClosedForms& operator=(const ClosedForms&) = delete;

  static Rank P() { return GetParam().ranks; }
  static Rank m() { return GetParam().per_node; }
  static Rank N() { return P() / m(); }

  /// A program: what each rank returns is a time of its own.
  using Body = std::function<double(Fabric&, Rank)>;
  /// What it should be.
  using Expected = std::function<double(const Profile&, Rank)>;

  void expect_times(const Body& body, const Expected& expected) const {
    for (const bool exact : {true, false}) {
      const std::string name = "emulated:" + (exact ? file_ : std::string("opteron-vapi")) +
                               ",compute=none,jitter=off,ranks_per_node=" + std::to_string(m());
      SCOPED_TRACE(name);
      const Profile profile = resolve_profile(name)->profile;
      std::vector<double> times(P());
      run_emulated_ranks(P(), name, "virtual", 1, kSegment,
                         [&](Fabric& fabric, Rank rank) { times[rank] = body(fabric, rank); });
      for (Rank rank = 0; rank < P(); ++rank) {
        const double time_s = expected(profile, rank);
        if (exact) {
          EXPECT_EQ(times[rank], time_s) << "rank " << rank;
        } else {
          EXPECT_NEAR(times[rank], time_s, 1e-12 * time_s) << "rank " << rank;
        }
      }
    }
  }

  static std::vector<std::byte> block(Rank rank) {
    return std::vector<std::byte>(kBytes, static_cast<std::byte>(rank + 1));
  }
  static uint64_t flag(Fabric& fabric, Rank source) {
    uint64_t value = 0;
    std::memcpy(&value, fabric.segment().data() + kFlags + source * sizeof value, sizeof value);
    return value;
  }
  /// Puts to the place that belongs to this rank at the target, and raises its flag there.
  static void put(Fabric& fabric, Rank rank, Rank target, const std::vector<std::byte>& data,
                  uint64_t value, Counter& counter) {
    fabric.put_signal(target, uint64_t{rank} * kBytes, {data.data(), data.size()},
                      {.offset = kFlags + rank * sizeof(uint64_t), .value = value}, counter);
  }
  static void expect_block_of(Fabric& fabric, Rank source) {
    const std::byte* const begin = fabric.segment().data() + uint64_t{source} * kBytes;
    EXPECT_TRUE(
        std::all_of(begin, begin + kBytes,
                    [&](std::byte value) { return value == static_cast<std::byte>(source + 1); }))
        << "from rank " << source;
  }

 private:
  std::string file_;
};

// Each rank waits for the flag of the rank before it and then puts to the next one, K times, all
// at once.
//
// In the first round all puts of a node come to its transmit side at o and leave q x apart: the
// flag of rank j, whose predecessor has number (j-1) mod m, is there at
//   F_1(j) = o + L + S G + ((j-1) mod m) x.
// A rank that goes on then comes to the transmit side o later, in this order and x apart. If m x <=
// o + L + S G, the side has finished the round before, no rank waits, and each round takes o + L +
// S G. Else the side is never idle, and each takes m x. In both cases numbers move on by one with
// each round:
//   F_k(j) = o + L + S G + (k-1) max(o + L + S G, m x) + ((j-k) mod m) x.
// Puts that are retired do not delay that: with these values none completes less than r before the
// flag of the next round.
TEST_P(ClosedForms, RingOfPuts) {
  constexpr Rank kRounds = 9;
  expect_times(
      [](Fabric& fabric, Rank rank) {
        const Rank before = (rank + P() - 1) % P();
        const std::vector<std::byte> data = block(rank);
        Counter counter;
        double last_s = 0;
        for (uint64_t k = 1; k <= kRounds; ++k) {
          put(fabric, rank, (rank + 1) % P(), data, k, counter);
          EXPECT_TRUE(fabric.wait([&] { return flag(fabric, before) == k; }, kForever));
          last_s = fabric.now_s();
        }
        expect_block_of(fabric, before);
        fabric.wait_for(counter);
        return last_s;
      },
      [](const Profile& profile, Rank rank) {
        const scale::Costs c(profile.put, kBytes);
        const double once = c.o + c.L + c.wire;
        const Rank number = (rank + m() * kRounds - kRounds) % m();
        return once + (kRounds - 1) * std::max(once, m() * c.x) + number * c.x;
      });
}

// Each rank gets from the rank of its own number on the next node, K times, one after the other.
//
// Alone, a get takes T = o + L + (L + S G) + r. The requests of a node come to the next one's
// transmit side together, and its data leave x apart, by number. If m x <= T, they have left before
// the next requests come, which are x apart by then; else the side is never idle:
//   T + (K-1) max(T, m x) + q x.
TEST_P(ClosedForms, GetsFromTheNextNode) {
  constexpr int kRounds = 5;
  expect_times(
      [](Fabric& fabric, Rank rank) {
        std::vector<std::byte> data(kBytes);
        for (int k = 0; k < kRounds; ++k) {
          Counter counter;
          fabric.get({data.data(), kBytes}, (rank + m()) % P(), 0, counter);
          fabric.wait_for(counter);
        }
        return fabric.now_s();
      },
      [](const Profile& profile, Rank rank) {
        const scale::Costs c(profile.get, kBytes);
        const double once = c.o + 2 * c.L + c.wire + c.r;
        return once + (kRounds - 1) * std::max(once, m() * c.x) + (rank % m()) * c.x;
      });
}

// Each rank puts to all others, in the order rank+1, rank+2, ..., without waiting in between.
//
// Issuing takes o <= x for each, so that the transmit sides are never idle from o on: put i (from
// 1) of number q is their ((i-1) m + q)th, and begins that many x later. At that time every node
// sends to the node floor((q+i)/m) further on: never two to the same, so that none waits at a
// receive side. The last put, i = P-1, is complete, and retired, at
//   o + ((P-2) m + q) x + L + S G + L + r.
TEST_P(ClosedForms, AllToAll) {
  expect_times(
      [](Fabric& fabric, Rank rank) {
        const std::vector<std::byte> data = block(rank);
        Counter counter;
        for (Rank i = 1; i < P(); ++i) put(fabric, rank, (rank + i) % P(), data, 1, counter);
        fabric.wait_for(counter);
        const double end_s = fabric.now_s();
        for (Rank source = 0; source < P(); ++source) {
          if (source == rank) continue;
          EXPECT_TRUE(fabric.wait([&] { return flag(fabric, source) == 1; }, kForever));
          expect_block_of(fabric, source);
        }
        return end_s;
      },
      [](const Profile& profile, Rank rank) {
        const scale::Costs c(profile.put, kBytes);
        const auto last = static_cast<double>((P() - 2) * m() + rank % m());
        return c.o + last * c.x + c.L + c.wire + c.L + c.r;
      });
}

// The first rank of each node has the data from a binomial tree over the nodes and passes them on
// to the others of its node. In the tree, node n < 2^i sends to node n + 2^i, for all i at which it
// has the data, in this order.
//
// A sender's puts leave x apart (o <= x), so that the cth of them (from 0) is there o + c x + L +
// S G after the sender had the data. A node n whose bits are b_1 < ... < b_j was reached over j
// sends, which before each left out as many as there are zeros below that bit: its first rank has
// the data at
//   T(n) = j (o + L + S G) + (b_j + 1 - j) x,
// sends to its children, and then to its own ranks 1, 2, ...
TEST_P(ClosedForms, BinomialBroadcast) {
  expect_times(
      [](Fabric& fabric, Rank rank) {
        const Rank node = rank / m();
        const Rank number = rank % m();
        const auto width = static_cast<Rank>(std::bit_width(node));
        std::vector<std::byte> data = block(0);
        double reached_s = 0;
        if (rank != 0) {
          const Rank parent = number != 0 ? node * m() : (node - std::bit_floor(node)) * m();
          EXPECT_TRUE(fabric.wait([&] { return flag(fabric, parent) == 1; }, kForever));
          reached_s = fabric.now_s();
          std::memcpy(data.data(), fabric.segment().data() + uint64_t{parent} * kBytes, kBytes);
          EXPECT_EQ(data, block(0));
        }
        if (number != 0) return reached_s;
        Counter counter;
        for (Rank i = width; node + (1U << i) < N(); ++i) {
          put(fabric, rank, (node + (1U << i)) * m(), data, 1, counter);
        }
        for (Rank i = 1; i < m(); ++i) put(fabric, rank, rank + i, data, 1, counter);
        fabric.wait_for(counter);
        return reached_s;
      },
      [](const Profile& profile, Rank rank) {
        const scale::Costs c(profile.put, kBytes);
        const Rank node = rank / m();
        const Rank number = rank % m();
        const int width = std::bit_width(node);
        const int sends = std::popcount(node);
        const double once = c.o + c.L + c.wire;
        const double first_s = sends * once + (width - sends) * c.x;
        if (number == 0) return first_s;
        int children = 0;
        while (node + (1U << (width + children)) < N()) ++children;
        return first_s + once + (children + static_cast<int>(number) - 1) * c.x;
      });
}

// All ranks but 0 put K times to rank 0 at once.
//
// Nodes send from o on, every x, so that N-1 puts, and as long as it has any one from rank 0's own
// node, come to the receive side every x, from o + L on; it needs S G for each. It is busy from the
// first to the last unless they come more slowly than it takes them: the latest put ends at the
// end of all work from the first one on, or at that of those that came last. (In between it would
// have to fall behind first and catch up later; but fewer come later.)
//   o + L + max(K (P-1) S G, (K m - 1) x + (N-1) S G),   and with one node: o + L + (K (m-1) - 1) x
//   + S G.
TEST_P(ClosedForms, ManyToOne) {
  constexpr Rank kRounds = 6;
  expect_times(
      [](Fabric& fabric, Rank rank) {
        const std::vector<std::byte> data = block(rank);
        Counter counter;
        if (rank != 0) {
          for (uint64_t k = 1; k <= kRounds; ++k) put(fabric, rank, 0, data, k, counter);
          fabric.wait_for(counter);
          return 0.0;
        }
        EXPECT_TRUE(fabric.wait(
            [&] {
              bool all = true;
              for (Rank source = 1; source < P(); ++source) {
                all = all && flag(fabric, source) == kRounds;
              }
              return all;
            },
            kForever));
        for (Rank source = 1; source < P(); ++source) expect_block_of(fabric, source);
        return fabric.now_s();
      },
      [](const Profile& profile, Rank rank) {
        if (rank != 0) return 0.0;
        const scale::Costs c(profile.put, kBytes);
        if (N() == 1) return c.o + c.L + (kRounds * (m() - 1) - 1) * c.x + c.wire;
        return c.o + c.L +
               std::max(kRounds * (P() - 1) * c.wire,
                        (kRounds * m() - 1) * c.x + (N() - 1) * c.wire);
      });
}

// All ranks but 0 send one message to rank 0, which serves one after the other, r each.
//
// S G < r < x < 2 r: the first is there at o + L + S G, and as long as more than one node sends,
// they come faster than they are served. The last is served after all others, or after those of its
// node's slot, which is the (m-1)th, with one from each other node:
//   o + L + S G + max((P-1) r, (m-1) x + (N-1) r),   and with one node: o + L + S G + (m-2) x + r.
TEST_P(ClosedForms, MessagesWaitForTheirServer) {
  constexpr size_t kMessage = 64;
  expect_times(
      [](Fabric& fabric, Rank rank) {
        Inbox inbox;
        fabric.set_message_sink(&inbox);
        if (rank != 0) {
          EXPECT_TRUE(fabric.try_send(0, std::vector<std::byte>(kMessage, std::byte{7})));
          fabric.set_message_sink(nullptr);
          return 0.0;
        }
        EXPECT_TRUE(fabric.wait([&] { return inbox.messages.size() == P() - 1; }, kForever));
        const double end_s = fabric.now_s();
        fabric.set_message_sink(nullptr);
        for (size_t i = 0; m() == 1 && i < inbox.sources.size(); ++i) {
          EXPECT_EQ(inbox.sources[i], i + 1);  // they come at once, hence by rank
        }
        std::sort(inbox.sources.begin(), inbox.sources.end());
        for (size_t i = 0; i < inbox.sources.size(); ++i) EXPECT_EQ(inbox.sources[i], i + 1);
        return end_s;
      },
      [](const Profile& profile, Rank rank) {
        if (rank != 0) return 0.0;
        const scale::Costs c(profile.am, kMessage);
        EXPECT_TRUE(c.wire < c.r && c.r < c.x && c.x < 2 * c.r);
        const double first_s = c.o + c.L + c.wire;
        if (N() == 1) return first_s + (m() - 2) * c.x + c.r;
        return first_s + std::max((P() - 1) * c.r, (m() - 1) * c.x + (N() - 1) * c.r);
      });
}

INSTANTIATE_TEST_SUITE_P(Sizes, ClosedForms,
                         testing::Values(Size{2, 1}, Size{2, 2}, Size{4, 1}, Size{6, 2}, Size{8, 2},
                                         Size{8, 4}, Size{15, 3}, Size{16, 1}, Size{16, 8},
                                         Size{64, 1}, Size{64, 4}, Size{64, 16}),
                         [](const auto& test) {
                           return std::to_string(test.param.ranks) + "_" +
                                  std::to_string(test.param.per_node) + "_a_node";
                         });

}  // namespace
}  // namespace stripline::fabric
