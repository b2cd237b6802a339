// Collectives on teams: each algorithm against what every rank can compute for itself.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/team.h>

#include "optimizer/model/model_json.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;
using bootstrap::group_on;
using model::CollectiveOperation;

constexpr uint32_t kUntouched = 0xdeadbeef;

std::vector<collective_algorithm> choices_of(CollectiveOperation operation) {
  std::vector<collective_algorithm> all = {collective_algorithm::automatic};
  for (const auto one : model::algorithms_of(operation)) all.push_back(one);
  return all;
}

// Element i of what a rank (of the job) contributes to round `round`.
uint32_t element(rank_t rank, size_t i, uint64_t round) {
  return static_cast<uint32_t>((i + 1) * 2654435761U + rank * uint64_t{40503} + round * 97);
}

// Neither commutative nor anything that loses a bit: the composition of affine maps modulo 2^32.
struct Affine {
  uint32_t factor;
  uint32_t term;
  bool operator==(const Affine&) const = default;
};
struct Compose {
  Affine operator()(const Affine& f, const Affine& g) const {
    return {f.factor * g.factor, f.factor * g.term + f.term};
  }
};

// Vectors of one test, private or in the segment, where puts can reach them.
class Vectors {
 public:
  Vectors(Context& context, size_t count, bool in_segment) {
    if (!in_segment) {
      private_.resize(count);
      data_ = private_;
      return;
    }
    const auto array = context.new_symmetric_array<uint32_t>(std::max<size_t>(count, 1));
    if (!array.ok()) {
      ADD_FAILURE() << array.error().message();
      return;
    }
    context_ = &context;
    array_ = *array;
    data_ = {context.local(array_), count};
  }
  ~Vectors() {
    if (context_ != nullptr) context_->delete_symmetric_array(array_);
  }
  Vectors(const Vectors&) = delete;
  Vectors& operator=(const Vectors&) = delete;

  std::span<uint32_t> data() const { return data_; }

 private:
  std::vector<uint32_t> private_;
  Context* context_ = nullptr;
  global_ptr<uint32_t> array_;
  std::span<uint32_t> data_;
};

// Runs every operation by every algorithm on one team and compares.
class Check {
 public:
  Check(Context& context, const team& on, size_t count, bool in_segment, uint64_t round)
      : team_(on),
        count_(count),
        round_(round),
        in_(context, count * on.rank_n(), in_segment),
        out_(context, count * on.rank_n(), in_segment) {}

  void all() {
    const auto root = static_cast<rank_t>(round_ % team_.rank_n());
    for (const auto algorithm : choices_of(CollectiveOperation::broadcast)) {
      broadcast(root, algorithm);
    }
    for (const auto algorithm : choices_of(CollectiveOperation::reduce)) {
      reduce(root, algorithm);
    }
    for (const auto algorithm : choices_of(CollectiveOperation::allreduce)) {
      allreduce(algorithm);
    }
    for (const auto algorithm : choices_of(CollectiveOperation::gather)) {
      gather(root, algorithm);
    }
    for (const auto algorithm : choices_of(CollectiveOperation::allgather)) {
      allgather(algorithm);
    }
    for (const auto algorithm : choices_of(CollectiveOperation::all_to_all)) {
      all_to_all(algorithm);
    }
    for (const auto algorithm : choices_of(CollectiveOperation::all_to_allv)) {
      all_to_all_v(algorithm);
    }
    for (const auto algorithm : choices_of(CollectiveOperation::scan)) scan(algorithm);
  }

 private:
  uint32_t value(rank_t rank, size_t i) const { return element(team_.world_rank(rank), i, round_); }
  std::span<uint32_t> vector(const Vectors& of) const { return of.data().first(count_); }
  std::span<uint32_t> block(rank_t rank) const {
    return out_.data().subspan(rank * count_, count_);
  }

  void fill() {
    ++round_;
    const std::span<uint32_t> in = in_.data();
    for (size_t i = 0; i < in.size(); ++i) in[i] = value(team_.rank_me(), i);
    std::fill(out_.data().begin(), out_.data().end(), kUntouched);
  }

