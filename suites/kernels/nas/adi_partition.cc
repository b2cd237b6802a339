#include "suites/kernels/nas/adi_partition.h"

#include <string>

namespace stripline::suites::nas {
namespace {

int modulo(int a, int p) { return (a % p + p) % p; }

}  // namespace

Result<AdiPartition> AdiPartition::create(int points, uint32_t ranks, uint32_t rank) {
  int p = 0;
  while (static_cast<uint64_t>(p) * static_cast<uint64_t>(p) < ranks) ++p;
  if (ranks == 0 || static_cast<uint64_t>(p) * static_cast<uint64_t>(p) != ranks || rank >= ranks) {
    return Error(ErrorCode::invalid_argument,
                 "rank " + std::to_string(rank) + " of " + std::to_string(ranks) +
                     " has no cells of a multi-partition; start a square number of ranks");
  }
  if (points / p < kMinCellPoints) {
    return Error(ErrorCode::invalid_argument,
                 std::to_string(ranks) + " ranks divide " + std::to_string(points) +
                     " points a direction into cells of fewer than " +
                     std::to_string(kMinCellPoints) + "; start fewer, or take a larger problem");
  }
  return AdiPartition(points, rank, p);
}

AdiPartition::AdiPartition(int points, uint32_t rank, int p)
    : points_(points), rank_(rank), cells_(static_cast<size_t>(p)) {
  const int i = static_cast<int>(rank) % p;
  const int j = static_cast<int>(rank) / p;
  for (int c = 0; c < p; ++c) {
    AdiCell& cell = cells_[static_cast<size_t>(c)];
    cell.at = {modulo(i + c, p), modulo(j - c, p), c};
    for (size_t axis = 0; axis < 3; ++axis) {
      cell.size[axis] = slice_points(cell.at[axis]);
      cell.low[axis] = 0;
      for (int s = 0; s < cell.at[axis]; ++s) cell.low[axis] += slice_points(s);
    }
  }
}

int AdiPartition::cell_in_slice(int axis, int slice) const {
  int c = 0;
  while (cell(c).at[static_cast<size_t>(axis)] != slice) ++c;
  return c;
}

uint32_t AdiPartition::owner(const std::array<int, 3>& at) const {
  const int p = cells_per_axis();
  return static_cast<uint32_t>(modulo(at[0] - at[2], p) + p * modulo(at[1] + at[2], p));
}

uint32_t AdiPartition::neighbour(int axis, Side side) const {
  std::array<int, 3> at = cells_.front().at;
  at[static_cast<size_t>(axis)] += side == Side::low ? -1 : 1;
  return owner(at);
}

}  // namespace stripline::suites::nas
