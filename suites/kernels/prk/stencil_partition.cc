#include "suites/kernels/prk/stencil_partition.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace stripline::suites::prk {

Result<StencilPartition> StencilPartition::create(size_t n, size_t radius, uint32_t ranks,
                                                  uint32_t ranks_x) {
  if (ranks_x == 0) {
    ranks_x = static_cast<uint32_t>(std::sqrt(static_cast<double>(ranks)));
    while (ranks % ranks_x != 0) --ranks_x;
  }
  if (ranks % ranks_x != 0) {
    return Error(ErrorCode::invalid_argument, "ranks_x=" + std::to_string(ranks_x) +
                                                  " does not divide the " + std::to_string(ranks) +
                                                  " ranks");
  }
  const StencilPartition partition(n, radius, ranks_x, ranks / ranks_x);
  const size_t most_blocks = std::max(partition.ranks_x_, partition.ranks_y_);
  if (n / most_blocks <= 2 * radius) {
    return Error(ErrorCode::invalid_argument,
                 "blocks of " + std::to_string(n / most_blocks) +
                     " points along an axis are too small for a stencil of radius " +
                     std::to_string(radius) + "; make n larger");
  }
  return partition;
}

std::optional<StencilFace> StencilPartition::face(uint32_t rank, StencilSide side) const {
  const uint32_t x = rank % ranks_x_;
  const uint32_t y = rank / ranks_x_;
  const size_t last_column = columns(rank) - radius_;
  const size_t last_row = rows(rank) - radius_;
  StencilFace face;
  face.columns = radius_;
  face.rows = radius_;
  switch (side) {
    case StencilSide::left:
      if (x == 0) return {};
      face.neighbour = rank - 1;
      face.source = at(0, 0);
      face.ghosts = at(columns(face.neighbour), 0);
      face.rows = rows(rank);
      break;
    case StencilSide::right:
      if (x + 1 == ranks_x_) return {};
      face.neighbour = rank + 1;
      face.source = at(last_column, 0);
      face.ghosts = at(0, 0) - radius_;
      face.rows = rows(rank);
      break;
    case StencilSide::lower:
      if (y == 0) return {};
      face.neighbour = rank - ranks_x_;
      face.source = at(0, 0);
      face.ghosts = at(0, rows(face.neighbour));
      face.columns = columns(rank);
      break;
    case StencilSide::upper:
      if (y + 1 == ranks_y_) return {};
      face.neighbour = rank + ranks_x_;
      face.source = at(0, last_row);
      face.ghosts = at(0, 0) - radius_ * pitch();
      face.columns = columns(rank);
      break;
  }
  return face;
}

size_t StencilPartition::largest_face() const {
  const uint32_t fewest_ranks = std::min(ranks_x_, ranks_y_);
  return radius_ * ((n_ + fewest_ranks - 1) / fewest_ranks);
}

}  // namespace stripline::suites::prk