  template <typename Expected>
  void expect(const char* what, collective_algorithm algorithm, std::span<const uint32_t> got,
              const Expected& expected) const {
    size_t wrong = 0;
    for (size_t i = 0; i < got.size(); ++i) wrong += got[i] != expected(i) ? 1 : 0;
    EXPECT_EQ(wrong, 0U) << what << " by algorithm " << static_cast<int>(algorithm) << " of "
                         << count_ << " elements, rank " << team_.rank_me() << " of "
                         << team_.rank_n();
  }
  uint32_t sum(size_t i, rank_t ranks) const {
    uint32_t total = 0;
    for (rank_t rank = 0; rank < ranks; ++rank) total += value(rank, i);
    return total;
  }

  void broadcast(rank_t root, collective_algorithm algorithm) {
    fill();
    team_.broadcast(vector(in_), root, algorithm);
    expect("broadcast", algorithm, vector(in_), [&](size_t i) { return value(root, i); });
  }
  void reduce(rank_t root, collective_algorithm algorithm) {
    fill();
    team_.reduce(vector(in_), vector(out_), op_add{}, root, algorithm);
    const bool is_root = team_.rank_me() == root;
    expect("reduce", algorithm, vector(out_),
           [&](size_t i) { return is_root ? sum(i, team_.rank_n()) : kUntouched; });
    expect("reduce's input", algorithm, vector(in_),
           [&](size_t i) { return value(team_.rank_me(), i); });
  }
  void allreduce(collective_algorithm algorithm) {
    fill();
    team_.allreduce(vector(in_), vector(out_), op_bit_xor{}, algorithm);
    expect("allreduce", algorithm, vector(out_), [&](size_t i) {
      uint32_t all = 0;
      for (rank_t rank = 0; rank < team_.rank_n(); ++rank) all ^= value(rank, i);
      return all;
    });
    team_.allreduce(vector(in_), vector(in_), op_add{}, algorithm);
    expect("allreduce in place", algorithm, vector(in_),
           [&](size_t i) { return sum(i, team_.rank_n()); });
  }
  void gather(rank_t root, collective_algorithm algorithm) {
    fill();
    team_.gather(vector(in_), out_.data(), root, algorithm);
    const bool is_root = team_.rank_me() == root;
    for (rank_t rank = 0; rank < team_.rank_n(); ++rank) {
      expect("gather", algorithm, block(rank),
             [&](size_t i) { return is_root ? value(rank, i) : kUntouched; });
    }
  }
  void allgather(collective_algorithm algorithm) {
    fill();
    const std::span<uint32_t> mine = block(team_.rank_me());
    std::copy_n(in_.data().begin(), count_, mine.begin());
    team_.allgather(mine, out_.data(), algorithm);
    for (rank_t rank = 0; rank < team_.rank_n(); ++rank) {
      expect("allgather", algorithm, block(rank), [&](size_t i) { return value(rank, i); });
    }
  }
  void all_to_all(collective_algorithm algorithm) {
    fill();
    team_.all_to_all(in_.data(), out_.data(), algorithm);
    for (rank_t rank = 0; rank < team_.rank_n(); ++rank) {
      expect("all_to_all", algorithm, block(rank),
             [&](size_t i) { return value(rank, team_.rank_me() * count_ + i); });
    }
  }
  // From the blocks of all_to_all, rank s sends rank r only the first length(s, r), from the end of
  // the input backwards.
  void all_to_all_v(collective_algorithm algorithm) {
    fill();
    const rank_t n = team_.rank_n();
    const rank_t me = team_.rank_me();
    const auto length = [&](rank_t source, rank_t target) {
      return (source * 7 + target * 3 + round_) % 4 == 0 ? 0 : count_ * (source + 1) / n;
    };
    std::vector<size_t> in_counts(n);
    std::vector<size_t> in_offsets(n);
    std::vector<size_t> out_counts(n);
    std::vector<size_t> out_offsets(n);
    for (rank_t rank = 0; rank < n; ++rank) {
      in_counts[rank] = length(me, rank);
      in_offsets[rank] = (n - 1 - rank) * count_;
      out_counts[rank] = length(rank, me);
      out_offsets[rank] = rank * count_;
    }
    team_.all_to_all_v(in_.data(), in_counts, in_offsets, out_.data(), out_counts, out_offsets,
                       algorithm);
    for (rank_t rank = 0; rank < n; ++rank) {
      expect("all_to_all_v", algorithm, block(rank), [&](size_t i) {
        return i < length(rank, me) ? value(rank, (n - 1 - me) * count_ + i) : kUntouched;
      });
    }
  }
  void scan(collective_algorithm algorithm) {
    fill();
    const rank_t me = team_.rank_me();
    team_.inclusive_scan(vector(in_), vector(out_), op_add{}, algorithm);
    expect("inclusive_scan", algorithm, vector(out_), [&](size_t i) { return sum(i, me + 1); });
    std::fill(out_.data().begin(), out_.data().end(), kUntouched);
    team_.exclusive_scan(vector(in_), vector(out_), op_add{}, algorithm);
    expect("exclusive_scan", algorithm, vector(out_),
           [&](size_t i) { return me == 0 ? kUntouched : sum(i, me); });
    // In the order of ranks.
    const auto map_of = [&](rank_t rank) { return Affine{rank * 2 + 3, rank * 5 + 1}; };
    Affine expected = map_of(0);
    for (rank_t rank = 1; rank <= me; ++rank) expected = Compose{}(expected, map_of(rank));
    EXPECT_EQ(team_.inclusive_scan(map_of(me), Compose{}, algorithm), expected);
  }

