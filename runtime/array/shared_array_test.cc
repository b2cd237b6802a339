#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/shared_array.h>

#include "runtime/bootstrap/testing/rank_fixtures.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;

class SharedArray : public bootstrap::RanksTest {};

struct Particle {
  double position;
  uint32_t id;
  uint32_t unused;
};
Particle particle(uint64_t index) { return {0.5 * static_cast<double>(index), 7, 9}; }

// Filled locally, read from everywhere by every method, written remotely, looked at locally.
template <typename Layout, typename Ranks = dynamic_ranks>
void check_array(Context& ctx, uint64_t size, const Layout& layout) {
  auto made = shared_array<Particle, Layout, Ranks>::create(ctx, size, layout);
  ASSERT_TRUE(made.ok()) << made.error().message();
  const auto& array = *made;
  EXPECT_EQ(array.size(), size);
  const std::span<Particle> mine = array.local_span();
  EXPECT_EQ(mine.size(), array.local_size(ctx.rank_me()));
  uint64_t total = 0;
  for (rank_t rank = 0; rank < ctx.rank_n(); ++rank) total += array.local_size(rank);
  EXPECT_EQ(total, size);
  for (size_t k = 0; k < mine.size(); ++k) {
    mine[k] = particle(array.index_of(k));
    EXPECT_TRUE(array.is_local(array.index_of(k)));
  }
  ctx.barrier();

  auto walk = array.template ptr<pointer_form::wide>(0);
  for (uint64_t i = 0; i < size; ++i, ++walk) {
    ASSERT_EQ(array.read(i).position, particle(i).position) << i;
    ASSERT_EQ(walk.get(ctx).position, particle(i).position) << i;
    ASSERT_EQ(walk, array.template ptr<pointer_form::wide>(i));
    ASSERT_EQ(walk.global(), array.global(i));
    ASSERT_EQ(walk.local(ctx) != nullptr, array.affinity(i) == ctx.rank_me());
    Particle fetched{};
    array.rget(i, &fetched).wait();
    ASSERT_EQ(fetched.position, particle(i).position);
  }
  std::mt19937_64 random(3);
  std::vector<Particle> buffer(size);
  for (int repeat = 0; repeat < 12; ++repeat) {
    const uint64_t first = repeat == 0 ? 0 : random() % (size + 1);
    const uint64_t count = repeat == 0 ? size : random() % (size - first + 1);
    array.read_range(first, count, buffer.data());
    for (uint64_t k = 0; k < count; ++k) {
      ASSERT_EQ(buffer[k].position, particle(first + k).position) << first << " + " << k;
    }
    const auto part = array.local_span(first, first + count);
    for (size_t k = 0; k < part.size(); ++k) {
      const uint64_t index = array.index_of(static_cast<uint64_t>(&part[k] - mine.data()));
      ASSERT_GE(index, first);
      ASSERT_LT(index, first + count);
    }
  }
  ctx.barrier();

  // Each rank writes every element of its own residue, with a value that depends on it.
  const uint64_t ranks = ctx.rank_n();
  for (uint64_t i = ctx.rank_me(); i < size; i += ranks) {
    const Particle value = particle(i + 1000);
    switch (i / ranks % 3) {
      case 0:
        array.write(i, value);
        break;
      case 1:
        array.template ptr<pointer_form::wide>(i).put(ctx, value);
        break;
      default:
        array.rput(&value, i).wait();
    }
  }
  ctx.barrier();
  for (size_t k = 0; k < mine.size(); ++k) {
    ASSERT_EQ(mine[k].position, particle(array.index_of(k) + 1000).position);
  }
  ctx.barrier();

  // Ranges of which each rank writes one.
  const uint64_t begin = size * ctx.rank_me() / ranks;
  const uint64_t end = size * (ctx.rank_me() + 1) / ranks;
  std::vector<Particle> source;
  for (uint64_t i = begin; i < end; ++i) source.push_back(particle(i + 5000));
  array.write_range(begin, end - begin, source.data());
  ctx.barrier();
  for (size_t k = 0; k < mine.size(); ++k) {
    ASSERT_EQ(mine[k].position, particle(array.index_of(k) + 5000).position);
  }
  ctx.barrier();
  made->destroy();
}

