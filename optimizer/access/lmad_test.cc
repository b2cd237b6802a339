#include "optimizer/access/lmad.h"

#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing/test_size.h"

namespace stripline::access {
namespace {

Lmad make(int64_t base, uint64_t run_bytes, const std::vector<Dimension>& dims) {
  Lmad lmad{.base = base, .run_bytes = run_bytes};
  for (const Dimension& dim : dims) EXPECT_TRUE(lmad.add(dim));
  return lmad;
}

std::set<int64_t> bytes_of(const Lmad& lmad) {
  std::set<int64_t> bytes;
  std::vector<uint64_t> index(lmad.dims.size(), 0);
  while (true) {
    int64_t begin = lmad.base;
    for (size_t k = 0; k < lmad.dims.size(); ++k) {
      begin += lmad.dims[k].stride_bytes * static_cast<int64_t>(index[k]);
    }
    for (uint64_t i = 0; i < lmad.run_bytes; ++i) bytes.insert(begin + static_cast<int64_t>(i));
    size_t k = 0;
    for (; k < lmad.dims.size() && ++index[k] == lmad.dims[k].count; ++k) index[k] = 0;
    if (k == lmad.dims.size()) return bytes;
  }
}

// Small descriptors of which many coincide in part.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t between(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(engine_);
  }
  Lmad lmad() {
    constexpr int64_t kStrides[] = {-24, -8, -3, 0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48};
    Lmad lmad{.base = between(-20, 20), .run_bytes = static_cast<uint64_t>(between(1, 9))};
    const int64_t dimensions = between(0, 3);
    for (int64_t k = 0; k < dimensions; ++k) {
      lmad.add(
          {kStrides[between(0, std::size(kStrides) - 1)], static_cast<uint64_t>(between(1, 5))});
    }
    return lmad;
  }

 private:
  std::mt19937_64 engine_;
};

TEST(Lmad, IsDescribedByItsRuns) {
  const Lmad column = make(100, 8, {{80, 4}});
  EXPECT_EQ(column.extent().begin, 100);
  EXPECT_EQ(column.extent().end, 100 + 3 * 80 + 8);
  EXPECT_EQ(column.runs(), 4U);
  EXPECT_EQ(column.text(), "[100 + 0..3 * 80]: 8 B");
  const Lmad backwards = make(100, 8, {{-80, 4}});
  EXPECT_EQ(backwards.extent().begin, 100 - 3 * 80);
  EXPECT_EQ(backwards.extent().end, 108);
  Lmad full;
  for (size_t k = 0; k < kMaxDimensions; ++k) EXPECT_TRUE(full.add({8, 2}));
  EXPECT_FALSE(full.add({8, 2}));
}

TEST(Canonical, CoalescesWhatLoopsOverArraysTouch) {
  // A whole row-major matrix, in either order of the loops.
  EXPECT_EQ(canonical(make(0, 8, {{800, 10}, {8, 100}})), make(0, 8000, {}));
  EXPECT_EQ(canonical(make(0, 8, {{8, 100}, {800, 10}})), make(0, 8000, {}));
  // The first half of each row.
  EXPECT_EQ(canonical(make(0, 8, {{800, 10}, {8, 50}})), make(0, 400, {{800, 10}}));
  // A column backwards.
  EXPECT_EQ(canonical(make(7200, 8, {{-800, 10}})), make(0, 8, {{800, 10}}));
  // a[i + j]: the same stride twice.
  EXPECT_EQ(canonical(make(0, 8, {{8, 100}, {8, 10}})), make(0, 872, {}));
  // Every other element of all rows continues from row to row.
  EXPECT_EQ(canonical(make(0, 8, {{800, 10}, {16, 50}})), make(0, 8, {{16, 500}}));
  // An index that does not occur.
  EXPECT_EQ(canonical(make(0, 8, {{0, 7}, {16, 3}})), make(0, 8, {{16, 3}}));
}

TEST(Canonical, KeepsTheSet) {
  Random random(1);
  for (int i = 0; i < cases_here(20000); ++i) {
    const Lmad lmad = random.lmad();
    const Lmad simple = canonical(lmad);
    ASSERT_EQ(bytes_of(simple), bytes_of(lmad)) << lmad.text() << " became " << simple.text();
    ASSERT_LE(simple.dims.size(), lmad.dims.size());
    ASSERT_EQ(canonical(simple), simple);
    if (runs_are_distinct(simple)) {
      ASSERT_EQ(bytes_of(simple).size(), simple.runs() * simple.run_bytes) << simple.text();
    }
  }
}

TEST(Overlap, AgreesWithEnumeration) {
  Random random(2);
  int common = 0;
  int apart = 0;
  for (int i = 0; i < cases_here(20000); ++i) {
    const Lmad a = random.lmad();
    const Lmad b = random.lmad();
    const std::set<int64_t> bytes = bytes_of(a);
    bool shared = false;
    for (const int64_t byte : bytes_of(b)) shared = shared || bytes.contains(byte);
    ASSERT_EQ(overlap(a, b), shared ? Overlap::overlapping : Overlap::disjoint)
        << a.text() << " and " << b.text();
    ++(shared ? common : apart);
  }
  if (kInstrumented) return;  // too few to count
  EXPECT_GT(common, 1000);
  EXPECT_GT(apart, 1000);
}

