#include "runtime/array/halo_layout.h"

#include <algorithm>
#include <limits>

#include "optimizer/access/saturate.h"

namespace stripline::array {

size_t HaloLayout::directions() const {
  size_t count = 1;
  for (size_t d = 0; d < dimensions_; ++d) count *= 3;
  return count;
}

PerDimension<int> HaloLayout::vector_of(size_t direction) const {
  PerDimension<int> vector{};
  for (size_t d = 0; d < dimensions_; ++d, direction /= 3) {
    vector[d] = static_cast<int>(direction % 3) - 1;
  }
  return vector;
}

PerDimension<size_t> HaloLayout::place_of(rank_t rank) const {
  PerDimension<size_t> place{};
  for (size_t d = dimensions_; d-- > 0;) {
    place[d] = rank % parts_[0].grid[d];
    rank /= parts_[0].grid[d];
  }
  return place;
}

std::optional<rank_t> HaloLayout::neighbour(rank_t rank, size_t direction) const {
  const HaloPart& part = parts_[rank];
  const PerDimension<int> vector = vector_of(direction);
  const PerDimension<size_t> place = place_of(rank);
  size_t nonzero = 0;
  uint64_t found = 0;
  for (size_t d = 0; d < dimensions_; ++d) {
    auto there = static_cast<int64_t>(place[d]) + vector[d];
    const auto ranks = static_cast<int64_t>(part.grid[d]);
    if (vector[d] != 0) {
      ++nonzero;
      if (part.width[d] == 0) return std::nullopt;
    }
    if (there < 0 || there >= ranks) {
      if (part.periodic[d] == 0) return std::nullopt;
      there = (there + ranks) % ranks;
    }
    found = found * part.grid[d] + static_cast<uint64_t>(there);
  }
  if (nonzero == 0 || (nonzero > 1 && part.corners == 0)) return std::nullopt;
  return static_cast<rank_t>(found);
}

HaloBox HaloLayout::sent(rank_t rank, size_t direction) const {
  const HaloPart& part = parts_[rank];
  const PerDimension<int> vector = vector_of(direction);
  HaloBox box;
  for (size_t d = 0; d < dimensions_; ++d) {
    box.first[d] = vector[d] > 0 ? part.interior[d] : part.width[d];
    box.count[d] = vector[d] == 0 ? part.interior[d] : part.width[d];
  }
  return box;
}

HaloBox HaloLayout::ghosts(rank_t rank, size_t direction) const {
  const HaloPart& part = parts_[rank];
  const PerDimension<int> vector = vector_of(direction);
  HaloBox box = sent(rank, direction);
  for (size_t d = 0; d < dimensions_; ++d) {
    if (vector[d] > 0) box.first[d] += part.width[d];
    if (vector[d] < 0) box.first[d] = 0;
  }
  return box;
}

size_t HaloLayout::border_bytes(rank_t rank, size_t direction) const {
  const HaloBox box = sent(rank, direction);
  size_t bytes = parts_[rank].element_bytes;
  for (size_t d = 0; d < dimensions_; ++d) bytes *= box.count[d];
  return bytes;
}

std::vector<HaloParcel> HaloLayout::incoming(rank_t rank) const {
  std::vector<HaloParcel> parcels;
  for (size_t direction = 0; direction < directions(); ++direction) {
    const auto source = neighbour(rank, direction);
    if (!source || *source == rank) continue;
    const size_t bytes = border_bytes(rank, direction);
    // The first that has room: a large border does not part the small ones around it.
    auto parcel = std::find_if(parcels.begin(), parcels.end(), [&](const HaloParcel& one) {
      return one.source == *source && one.bytes + bytes <= parts_[*source].together_bytes;
    });
    if (parcel == parcels.end()) parcel = parcels.insert(parcel, {*source, {}, 0, 0});
    parcel->directions.push_back(direction);
    parcel->bytes += bytes;
  }
  size_t offset = 0;
  for (HaloParcel& parcel : parcels) {
    parcel.offset = offset;
    offset += halo_padded(parcel.bytes);
  }
  return parcels;
}

std::string HaloLayout::mistake() const {
  const auto of_dimension = [](size_t d) { return " in dimension " + std::to_string(d); };
  uint64_t places = 1;
  for (size_t d = 0; d < dimensions_; ++d) {
    places *= parts_[0].grid[d];
    if (places == 0 || places > parts_.size()) break;
  }
  if (places != parts_.size()) {
    std::string grid;
    for (size_t d = 0; d < dimensions_; ++d) {
      grid += (d == 0 ? "" : " x ") + std::to_string(parts_[0].grid[d]);
    }
    return "a grid of " + grid + " ranks, but the job has " + std::to_string(parts_.size());
  }
  for (size_t rank = 0; rank < parts_.size(); ++rank) {
    const std::string its = " of rank " + std::to_string(rank);
    if (!parts_[rank].same_but_interior(parts_[0])) {
      return "width, grid, periodic, neighbours or the element's size" + its +
             " differ from those of rank 0";
    }
    if (parts_[rank].corners > 1) {
      return "neighbours" + its + " are " + std::to_string(parts_[rank].corners) +
             ", which is not a valid halo_neighbours; use faces or all";
    }
    uint64_t bytes = parts_[rank].element_bytes;
    for (size_t d = 0; d < dimensions_; ++d) {
      const uint64_t ghosts = access::saturating_multiply(parts_[rank].width[d], 2);
      bytes = access::saturating_multiply(bytes,
                                          access::saturating_add(parts_[rank].interior[d], ghosts));
    }
    if (bytes > static_cast<uint64_t>(std::numeric_limits<std::ptrdiff_t>::max())) {
      return "the array" + its + ", with its ghosts, is larger than any memory";
    }
    size_t below = 1;  // ranks of the dimensions behind this one
    for (size_t d = dimensions_; d-- > 0;) {
      const HaloPart& part = parts_[rank];
      if (part.interior[d] < std::max<uint64_t>(part.width[d], 1)) {
        return "the interior" + its + " has " + std::to_string(part.interior[d]) + " elements" +
               of_dimension(d) + ", fewer than one, or than the " + std::to_string(part.width[d]) +
               " layers that its neighbour needs";
      }
      const size_t place = rank / below % part.grid[d];
      const HaloPart& first = parts_[place * below];  // at the beginning of all other dimensions
      if (part.interior[d] != first.interior[d]) {
        return "the interior" + its + " has " + std::to_string(part.interior[d]) + " elements" +
               of_dimension(d) + ", that of rank " + std::to_string(place * below) +
               " at the same place of it has " + std::to_string(first.interior[d]);
      }
      below *= part.grid[d];
    }
  }
  return {};
}

}  // namespace stripline::array