TEST_P(SharedArray, EveryLayout) {
  for (const rank_t ranks : {1U, 2U, 3U}) {
    on_ranks(ranks, [ranks](Context& ctx) {
      for (const uint64_t size : {uint64_t{1}, uint64_t{40}, uint64_t{47}}) {
        check_array(ctx, size, cyclic{});
        check_array(ctx, size, block_cyclic<4>{});
        check_array(ctx, size, block_cyclic<>{5});
        check_array(ctx, size, blocked(size, ranks));
        check_array(ctx, size, indefinite{ranks - 1});
      }
      if (ranks == 2) {
        check_array<cyclic, static_ranks<2>>(ctx, 40, {});
        check_array<block_cyclic<3>, static_ranks<2>>(ctx, 40, {});
      }
    });
  }
}

// More than one buffer of 4 MiB, small blocks and large ones.
TEST_P(SharedArray, LongRanges) {
  on_ranks(3, [](Context& ctx) {
    for (const uint64_t block : {uint64_t{1}, uint64_t{7}, uint64_t{5000}}) {
      const uint64_t size = 700'000;
      auto made = shared_array<uint64_t, block_cyclic<>>::create(ctx, size, block_cyclic<>{block});
      ASSERT_TRUE(made.ok()) << made.error().message();
      if (ctx.rank_me() == 1) {
        std::vector<uint64_t> values(size);
        for (uint64_t i = 0; i < size; ++i) values[i] = i * i;
        made->write_range(0, size, values.data());
      }
      ctx.barrier();
      const auto mine = made->local_span();
      uint64_t wrong = 0;
      for (size_t k = 0; k < mine.size(); ++k) {
        wrong += mine[k] != made->index_of(k) * made->index_of(k) ? 1 : 0;
      }
      EXPECT_EQ(wrong, 0U);
      if (ctx.rank_me() == 2) {
        std::vector<uint64_t> values(size - 13);
        made->read_range(6, values.size(), values.data());
        for (uint64_t i = 0; i < values.size(); ++i) {
          wrong += values[i] != (i + 6) * (i + 6) ? 1 : 0;
        }
        EXPECT_EQ(wrong, 0U);
      }
      made->destroy();
    }
  });
}

TEST_P(SharedArray, EmptyArrays) {
  on_ranks(2, [](Context& ctx) {
    auto made = shared_array<double>::create(ctx, 0);
    ASSERT_TRUE(made.ok());
    EXPECT_TRUE(made->local_span().empty());
    made->read_range(0, 0, nullptr);
    made->write_range(0, 0, nullptr);
    EXPECT_EQ(made->ptr(0), made->ptr(0));
    made->destroy();
  });
}

TEST_P(SharedArray, WrongShapesAreErrorsOnEveryRank) {
  on_ranks(2, [](Context& ctx) {
    const auto fails_with = [](const auto& made, const std::string& words) {
      ASSERT_FALSE(made.ok());
      EXPECT_NE(made.error().message().find(words), std::string::npos) << made.error().message();
    };
    fails_with(shared_array<double, block_cyclic<>>::create(ctx, 9, {0}), "in blocks of 0");
    fails_with(shared_array<double, indefinite>::create(ctx, 9, {2}), "ranks 0 to 1");
    fails_with(shared_array<double, cyclic, static_ranks<3>>::create(ctx, 9), "for 3 ranks");
    fails_with(shared_array<double>::create(ctx, ~uint64_t{0}), "2^64 bytes or more");
    fails_with(shared_array<double>::create(ctx, uint64_t{1} << 40), "STRIPLINE_SEGMENT_BYTES");
    // A single block larger than the segment, of which little is used, needs little.
    auto sparse = shared_array<double, block_cyclic<>>::create(ctx, 10, {uint64_t{1} << 50});
    ASSERT_TRUE(sparse.ok()) << sparse.error().message();
    EXPECT_FALSE(sparse->packed_fits());
    EXPECT_EQ(sparse->ptr<pointer_form::wide>(9).phase(), 9U);
    sparse->destroy();
  });
}