  const team& team_;
  size_t count_;
  uint64_t round_;
  Vectors in_;
  Vectors out_;
};

class TeamTest : public bootstrap::RanksTest {};

// Lengths: none, less than a block per rank, small, just above an eager message, several messages.
TEST_P(TeamTest, EveryAlgorithmOnOneToEightRanks) {
  for (const rank_t ranks : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U}) {
    on_ranks(ranks, [](Context& context) {
      const team all = team::world(context);
      uint64_t round = context.rank_n();
      for (const size_t count : {0U, 1U, 5U, 257U, 4100U}) {
        Check(context, all, count, round % 2 == 0, round).all();
        round += 100;
      }
      EXPECT_EQ(context.state().mechanisms.transfers().early_bytes(), 0U);
    });
  }
}

TEST_P(TeamTest, LargeData) {
  for (const rank_t ranks : {2U, 3U, 4U}) {
    on_ranks(ranks, [](Context& context) {
      const team all = team::world(context);
      Check(context, all, 50001, false, 3).all();
      Check(context, all, 50001, true, 4).all();
    });
  }
}

TEST_P(TeamTest, OneCreditIsEnough) {
  for (const rank_t ranks : {2U, 3U, 5U}) {
    on_ranks(ranks, 1, [](Context& context) {
      const team all = team::world(context);
      for (const size_t count : {1U, 300U, 20000U}) {
        Check(context, all, count, count == 20000U, count).all();
      }
    });
  }
}

TEST_P(TeamTest, BytesAtAnyAddress) {
  on_ranks(3, [](Context& context) {
    const team all = team::world(context);
    for (const size_t bytes : {1U, 13U, 16383U, 16384U, 16385U, 65537U, 200001U}) {
      const auto array = context.new_symmetric_array<std::byte>(3 * bytes + 64);
      ASSERT_TRUE(array.ok());
      const std::span<std::byte> out(context.local(*array) + 1 + bytes % 7, 3 * bytes);
      std::vector<std::byte> memory(bytes + 3);
      const std::span<std::byte> in = std::span(memory).subspan(3);
      for (size_t i = 0; i < bytes; ++i) in[i] = static_cast<std::byte>(i + context.rank_me());
      all.allgather(in, out);
      size_t wrong = 0;
      for (size_t i = 0; i < 3 * bytes; ++i) {
        wrong += out[i] != static_cast<std::byte>(i % bytes + i / bytes) ? 1 : 0;
      }
      EXPECT_EQ(wrong, 0U) << bytes;
      context.delete_symmetric_array(*array);
    }
  });
}

