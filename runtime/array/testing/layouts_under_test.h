// The layouts and numbers of ranks that tests enumerate, and the obvious method to find where an
// element is: dealing out all of them.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include <stripline/layout.h>

namespace stripline::array {

/// Where the first `count` elements are, dealt out one after the other.
inline std::vector<place> deal(uint64_t count, uint64_t block, rank_t ranks) {
  std::vector<place> places;
  std::vector<uint64_t> next(ranks);
  rank_t rank = 0;
  for (uint64_t in_block = 0; places.size() < count;) {
    places.push_back({rank, next[rank]++});
    if (++in_block == block) {
      in_block = 0;
      rank = (rank + 1) % ranks;
    }
  }
  return places;
}
inline std::vector<place> deal(uint64_t count, const indefinite& layout, rank_t /*ranks*/) {
  std::vector<place> places;
  for (uint64_t i = 0; i < count; ++i) places.push_back({layout.owner, i});
  return places;
}
template <uint64_t B>
std::vector<place> deal(uint64_t count, const block_cyclic<B>& layout, rank_t ranks) {
  return deal(count, layout.block(), ranks);
}

/// Calls visit(distribution) for every combination of a layout and a number of ranks, static and
/// dynamic.
template <typename Visit>
void for_each_distribution(Visit visit) {
  const auto with_layout = [&](auto layout) {
    using Layout = decltype(layout);
    for (const rank_t ranks : {1U, 2U, 3U, 4U, 7U, 8U}) {
      visit(distribution<Layout>{layout, {ranks}});
    }
    visit(distribution<Layout, static_ranks<1>>{layout, {}});
    visit(distribution<Layout, static_ranks<2>>{layout, {}});
    visit(distribution<Layout, static_ranks<3>>{layout, {}});
    visit(distribution<Layout, static_ranks<8>>{layout, {}});
  };
  with_layout(cyclic{});
  with_layout(block_cyclic<2>{});
  with_layout(block_cyclic<5>{});
  with_layout(block_cyclic<16>{});
  with_layout(block_cyclic<>{1});
  with_layout(block_cyclic<>{4});
  with_layout(block_cyclic<>{7});
  with_layout(block_cyclic<>{1000});  // more than there are elements
  with_layout(indefinite{0});
}

}  // namespace stripline::array
