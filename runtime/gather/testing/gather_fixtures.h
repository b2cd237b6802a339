// What tests of gathers share: what elements hold, and random index sets.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stripline/shared_array.h>

#include "base/random.h"

namespace stripline::gathers {

/// What an element holds in a round, or in one of several arrays.
template <typename T>
T value_of(uint64_t element, uint64_t round) {
  return static_cast<T>(hash_of(element, round));
}

/// An element that is no number.
struct Triple {
  std::array<uint32_t, 3> parts;
  explicit Triple(uint64_t value = 0)
      : parts{static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32), 7} {}
  bool operator==(const Triple&) const = default;
};

/// Sets this rank's elements.
template <typename T, typename Layout>
void fill(shared_array<T, Layout>& x, uint64_t round) {
  const auto mine = x.local_span();
  for (size_t i = 0; i < mine.size(); ++i) mine[i] = value_of<T>(x.index_of(i), round);
}

/// Now and then of a narrow part of the array.
inline std::vector<uint64_t> random_index(uint64_t elements, size_t count, uint64_t seed) {
  SplitMix64 random(seed);
  std::vector<uint64_t> index(count);
  const uint64_t width = random.next() % 3 == 0 ? std::max<uint64_t>(1, elements / 10) : elements;
  const uint64_t begin = random.next() % (elements - width + 1);
  for (uint64_t& element : index) element = begin + random.next() % width;
  return index;
}

/// Empty on some ranks.
inline std::vector<uint64_t> index_of_rank(uint64_t elements, rank_t rank, uint64_t seed) {
  const uint64_t mine = derive_seed(seed, rank);
  return random_index(elements, mine % 4 == 0 ? 0 : mine % 700, mine);
}

}  // namespace stripline::gathers