// Values whose sum depends on the order: each algorithm has one of its own, the same on all ranks
// and every time.
TEST_P(TeamTest, SumsOfDoublesHaveTheSameBitsEverywhere) {
  for (const rank_t ranks : {3U, 4U, 6U, 7U}) {
    on_ranks(ranks, [](Context& context) {
      const team all = team::world(context);
      constexpr size_t kCount = 100;
      std::vector<double> in(kCount);
      for (size_t i = 0; i < kCount; ++i) {
        in[i] = std::ldexp(1.0 + 0.1 * static_cast<double>(context.rank_me()),
                           static_cast<int>((i * 7 + context.rank_me() * uint64_t{29}) % 60));
      }
      for (const auto algorithm : choices_of(CollectiveOperation::allreduce)) {
        std::vector<double> first(kCount);
        all.allreduce(in, first, op_add{}, algorithm);
        for (int repeat = 0; repeat < 3; ++repeat) {
          std::vector<double> again(kCount);
          all.allreduce(in, again, op_add{}, algorithm);
          EXPECT_TRUE(
              std::ranges::equal(std::as_bytes(std::span(first)), std::as_bytes(std::span(again))));
        }
        std::vector<double> of_root = first;
        all.broadcast(of_root, 0);
        EXPECT_TRUE(
            std::ranges::equal(std::as_bytes(std::span(first)), std::as_bytes(std::span(of_root))))
            << static_cast<int>(algorithm);
      }
      double expected = 0;
      for (rank_t rank = 0; rank < context.rank_n(); ++rank) expected += 1.0 / (rank + 1);
      EXPECT_EQ(
          all.allreduce(1.0 / (context.rank_me() + 1), op_add{}, collective_algorithm::in_order),
          expected);
    });
  }
}

TEST_P(TeamTest, Operators) {
  on_ranks(4, [](Context& context) {
    const team all = team::world(context);
    const auto me = static_cast<int32_t>(context.rank_me());
    EXPECT_EQ(all.allreduce(me - 2, op_min{}), -2);
    EXPECT_EQ(all.allreduce(me - 2, op_max{}), 1);
    EXPECT_EQ(all.allreduce(me + 1, op_mul{}), 24);
    EXPECT_EQ(all.allreduce(uint8_t(0xf0 | (1 << me)), op_bit_and{}), 0xf0);
    EXPECT_EQ(all.allreduce(uint16_t(1 << me), op_bit_or{}), 15);
    EXPECT_EQ(all.allreduce(uint64_t{3} << me, op_bit_xor{}), 17U);
    EXPECT_EQ(all.reduce(float(me), op_add{}, 2), me == 2 ? 6.0F : float(me));
    EXPECT_EQ(all.exclusive_scan(me + 1, -7, op_add{}), me == 0 ? -7 : me * (me + 1) / 2);
    struct Best {
      double cost;
      uint32_t owner;
    };
    const auto better = [](const Best& a, const Best& b) {
      return b.cost < a.cost || (b.cost == a.cost && b.owner < a.owner) ? b : a;
    };
    const double cost = me == 1 || me == 3 ? 0.5 : 2.0;
    EXPECT_EQ(all.allreduce(Best{cost, context.rank_me()}, better).owner, 1U);
  });
}

TEST_P(TeamTest, SplitsOrderByKeyAndRank) {
  on_ranks(6, [](Context& context) {
    const team all = team::world(context);
    EXPECT_EQ(all.id(), 0U);
    const rank_t me = context.rank_me();
    // Rank 4 stays out; the others by parity, the odd ones backwards.
    const team mine = all.split(me == 4 ? team::no_colour : me % 2, me % 2 == 1 ? -int64_t{me} : 0);
    EXPECT_EQ(static_cast<bool>(mine), me != 4);
    if (me == 4) return;
    const std::vector<rank_t> members =
        me % 2 == 0 ? std::vector<rank_t>{0, 2} : std::vector<rank_t>{5, 3, 1};
    ASSERT_EQ(mine.rank_n(), members.size());
    for (rank_t rank = 0; rank < mine.rank_n(); ++rank) {
      EXPECT_EQ(mine.world_rank(rank), members[rank]);
      EXPECT_EQ(mine.from_world(members[rank]), rank);
    }
    EXPECT_EQ(mine.world_rank(mine.rank_me()), me);
    EXPECT_EQ(mine.from_world(4), std::nullopt);
    EXPECT_NE(mine.id(), 0U);
    // Teams of a team; some of one rank.
    const team part = mine.split(mine.rank_me() / 2, 0);
    EXPECT_EQ(part.world_rank(part.rank_me()), me);
    EXPECT_EQ(part.rank_n(), me == 1 ? 1U : 2U);
    EXPECT_EQ(part.allreduce(me, op_max{}), me == 1 ? 1U : members[0] == 5 ? 5U : 2U);
    part.barrier();
  });
}

