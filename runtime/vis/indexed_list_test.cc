#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/indexed_list.h>

#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;

TEST(IndexedList, KnowsItsRuns) {
  const indexed_list list(std::vector<uint32_t>{7, 8, 9, 3, 9, 10, 10, 0xffffffff, 0});
  EXPECT_EQ(list.size(), 9U);
  EXPECT_EQ(list.smallest(), 0U);
  EXPECT_EQ(list.largest(), 0xffffffffU);
  EXPECT_EQ(list.runs(), 6U);
  const indexed_list copied(list.numbers());
  EXPECT_EQ(copied.size(), 9U);
  EXPECT_EQ(copied.largest(), 0xffffffffU);
  EXPECT_EQ(copied.runs(), 6U);
  EXPECT_TRUE(indexed_list(std::vector<uint32_t>{}).empty());
  EXPECT_TRUE(indexed_list(std::span<const uint32_t>()).empty());
  const indexed_list all = indexed_list::in_order(5);
  EXPECT_EQ(all.size(), 5U);
  EXPECT_EQ(all.largest(), 4U);
  EXPECT_EQ(all.runs(), 1U);
}

// Not one in order of as many elements, which has no numbers either.
TEST(IndexedList, IsEmptyOnceItHasBeenMoved) {
  indexed_list made(std::vector<uint32_t>{4, 2});
  indexed_list moved = std::move(made);
  EXPECT_TRUE(made.empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(made.runs(), 0U);
  EXPECT_EQ(moved.size(), 2U);
  EXPECT_EQ(moved.numbers().front(), 4U);
  made = std::move(moved);
  EXPECT_TRUE(moved.empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(made.largest(), 4U);
}

class Indexed : public bootstrap::RanksTest {};

// Elements of `Bytes` bytes.
template <size_t Bytes>
struct Element {
  std::array<std::byte, Bytes> bytes{};
  bool operator==(const Element&) const = default;
};

class RandomLists {
 public:
  explicit RandomLists(Context& context) : context_(context), random_(context.rank_me() + 1) {}

  // One pair of lists, by every method, with two bases each.
  template <typename T>
  void run() {
    constexpr size_t kElements = 3000;
    const auto mine = context_.new_symmetric_array<T>(2 * kElements);
    ASSERT_TRUE(mine.ok());
    const auto words = reinterpret_cast<std::byte*>(context_.local(*mine));
    fill({words, 2 * kElements * sizeof(T)});
    std::vector<T> shadow(context_.local(*mine), context_.local(*mine) + 2 * kElements);
    const rank_t next = (context_.rank_me() + 1) % context_.rank_n();
    std::vector<T> theirs(2 * kElements);
    context_.barrier();
    context_.rget(context_.on_rank(*mine, next), theirs.data(), theirs.size()).wait();
    for (const size_t count : {size_t{0}, size_t{1}, size_t{17}, size_t{1000}, kElements}) {
      const indexed_list from = any_list(count, kElements, false);
      const indexed_list to = any_list(count, kElements, true);
      for (const auto base : {std::ptrdiff_t{0}, std::ptrdiff_t{kElements}}) {
        const VisOptions options = any_options();
        std::vector<T> got(kElements);
        std::vector<T> expected(kElements);
        rget_indexed(context_, context_.on_rank(*mine, next) + base, from, got.data(), to, options)
            .wait();
        for (size_t i = 0; i < count; ++i) {
          expected[at(to, i)] = theirs[static_cast<size_t>(base) + at(from, i)];
        }
        ASSERT_TRUE(got == expected) << count;
      }
      context_.barrier();
      std::vector<T> source(kElements);
      fill(std::as_writable_bytes(std::span(source)));
      const auto base = static_cast<std::ptrdiff_t>(count % 2 * kElements);
      rput_indexed(context_, source.data(), from, context_.on_rank(*mine, next) + base, to,
                   any_options())
          .wait();
      context_.barrier();
      for (size_t i = 0; i < count; ++i) {
        theirs[static_cast<size_t>(base) + at(to, i)] = source[at(from, i)];
      }
      std::vector<T> seen(theirs.size());
      context_.rget(context_.on_rank(*mine, next), seen.data(), seen.size()).wait();
      ASSERT_TRUE(seen == theirs) << count;
      context_.barrier();
    }
    context_.delete_symmetric_array(*mine);
  }

 private:
  static size_t at(const indexed_list& list, size_t i) {
    return list.numbers().empty() ? i : list.numbers()[i];
  }

  void fill(std::span<std::byte> bytes) {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random_());
  }

  // In runs and alone; those that are written to have no number twice.
  indexed_list any_list(size_t count, size_t elements, bool apart) {
    if (random_() % 5 == 0) return indexed_list::in_order(count);
    std::vector<uint32_t> numbers(elements);
    for (size_t i = 0; i < elements; ++i) numbers[i] = static_cast<uint32_t>(i);
    if (random_() % 3 != 0) std::shuffle(numbers.begin(), numbers.end(), random_);
    if (!apart && random_() % 2 == 0) {
      for (uint32_t& number : numbers) number = static_cast<uint32_t>(random_() % elements);
    }
    for (size_t i = 0; i + 40 < count; i += 1 + random_() % 90) {
      const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(i);
      std::sort(begin, begin + 40);
    }
    numbers.resize(count);
    return indexed_list(std::move(numbers));
  }

  VisOptions any_options() {
    VisOptions options;
    options.bounding_box = random_() % 2 == 0;
    options.method = static_cast<VisMethod>(random_() % 5);
    options.chunk_bytes = std::array<size_t, 3>{0, 1000, 1 << 20}[random_() % 3];
    return options;
  }

  Context& context_;
  std::mt19937_64 random_;
};

TEST_P(Indexed, MovesElementsByTheirNumbers) {
  on_ranks(3, [](Context& context) {
    RandomLists lists(context);
    for (int round = 0; round < 3 && !::testing::Test::HasFatalFailure(); ++round) {
      lists.run<Element<8>>();
      lists.run<uint32_t>();
      lists.run<Element<24>>();
      lists.run<Element<3>>();
    }
  });
}

// What an owner does that packs for others: the flag tells that all is there.
TEST_P(Indexed, PutsRaiseFlags) {
  on_ranks(2, [](Context& context) {
    constexpr size_t kCount = 5000;
    const auto data = context.new_symmetric_array<double>(kCount);
    const auto flag = context.new_symmetric_array<uint64_t>(1);
    ASSERT_TRUE(data.ok() && flag.ok());
    const rank_t peer = 1 - context.rank_me();
    std::vector<uint32_t> numbers(kCount);
    for (size_t i = 0; i < kCount; ++i) numbers[i] = static_cast<uint32_t>(kCount - 1 - i);
    const indexed_list backwards(std::move(numbers));
    const indexed_list all = indexed_list::in_order(kCount);
    std::vector<double> source(kCount);
    context.barrier();
    for (uint64_t turn = 1; turn <= 5; ++turn) {
      for (size_t i = 0; i < kCount; ++i) source[i] = static_cast<double>(turn * kCount + i);
      const future put =
          rput_indexed_signal(context, source.data(), backwards, context.on_rank(*data, peer), all,
                              context.on_rank(*flag, peer), turn);
      context.wait_signal(*flag, turn);
      for (size_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(context.local(*data)[i], static_cast<double>(turn * kCount + kCount - 1 - i));
      }
      put.wait();
      context.barrier();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Indexed, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

class IndexedDeathTest : public bootstrap::RanksDeathTest {
 protected:
  static void get(size_t from, uint32_t number, uint64_t offset) {
    on_ranks(2, [=](Context& context) {
      const indexed_list numbers(std::vector<uint32_t>(from, number));
      const indexed_list two = indexed_list::in_order(2);
      std::vector<double> here(2);
      rget_indexed(context, global_ptr<double>(1, offset), numbers, here.data(), two);
    });
  }
};

TEST_F(IndexedDeathTest, ListsOfDifferentLength) {
  EXPECT_EXIT(get(3, 0, 0), ::testing::ExitedWithCode(2),
              "rget_indexed with lists of 2 and of 3 elements");
}

TEST_F(IndexedDeathTest, NumbersThatAreNull) {
  EXPECT_EXIT((void)indexed_list(std::span(static_cast<const uint32_t*>(nullptr), 3)),
              ::testing::ExitedWithCode(2),
              "indexed_list_test.cc:[0-9]+: indexed_list of 3 elements at a null pointer");
}

TEST_F(IndexedDeathTest, NumbersOutOfBounds) {
  EXPECT_EXIT(get(2, 1U << 28, 0), ::testing::ExitedWithCode(2),
              "rget_indexed of .* out of bounds");
  EXPECT_EXIT(get(2, 0, uint64_t{1} << 30), ::testing::ExitedWithCode(2),
              "rget_indexed of .* out of bounds");
}

}  // namespace
}  // namespace stripline
