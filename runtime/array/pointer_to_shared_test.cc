#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/pointer_to_shared.h>

#include "runtime/array/testing/layouts_under_test.h"

namespace stripline::array {
namespace {

struct Triple {
  int16_t values[3];
};

// The end is one more place.
constexpr uint64_t kCount = 60;
constexpr uint64_t kBase = 192;

template <pointer_form Form, typename T, typename Layout, typename Ranks>
void check_all_pairs(const distribution<Layout, Ranks>& elements) {
  using Pointer = pointer_to_shared<T, Layout, Ranks, Form>;
  const std::vector<place> places = deal(kCount + 1, elements.layout, elements.ranks.count());
  std::vector<Pointer> pointers;
  for (uint64_t i = 0; i <= kCount; ++i) {
    const Pointer p(elements, kBase, elements.locate(i));
    ASSERT_EQ(p.where(), places[i].rank);
    ASSERT_EQ(p.offset(), kBase + places[i].index * sizeof(T));
    ASSERT_EQ(p.global(), global_ptr<T>(places[i].rank, kBase + places[i].index * sizeof(T)));
    ASSERT_FALSE(p.is_null());
    if constexpr (!std::is_same_v<Layout, indefinite>) {
      ASSERT_EQ(p.phase(), places[i].index % elements.layout.block());
    }
    pointers.push_back(p);
  }
  for (uint64_t i = 0; i <= kCount; ++i) {
    for (uint64_t j = 0; j <= kCount; ++j) {
      const Pointer& p = pointers[i];
      const Pointer& q = pointers[j];
      const auto n = static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(i);
      ASSERT_EQ(advance(p, n, elements), q) << i << " + " << n;
      ASSERT_EQ(distance(p, q, elements), n);
      ASSERT_EQ(p == q, i == j);
      ASSERT_EQ(p <=> q, i <=> j) << i << " and " << j;
      if constexpr (requires(Pointer r) { r += 1; }) {
        ASSERT_EQ(p + n, q);
        ASSERT_EQ(q - n, p);
        ASSERT_EQ(q - p, n);
      }
    }
  }
  if constexpr (requires(Pointer r) { r += 1; }) {
    Pointer up = pointers.front();
    Pointer down = pointers.back();
    for (uint64_t i = 0; i <= kCount; ++i) {
      ASSERT_EQ(up, pointers[i]);
      ASSERT_EQ(down, pointers[kCount - i]);
      if (i < kCount) {
        ++up;
        --down;
      }
    }
  }
}

TEST(PointerToShared, AgreesWithDealingOut) {
  for_each_distribution([](const auto& elements) {
    check_all_pairs<pointer_form::packed, double>(elements);
    check_all_pairs<pointer_form::wide, double>(elements);
    check_all_pairs<pointer_form::packed, Triple>(elements);
    check_all_pairs<pointer_form::wide, char>(elements);
  });
}

TEST(PointerToShared, SizesAndOperators) {
  using Dynamic = dynamic_ranks;
  constexpr auto packed = pointer_form::packed;
  constexpr auto wide = pointer_form::wide;
  static_assert(sizeof(pointer_to_shared<double, indefinite>) == 8);
  static_assert(sizeof(pointer_to_shared<double, cyclic>) == 8);
  static_assert(sizeof(pointer_to_shared<double, block_cyclic<>>) == 8);
  static_assert(sizeof(pointer_to_shared<double, block_cyclic<8>, static_ranks<4>>) == 8);
  static_assert(sizeof(pointer_to_shared<double, indefinite, Dynamic, wide>) == 16);
  static_assert(sizeof(pointer_to_shared<double, block_cyclic<>, Dynamic, wide>) <= 40);
  static_assert(std::is_trivially_copyable_v<pointer_to_shared<int, cyclic, Dynamic, wide>>);
  const auto has_operators = []<typename P>(const P& p) {
    return requires { p + 1; };
  };
  EXPECT_TRUE(has_operators(pointer_to_shared<int, indefinite>()));
  EXPECT_FALSE(has_operators(pointer_to_shared<int, cyclic>()));
  EXPECT_TRUE((has_operators(pointer_to_shared<int, cyclic, static_ranks<3>>())));
  EXPECT_FALSE((has_operators(pointer_to_shared<int, block_cyclic<>, static_ranks<3>>())));
  EXPECT_TRUE((has_operators(pointer_to_shared<int, block_cyclic<6>, static_ranks<3>, packed>())));
  EXPECT_TRUE((has_operators(pointer_to_shared<int, block_cyclic<>, Dynamic, wide>())));
}

TEST(PointerToShared, NullIsNoElement) {
  const distribution<block_cyclic<4>> elements{{}, {2}};
  using Packed = pointer_to_shared<char, block_cyclic<4>>;
  using Wide = pointer_to_shared<char, block_cyclic<4>, dynamic_ranks, pointer_form::wide>;
  EXPECT_TRUE(Packed().is_null());
  EXPECT_TRUE(Wide().is_null());
  EXPECT_FALSE(static_cast<bool>(pointer_to_shared<char, cyclic>()));
  EXPECT_NE(Packed(), Packed(elements, 0, {0, 0}));
  EXPECT_NE(Wide(), Wide(elements, 0, {0, 0}));
}

// At the limits of the fields, and in arrays far larger than this machine's memory.
template <pointer_form Form, typename Layout>
void check_random(const Layout& layout, rank_t ranks, uint64_t part_bytes, uint64_t seed) {
  const distribution<Layout> elements{layout, {ranks}};
  using Pointer = pointer_to_shared<double, Layout, dynamic_ranks, Form>;
  const uint64_t count = part_bytes / sizeof(double) * ranks;
  std::mt19937_64 random(seed);
  for (int repeat = 0; repeat < 2000; ++repeat) {
    const uint64_t i = random() % count;
    const uint64_t j = repeat % 2 == 0 ? random() % count : std::min(count - 1, i + random() % 9);
    const Pointer p(elements, 64, elements.locate(i));
    const Pointer q(elements, 64, elements.locate(j));
    const auto n = static_cast<std::ptrdiff_t>(j - i);
    ASSERT_EQ(advance(p, n, elements), q) << i << " to " << j;
    ASSERT_EQ(advance(q, -n, elements), p);
    ASSERT_EQ(distance(p, q, elements), n);
    ASSERT_EQ(p <=> q, i <=> j);
    const place at = elements.locate(j);
    ASSERT_EQ(q.global(), global_ptr<double>(at.rank, 64 + at.index * sizeof(double)));
  }
}

TEST(PointerToShared, LargeArrays) {
  const uint64_t phaseless = (uint64_t{1} << kOffsetBits) - 4096;
  const uint64_t phased = (uint64_t{1} << kPackedRowBits) - (uint64_t{1} << 22);
  const uint64_t block = uint64_t{1} << kPackedPhaseBits;
  check_random<pointer_form::packed>(cyclic{}, kMaxRanks, phaseless, 1);
  check_random<pointer_form::wide>(cyclic{}, kMaxRanks - 1, phaseless, 2);
  check_random<pointer_form::packed>(block_cyclic<>{block}, 4096, phased, 3);
  check_random<pointer_form::packed>(block_cyclic<12>{}, 4095, phased, 4);
  check_random<pointer_form::wide>(block_cyclic<>{block * 1000 + 1}, kMaxRanks, phaseless / 2, 5);
  check_random<pointer_form::packed>(indefinite{77}, 1, phaseless, 6);
}

}  // namespace
}  // namespace stripline::array