// Random teams, three at a time and nested, work on their own between common collectives, which
// no one may pass early.
TEST_P(TeamTest, RandomTeams) {
  on_ranks(7, [](Context& context) {
    const team all = team::world(context);
    std::mt19937 random(4711);  // the same on every rank
    for (int repeat = 0; repeat < 4; ++repeat) {
      std::vector<uint32_t> colours(context.rank_n());
      std::vector<int64_t> keys(context.rank_n());
      for (rank_t rank = 0; rank < context.rank_n(); ++rank) {
        colours[rank] = static_cast<uint32_t>(random() % 3);
        keys[rank] = static_cast<int64_t>(random() % 5) - 2;
      }
      const team mine = all.split(colours[context.rank_me()], keys[context.rank_me()]);
      std::map<std::pair<int64_t, rank_t>, rank_t> order;
      for (rank_t rank = 0; rank < context.rank_n(); ++rank) {
        if (colours[rank] == colours[context.rank_me()]) order[{keys[rank], rank}] = rank;
      }
      rank_t next = 0;
      for (const auto& [key, rank] : order) EXPECT_EQ(mine.world_rank(next++), rank);
      // As many operations as the team is large, so that the teams drift apart.
      for (uint64_t i = 0; i < mine.rank_n(); ++i) {
        Check(context, mine, 17 + size_t{i} * 2000, false, i + uint64_t{10} * mine.id()).all();
      }
      const future arrived = mine.barrier_async();
      EXPECT_EQ(all.allreduce(1, op_add{}), 7);
      arrived.wait();
    }
  });
}

TEST_P(TeamTest, BarriersOfTeamsAreApart) {
  constexpr rank_t kRanks = 6;
  std::vector<std::atomic<uint64_t>> arrivals(2);  // ranks are threads: they can see each other's
  on_ranks(kRanks, [&](Context& context) {
    const rank_t colour = context.rank_me() % 2;
    const team half = team::world(context).split(colour, 0);
    const uint64_t rounds = colour == 0 ? 20 : 7;
    for (uint64_t round = 1; round <= rounds; ++round) {
      ++arrivals[colour];
      if (round % 2 == 0) {
        half.barrier();
      } else {
        half.barrier_async().wait();
      }
      EXPECT_GE(arrivals[colour].load(), round * 3);
      EXPECT_LE(arrivals[colour].load(), round * 3 + 3);
    }
  });
}

// A root that is far ahead of a rank is stopped before it can fill that rank's memory.
TEST_P(TeamTest, EarlyMessagesAreBounded) {
  on_ranks(2, [](Context& context) {
    const team all = team::world(context);
    constexpr size_t kBytes = 3000;
    constexpr uint64_t kRounds = 100;
    const size_t bound = context.state().mechanisms.transfers().buffer_bytes_per_peer();
    size_t most = 0;
    if (context.rank_me() == 1) {
      // Serves what comes, until the root has to wait, or nearly so.
      context.wait_until(
          [&] {
            most = context.state().mechanisms.transfers().early_bytes();
            return most > bound / 2;
          },
          60);
      EXPECT_GT(most, bound / 2);
      context.wait_until([] { return false; }, 0.02);  // and all that it sends beyond that
    }
    std::vector<uint8_t> data(kBytes);
    for (uint64_t round = 0; round < kRounds; ++round) {
      if (context.rank_me() == 0) std::fill(data.begin(), data.end(), uint8_t(round));
      all.broadcast(data, 0);
      ASSERT_EQ(data, std::vector<uint8_t>(kBytes, uint8_t(round)));
      most = std::max(most, context.state().mechanisms.transfers().early_bytes());
    }
    EXPECT_LE(most, bound);
  });
}

