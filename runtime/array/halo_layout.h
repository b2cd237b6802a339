// The borders of a grid's part by the rank they go to, how they travel together, where they land.
// Pure: every rank works out the same of every other one.
//
// A direction is a vector of -1, 0 and 1, numbered in base 3, so that the opposite of number i is
// the last number minus i. Borders are named by the direction in which the receiver sees them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <stripline/global_ptr.h>

namespace stripline::array {

inline constexpr size_t kMostDimensions = 4;
/// The alignment of places where borders land.
inline constexpr size_t kHaloAlignment = 64;

template <typename T>
using PerDimension = std::array<T, kMostDimensions>;

constexpr size_t halo_padded(size_t bytes) {
  return (bytes + kHaloAlignment - 1) / kHaloAlignment * kHaloAlignment;
}

/// What each rank says of itself. Dimensions that are not there have one place and no ghosts.
struct HaloPart {
  PerDimension<uint64_t> interior{1, 1, 1, 1};
  PerDimension<uint64_t> width{};
  PerDimension<uint32_t> grid{1, 1, 1, 1};
  PerDimension<uint8_t> periodic{};
  uint32_t corners = 0;  ///< halo_neighbours: 1 with edges and corners
  uint32_t element_bytes = 0;
  uint64_t together_bytes = 0;  ///< borders of so much that it sends to one rank travel together

  bool same_but_interior(const HaloPart& other) const {
    return width == other.width && grid == other.grid && periodic == other.periodic &&
           corners == other.corners && element_bytes == other.element_bytes;
  }
};

/// A box of elements in a part's array.
struct HaloBox {
  PerDimension<size_t> first{};
  PerDimension<size_t> count{};
};

/// Borders of one rank for another one that travel together, and land side by side.
struct HaloParcel {
  rank_t source = 0;
  std::vector<size_t> directions;  ///< in which the receiver sees them, ascending
  size_t offset = 0;               ///< from the receiver's landing places
  size_t bytes = 0;

  /// Its number among all that a rank may receive.
  size_t number() const { return directions.front(); }
};

/// The parts of all ranks, which are places of the grid in row-major order.
class HaloLayout {
 public:
  /// `parts` stays as long as this.
  HaloLayout(size_t dimensions, std::span<const HaloPart> parts)
      : dimensions_(dimensions), parts_(parts) {}

  /// Why the parts make no grid; empty if they do.
  std::string mistake() const;

  size_t dimensions() const { return dimensions_; }
  size_t directions() const;
  size_t opposite(size_t direction) const { return directions() - 1 - direction; }

  /// The neighbour in a direction; none where the grid ends, or nothing is exchanged in it.
  std::optional<rank_t> neighbour(rank_t rank, size_t direction) const;

  /// What a rank sends in a direction, and where it keeps what comes from there: as many elements,
  /// as the neighbour sees them, too.
  HaloBox sent(rank_t rank, size_t direction) const;
  HaloBox ghosts(rank_t rank, size_t direction) const;
  size_t border_bytes(rank_t rank, size_t direction) const;

  /// What comes to a rank from others, in the order of its landing places.
  std::vector<HaloParcel> incoming(rank_t rank) const;
  /// Length of these places.
  static size_t landing_bytes(std::span<const HaloParcel> parcels) {
    return parcels.empty() ? 0 : parcels.back().offset + halo_padded(parcels.back().bytes);
  }

 private:
  PerDimension<int> vector_of(size_t direction) const;
  PerDimension<size_t> place_of(rank_t rank) const;

  size_t dimensions_;
  std::span<const HaloPart> parts_;
};

}  // namespace stripline::array