TEST(Overlap, OfLargeArraysTakesFewSteps) {
  // Red and black cells of 10000 x 10000.
  constexpr int64_t kRow = 80000;
  EXPECT_EQ(overlap(make(0, 8, {{2 * kRow, 5000}, {16, 5000}}),
                    make(8, 8, {{2 * kRow, 5000}, {16, 5000}})),
            Overlap::disjoint);
  EXPECT_EQ(overlap(make(0, 8, {{2 * kRow, 5000}, {16, 5000}}),
                    make(kRow + 8, 8, {{2 * kRow, 5000}, {16, 5000}})),
            Overlap::disjoint);
  // A column and a row that it crosses, and one that it does not.
  EXPECT_EQ(overlap(make(40, 8, {{kRow, 10000}}), make(500 * kRow, 8, {{8, 10000}})),
            Overlap::overlapping);
  EXPECT_EQ(overlap(make(40, 8, {{kRow, 10000}}), make(500 * kRow + 48, 8, {{8, 5000}})),
            Overlap::disjoint);
}

// Strides without a common structure: whether some pair of indices meets is a hard problem, and
// in no program's loop.
TEST(Overlap, GivesUpInTime) {
  Lmad a{.base = 0, .run_bytes = 1};
  Lmad b{.base = 1, .run_bytes = 1};
  for (const int64_t prime : {100003, 100019, 100043, 100049, 100057, 100069, 100103, 100109}) {
    a.add({2 * prime, 1000});
    b.add({2 * (prime + 4), 1000});
  }
  b.base = 8 * 1000 * 100000 + 1;
  EXPECT_NE(overlap(a, b), Overlap::overlapping);  // odd and even offsets
}

TEST(Unite, FindsWhatReferencesShare) {
  const auto row = [](int64_t first, uint64_t count) { return make(8 * first, 8 * count, {}); };
  // a[i] and a[i + 1].
  auto merged = unite(row(0, 100), row(1, 100));
  ASSERT_TRUE(merged.has_value());
  EXPECT_EQ(merged->lmad, row(0, 101));
  EXPECT_EQ(merged->kind, Union::contiguous);
  EXPECT_EQ(merged->distance_bytes, 8);
  merged = unite(row(1, 100), row(0, 100));
  EXPECT_EQ(merged->distance_bytes, -8);
  // The same twice, and one within the other.
  EXPECT_EQ(unite(row(3, 5), row(3, 5))->kind, Union::identical);
  EXPECT_EQ(unite(row(0, 100), row(10, 5))->kind, Union::identical);
  EXPECT_EQ(unite(row(10, 5), row(0, 100))->lmad, row(0, 100));
  // Real and imaginary parts.
  merged = unite(make(0, 8, {{16, 50}}), make(8, 8, {{16, 50}}));
  ASSERT_TRUE(merged.has_value());
  EXPECT_EQ(merged->lmad, make(0, 800, {}));
  EXPECT_EQ(merged->kind, Union::interleaved);
  // Columns 3 and 5: no merge; column 3 of rows 0-9 and 10-19: one.
  EXPECT_FALSE(unite(make(24, 8, {{800, 10}}), make(40, 8, {{800, 10}})).has_value());
  merged = unite(make(24, 8, {{800, 10}}), make(8024, 8, {{800, 10}}));
  ASSERT_TRUE(merged.has_value());
  EXPECT_EQ(merged->lmad, make(24, 8, {{800, 20}}));
  // Neighbouring columns become wider runs.
  EXPECT_EQ(unite(make(24, 8, {{800, 10}}), make(32, 8, {{800, 10}}))->lmad,
            make(24, 16, {{800, 10}}));
  // One row more, before and behind.
  EXPECT_EQ(unite(make(800, 80, {{800, 4}}), make(0, 80, {}))->lmad, make(0, 80, {{800, 5}}));
  EXPECT_EQ(unite(make(0, 80, {{800, 4}}), make(3200, 80, {}))->lmad, make(0, 80, {{800, 5}}));
  EXPECT_FALSE(unite(row(0, 10), row(11, 10)).has_value());
}

TEST(Unite, IsExactlyTheUnion) {
  Random random(3);
  int merges = 0;
  int kinds[3] = {};
  for (int i = 0; i < cases_here(60000); ++i) {
    const Lmad a = canonical(random.lmad());
    Lmad b = canonical(random.lmad());
    if (random.between(0, 1) == 0) {  // references of one group differ by a constant
      b = a;
      b.base += random.between(-40, 40);
      if (b.dims.size() > 0 && random.between(0, 2) == 0) {
        b.dims[0].count = static_cast<uint64_t>(random.between(2, 6));
        b = canonical(b);
      }
    }
    const auto merged = unite(a, b);
    if (!merged) continue;
    ++merges;
    ++kinds[static_cast<size_t>(merged->kind)];
    std::set<int64_t> both = bytes_of(a);
    both.merge(bytes_of(b));
    ASSERT_EQ(bytes_of(merged->lmad), both)
        << a.text() << " and " << b.text() << " became " << merged->lmad.text();
    ASSERT_EQ(merged->distance_bytes, b.base - a.base);
    ASSERT_LE(merged->lmad.dims.size(), std::max(a.dims.size(), b.dims.size()));
    if (merged->kind == Union::identical) {
      ASSERT_TRUE(both == bytes_of(a) || both == bytes_of(b));
    }
  }
  if (kInstrumented) return;  // too few to count
  EXPECT_GT(merges, 2000);
  for (const int kind : kinds) EXPECT_GT(kind, 50);
}

}  // namespace
}  // namespace stripline::access