// Rank 0 computes and gives no credits, so that what rank 1's handler has sent it stays there.
TEST_P(TeamTest, ABarrierDoesNotWaitForRepliesOfTheProgram) {
  if (GetParam().clock != "virtual") GTEST_SKIP() << "looks at the time";
  on_ranks(3, 1, [](Context& context) {
    uint64_t replies = 0;
    const uint32_t reply =
        context.register_am([&](rank_t, std::span<const std::byte>) { ++replies; });
    const uint32_t ask = context.register_am([&](rank_t source, std::span<const std::byte>) {
      for (int i = 0; i < 5; ++i) context.am_send(source, reply, {});
    });
    const team others = team::world(context).split(context.rank_me() == 0 ? team::no_colour : 0, 0);
    if (context.rank_me() == 0) {
      context.am_send(1, ask, {});
      context.compute_for(1.0);
      EXPECT_TRUE(context.wait_until([&] { return replies == 5; }, 1));
    } else {
      context.wait_until([] { return false; }, 0.1);
      EXPECT_EQ(context.state().operations.messages().idle(), context.rank_me() == 2);
      for (int i = 0; i < 3; ++i) others.barrier();
      EXPECT_LT(context.now_s(), 0.5);
    }
    context.barrier();
  });
}

// The other ranks force what the model's rule names, which is not the default: rank 0 must have
// chosen it, or the ranks would disagree.
TEST_P(TeamTest, TheModelChoosesTheAlgorithm) {
  model::TunedModel model;
  model.name = "collectives";
  model.collective.emplace();
  model.collective->rules.push_back({.operation = CollectiveOperation::broadcast,
                                     .algorithm = model::CollectiveAlgorithm::scatter_allgather,
                                     .min_ranks = 3,
                                     .max_ranks = 3,
                                     .from_bytes = 0,
                                     .to_bytes = 100,
                                     .bytes = 8});
  const auto path = std::filesystem::temp_directory_path() /
                    ("stripline-team-test-" + std::to_string(::getpid()) + ".stripline.json");
  ASSERT_TRUE(model::save_model(model, path).ok());
  auto options = group_on(GetParam(), 3);
  options.context.model_path = path.string();
  options.context.guard = false;  // which would have ranks agree on what is compared
  on_ranks(options, [](Context& context) {
    const team all = team::world(context);
    const auto on_rank_0 = [&](collective_algorithm forced) {
      return context.rank_me() == 0 ? collective_algorithm::automatic : forced;
    };
    const bool in_node = context.state().memory.all_shared();
    const auto standard = [&](uint64_t bytes) {
      return static_cast<collective_algorithm>(
          model::default_collective({.operation = CollectiveOperation::broadcast,
                                     .ranks = 3,
                                     .bytes = bytes,
                                     .in_node = in_node,
                                     .crowded = context.state().job.crowded()}));
    };
    // The rules of models are about networks.
    const auto by_rule = in_node ? standard(4) : collective_algorithm::scatter_allgather;
    EXPECT_EQ(all.broadcast(context.rank_me() + 5U, 1, on_rank_0(by_rule)), 6U);
    std::vector<uint8_t> larger(100, uint8_t(context.rank_me()));
    all.broadcast(larger, 2, on_rank_0(standard(100)));
    EXPECT_EQ(larger[99], 2);
  });
  std::filesystem::remove(path);
}

