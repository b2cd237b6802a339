// Elements of an owner that many of its readers need, beside others that fewer of them need: what
// readers may pass on to each other (Alvanos et al., Combining Static and Dynamic Data Coalescing
// in Unified Parallel C, 2015, section 5: all ranks read what one has).
//
// Plain values; no communication.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stripline::gathers {

/// Some that may be passed on.
struct HotPlaces {
  std::vector<uint32_t> places;  ///< ascending
  std::vector<size_t> readers;   ///< numbers of all that need all of them, ascending
  uint64_t most_besides = 0;     ///< elements that one of these needs besides, at most
};

/// A binomial tree of fewer saves its root no message.
inline constexpr size_t kFewestReaders = 3;

/// What readers with these needs, each ascending, may pass on: the places that at least n of
/// them need, for each number n of readers for which there are other ones, if at least
/// kFewestReaders need all of these. At most `most` of them, those that save most elements.
std::vector<HotPlaces> hot_places(std::span<const std::span<const uint32_t>> needs, size_t most);

/// For elements that came in the order of `places`, where each is if those that are hot, which are
/// among them, come after all others.
std::vector<uint32_t> hot_last(std::span<const uint32_t> places, std::span<const uint32_t> hot);

}  // namespace stripline::gathers