TEST_P(SharedArray, PackedPointersWalkWithTheDistribution) {
  on_ranks(2, [](Context& ctx) {
    auto made = shared_array<int, block_cyclic<>>::create(ctx, 50, {3});
    ASSERT_TRUE(made.ok());
    const auto& array = *made;
    EXPECT_TRUE(array.packed_fits());
    const auto first = array.ptr(0);
    for (int i = 0; i <= 50; ++i) {
      EXPECT_EQ(advance(first, i, array.distribution()), array.ptr(static_cast<uint64_t>(i)));
      EXPECT_EQ(distance(first, array.ptr(static_cast<uint64_t>(i)), array.distribution()), i);
    }
    if (ctx.rank_me() == 0) {
      for (uint64_t i = 0; i < 50; ++i) array.ptr(i).put(ctx, static_cast<int>(i * 3));
    }
    ctx.barrier();
    for (uint64_t i = 0; i < 50; ++i) EXPECT_EQ(array.ptr(i).get(ctx), static_cast<int>(i * 3));
    ctx.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, SharedArray, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

class SharedArrayDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(SharedArrayDeathTest, RanksThatDisagreeAboutTheLayout) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& ctx) {
                         (void)shared_array<double, block_cyclic<>>::create(ctx, 64,
                                                                            {4 + ctx.rank_me()});
                       }),
              ::testing::ExitedWithCode(2), "in blocks of 5, but rank 0 asks for");
}

TEST_F(SharedArrayDeathTest, RangesBeyondTheEnd) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& ctx) {
                         auto array = shared_array<double>::create(ctx, 64);
                         double buffer[8] = {};
                         array->read_range(60, 5, buffer);
                       }),
              ::testing::ExitedWithCode(2), "5 elements from 60 on of a shared array of 64");
  EXPECT_EXIT(on_ranks(2,
                       [](Context& ctx) {
                         auto array = shared_array<double>::create(ctx, 64);
                         const double buffer[8] = {};
                         array->write_range(~uint64_t{0}, 2, buffer);
                       }),
              ::testing::ExitedWithCode(2), "of a shared array of 64");
}

TEST_F(SharedArrayDeathTest, HandlesThatReferToNoArray) {
  const auto refused = [](const char* name, const auto& call) {
    EXPECT_EXIT(call(shared_array<double>()), ::testing::ExitedWithCode(2),
                std::string("shared_array_test.cc:[0-9]+: shared_array::") + name + " of ");
  };
  refused("read", [](auto array) { (void)array.read(0); });
  refused("global", [](auto array) { (void)array.global(0); });
  refused("ptr", [](auto array) { (void)array.ptr(0); });
  refused("context", [](auto array) { (void)array.context(); });
  refused("destroy", [](auto array) { array.destroy(); });
  refused("read_range", [](auto array) { array.read_range(0, 0, nullptr); });
  refused("write_range", [](auto array) { array.write_range(0, 0, nullptr); });
  const shared_array<double> none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.size(), 0U);
  EXPECT_TRUE(none.local_span().empty());
}

TEST_F(SharedArrayDeathTest, NullPointersAreOfNoElement) {
  using Pointer = pointer_to_shared<int, cyclic>;
  const std::vector<std::function<void(Context&)>> calls = {
      [](Context& ctx) { (void)Pointer().local(ctx); },
      [](Context& ctx) { (void)Pointer().get(ctx); },
      [](Context& ctx) { Pointer().put(ctx, 1); },
  };
  for (const auto& call : calls) {
    EXPECT_EXIT(on_ranks(1, call), ::testing::ExitedWithCode(2),
                "shared_array_test.cc:[0-9]+: local of .* is out of bounds");
  }
}

TEST_F(SharedArrayDeathTest, APackedPointerThatDoesNotFit) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& ctx) {
                         auto array = shared_array<char, block_cyclic<>>::create(ctx, 9, {1 << 20});
                         (void)array->ptr(0);
                       }),
              ::testing::ExitedWithCode(2), "use ptr<pointer_form::wide>");
}

}  // namespace
}  // namespace stripline