// Rank 0 leaves the choice to the rule; the others name what it forces, or they would disagree.
TEST_P(TeamTest, ARuleForcesTheAlgorithm) {
  for (const auto algorithm :
       {collective_algorithm::binomial, collective_algorithm::scatter_allgather,
        collective_algorithm::direct}) {
    auto options = group_on(GetParam(), 3);
    options.context.tuning = "broadcast:4:" + std::string(model::to_string(algorithm));
    on_ranks(options, [&](Context& context) {
      const team all = team::world(context);
      const auto used = context.rank_me() == 0 ? collective_algorithm::automatic : algorithm;
      EXPECT_EQ(all.broadcast(context.rank_me() + 5U, 1, used), 6U);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics, TeamTest, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

class TeamDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(TeamDeathTest, DisagreementNamesTheTeam) {
  EXPECT_EXIT(on_ranks(3,
                       [](Context& context) {
                         const team all = team::world(context);
                         const team pair =
                             all.split(context.rank_me() == 1 ? team::no_colour : 0, 0);
                         if (context.rank_me() == 0) pair.allreduce(1, op_add{});
                         if (context.rank_me() == 2) pair.inclusive_scan(1, op_add{});
                         context.barrier();
                       }),
              ::testing::ExitedWithCode(2),
              "operation 1 of team 1: rank 0 is in allreduce, rank 2 is in inclusive_scan");
}

TEST_F(TeamDeathTest, DifferentArguments) {
  // The large side only learns of it by announcing its message.
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         std::vector<double> data(context.rank_me() == 0 ? 100000 : 10);
                         team::world(context).broadcast(data, 0);
                       }),
              ::testing::ExitedWithCode(2), "rank 0 has 800000 bytes, rank 1 has 80");
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         team::world(context).reduce(1.0, op_add{}, 1 - context.rank_me());
                         context.barrier();
                       }),
              ::testing::ExitedWithCode(2),
              "reduce with different roots: rank 0 names 1, rank 1 names 0");
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         team::world(context).allreduce(
                             1.0, op_add{},
                             context.rank_me() == 0 ? collective_algorithm::in_order
                                                    : collective_algorithm::recursive_doubling);
                       }),
              ::testing::ExitedWithCode(2), "allreduce by different algorithms");
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         const std::vector<int> in(2);
                         std::vector<int> out(6);
                         const std::vector<size_t> ones = {1, 1};
                         const std::vector<size_t> expected = {1, context.rank_me() == 0 ? 3U : 1U};
                         const std::vector<size_t> zeros = {0, 0};
                         team::world(context).all_to_all_v(in, ones, zeros, out, expected, zeros);
                       }),
              ::testing::ExitedWithCode(2), "rank 1 sent 4 bytes to rank 0, which expected 12");
  // One of them is sent at once, the other waits to be asked for; whoever comes first.
  for (const rank_t late : {0U, 1U}) {
    for (const size_t sent : {size_t{1}, size_t{9000}}) {
      EXPECT_EXIT(on_ranks(2,
                           [late, sent](Context& context) {
                             const size_t expected = sent == 1 ? 9000 : 1;
                             const std::vector<int> in(9001);
                             std::vector<int> out(9001);
                             const bool zero = context.rank_me() == 0;
                             const std::vector<size_t> in_counts = {zero ? 1 : sent, 1};
                             const std::vector<size_t> out_counts = {1, zero ? expected : 1};
                             const std::vector<size_t> offsets = {0, 0};
                             const std::vector<size_t> out_offsets = {0, 1};
                             if (context.rank_me() == late) {
                               context.wait_until([] { return false; }, 0.01);
                             }
                             team::world(context).all_to_all_v(in, in_counts, offsets, out,
                                                               out_counts, out_offsets);
                           }),
                  ::testing::ExitedWithCode(2),
                  "all_to_allv with blocks of different lengths: rank 1 sent " +
                      std::to_string(sent * 4) + " bytes to rank 0, which expected " +
                      std::to_string(sent == 1 ? 36000 : 4));
    }
  }
}

// Memory can be limited (batch systems do it by address space): the rank ends with a message.
TEST_F(TeamDeathTest, NoMemoryForScratch) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer itself needs address space";
#endif
  EXPECT_EXIT(
      on_ranks(2,
               [](Context& context) {
                 std::vector<uint8_t> data(size_t{64} << 20);
                 context.barrier();
                 if (context.rank_me() == 0) {
                   const rlimit tight{size_t{1} << 20, RLIM_INFINITY};  // less than is in use
                   ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
                 }
                 context.barrier();
                 team::world(context).allreduce(data, data, op_add{},
                                                collective_algorithm::in_order);
               }),
      ::testing::ExitedWithCode(4),
      "no 134217728 bytes of memory for the scratch.*choose an algorithm that needs less.*"
      "during allreduce");
}

TEST_F(TeamDeathTest, WrongArguments) {
  const auto alone = [](const std::function<void(const team&)>& body) {
    on_ranks(1, [&body](Context& context) { body(team::world(context)); });
  };
  EXPECT_EXIT(
      alone([](const team& all) { all.allreduce(1, op_add{}, collective_algorithm::bruck); }),
      ::testing::ExitedWithCode(2),
      "allreduce has no algorithm 'bruck'; it has in_order, recursive_doubling");
  EXPECT_EXIT(alone([](const team& all) { all.reduce(1, op_add{}, 1); }),
              ::testing::ExitedWithCode(2), "reduce to rank 1, but the job has ranks 0 to 0");
  EXPECT_EXIT(alone([](const team& all) {
                const std::vector<int> in(3);
                std::vector<int> out(4);
                all.allgather(in, out);
              }),
              ::testing::ExitedWithCode(2),
              "allgather with an output of 16 bytes where 12 bytes are needed");
  EXPECT_EXIT(
      on_ranks(2,
               [](Context& context) {
                 const std::vector<double> in(3);  // 24 bytes, but no two blocks of elements
                 std::vector<double> out(3);
                 team::world(context).all_to_all(in, out);
               }),
      ::testing::ExitedWithCode(2),
      "all_to_all of 3 elements, which are not 2 blocks of the same length");
  EXPECT_EXIT(alone([](const team& all) {
                const std::vector<int> in(3);
                std::vector<int> out(3);
                const size_t count[] = {2};
                const size_t offset[] = {2};
                all.all_to_all_v(in, count, offset, out, count, offset);
              }),
              ::testing::ExitedWithCode(2), "counts and offsets of the input do not name 1 blocks");
}

TEST_F(TeamDeathTest, FunctionsThatAreEmpty) {
  const std::function<int(int, int)> none;
  const auto expect = [](const std::string& call, const std::function<void(const team&)>& body) {
    EXPECT_EXIT(on_ranks(1, [&body](Context& context) { body(team::world(context)); }),
                ::testing::ExitedWithCode(2),
                "team_test.cc:[0-9]+: " + call +
                    " with an empty std::function, or a null function pointer");
  };
  expect("reduce", [&](const team& all) { all.reduce(1, none, 0); });
  expect("allreduce", [&](const team& all) { all.allreduce(1, none); });
  expect("allreduce",
         [&](const team& all) { all.allreduce(1, static_cast<int (*)(int, int)>(nullptr)); });
  expect("allreduce_async", [&](const team& all) { all.allreduce_async(1, none).wait(); });
  expect("inclusive_scan", [&](const team& all) { all.inclusive_scan(1, none); });
  expect("exclusive_scan", [&](const team& all) { all.exclusive_scan(1, 0, none); });
  expect("reduce_scatter", [&](const team& all) {
    const std::vector<int> in(1);
    std::vector<int> out(1);
    all.reduce_scatter(in, out, none);
  });
}

TEST_F(TeamDeathTest, FunctionsThatThrow) {
  const auto throws = [](int, int) -> int { throw std::runtime_error("not today"); };
  const auto expect = [](const std::string& call, const std::function<void(const team&)>& body) {
    EXPECT_EXIT(on_ranks(2,
                         [&body](Context& context) {
                           body(team::world(context));
                           context.barrier();
                         }),
                ::testing::ExitedWithCode(2),
                call + ": the function that combines elements has thrown: not today");
  };
  expect("team_test.cc:[0-9]+: reduce", [&](const team& all) { all.reduce(1, throws, 0); });
  expect("team_test.cc:[0-9]+: allreduce", [&](const team& all) { all.allreduce(1, throws); });
  expect("team_test.cc:[0-9]+: inclusive_scan",
         [&](const team& all) { all.inclusive_scan(1, throws); });
  expect("team_test.cc:[0-9]+: reduce_scatter", [&](const team& all) {
    const std::vector<int> in(2);
    std::vector<int> out(1);
    all.reduce_scatter(in, out, throws);
  });
  expect("allreduce_async", [&](const team& all) { all.allreduce_async(1, throws).wait(); });
}

}  // namespace
}  // namespace stripline
