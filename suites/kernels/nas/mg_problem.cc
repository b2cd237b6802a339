#include "suites/kernels/nas/mg_problem.h"

#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "suites/kernels/nas/nas_random.h"

namespace stripline::suites::nas {
namespace {

constexpr std::array<double, 3> kSmallSmoother = {-3.0 / 8, 1.0 / 32, -1.0 / 64};
constexpr std::array<double, 3> kLargeSmoother = {-3.0 / 17, 1.0 / 33, -1.0 / 61};

constexpr std::array<MgProblem, 5> kProblems = {{
    {5, 4, kSmallSmoother, 0.5307707005734e-4},
    {7, 4, kSmallSmoother, 0.6467329375339e-5},
    {8, 4, kSmallSmoother, 0.2433365309069e-5},
    {8, 20, kLargeSmoother, 0.1800564401355e-5},
    {9, 20, kLargeSmoother, 0.5706732285740e-6},
}};

// The largest numbers seen and where, the smallest of them last.
class Largest {
 public:
  void offer(double value, size_t at) {
    if (value <= top_.back().first) return;
    auto place = top_.end() - 1;
    for (; place != top_.begin() && (place - 1)->first < value; --place) *place = *(place - 1);
    *place = {value, at};
  }
  std::array<MgPoint, 10> points(size_t levels) const {
    const size_t mask = (size_t{1} << levels) - 1;
    std::array<MgPoint, 10> result;
    for (size_t i = 0; i < top_.size(); ++i) {
      const size_t at = top_[i].second;
      result[i] = {at & mask, (at >> levels) & mask, at >> (2 * levels)};
    }
    return result;
  }

 private:
  std::array<std::pair<double, size_t>, 10> top_{};
};

}  // namespace

const MgProblem& mg_problem(NasClass problem_class) {
  return kProblems[static_cast<size_t>(problem_class)];
}

MgCharges mg_charges(const MgProblem& problem) {
  Largest largest;
  Largest smallest;
  NasRandom random;
  const size_t points = size_t{1} << (3 * problem.levels);
  for (size_t at = 0; at < points; ++at) {
    const double value = random.next();
    largest.offer(value, at);
    smallest.offer(1 - value, at);
  }
  return {largest.points(problem.levels), smallest.points(problem.levels)};
}

void copy_block(const double* from, double* to, const std::array<size_t, 3>& counts,
                const std::array<size_t, 3>& strides) {
  for (size_t k = 0; k < counts[2]; ++k) {
    for (size_t j = 0; j < counts[1]; ++j) {
      const size_t at = k * strides[2] + j * strides[1];
      std::memcpy(to + at, from + at, counts[0] * sizeof(double));
    }
  }
}

Result<MgPartition> MgPartition::create(const MgProblem& problem, uint32_t ranks) {
  if (!std::has_single_bit(ranks)) {
    return Error(ErrorCode::invalid_argument, "NAS MG cannot run on " + std::to_string(ranks) +
                                                  " ranks: it halves its grids; use a power of "
                                                  "two");
  }
  const auto log2_ranks = static_cast<uint32_t>(std::countr_zero(ranks));
  const uint32_t first = log2_ranks / 3;
  const uint32_t second = (log2_ranks - first) / 2;
  const uint32_t third = log2_ranks - first - second;
  if (third >= problem.levels) {
    return Error(ErrorCode::invalid_argument, "NAS MG cannot divide a grid with sides of " +
                                                  std::to_string(size_t{1} << problem.levels) +
                                                  " points over " + std::to_string(ranks) +
                                                  " ranks; use fewer ranks");
  }
  return MgPartition(problem, {1U << first, 1U << second, 1U << third});
}

MgPartition::MgPartition(const MgProblem& problem, std::array<uint32_t, 3> grid)
    : grid_(grid), levels_(problem.levels), lowest_divided_(1), offsets_(levels_ + 1) {
  // Two points for each rank along the axis with the most ranks.
  if (ranks() > 1) lowest_divided_ = static_cast<size_t>(std::countr_zero(grid[2])) + 1;
  for (size_t level = levels_; level >= 1; --level) {
    offsets_[level] = shared_elements_;
    shared_elements_ += 2 * elements(level);
  }
}

std::array<uint32_t, 3> MgPartition::coordinates(uint32_t rank) const {
  return {rank % grid_[0], rank / grid_[0] % grid_[1], rank / (grid_[0] * grid_[1])};
}

uint32_t MgPartition::neighbour(uint32_t rank, size_t axis, bool up) const {
  std::array<uint32_t, 3> at = coordinates(rank);
  at[axis] = (at[axis] + (up ? 1 : grid_[axis] - 1)) % grid_[axis];
  return at[0] + grid_[0] * (at[1] + grid_[1] * at[2]);
}

std::array<size_t, 3> MgPartition::extents(size_t level) const {
  const size_t side = size_t{1} << level;
  if (replicated(level)) return {side, side, side};
  return {side / grid_[0], side / grid_[1], side / grid_[2]};
}

std::array<size_t, 3> MgPartition::strides(size_t level) const {
  const std::array<size_t, 3> points = extents(level);
  return {1, points[0] + 2, (points[0] + 2) * (points[1] + 2)};
}

size_t MgPartition::elements(size_t level) const {
  return strides(level)[2] * (extents(level)[2] + 2);
}

size_t MgPartition::offset(MgArray array, size_t level) const {
  return offsets_[level] + (array == MgArray::u ? 0 : elements(level));
}

MgFace MgPartition::face(uint32_t rank, MgArray array, size_t level, size_t axis, bool up) const {
  const std::array<size_t, 3> points = extents(level);
  MgFace face;
  face.neighbour = replicated(level) ? rank : neighbour(rank, axis, up);
  face.block.offset = offset(array, level);
  face.block.strides = strides(level);
  for (size_t other = 0; other < 3; ++other) {
    if (other == axis) {
      face.block.counts[other] = 1;
    } else if (other < axis) {
      face.block.counts[other] = points[other] + 2;
    } else {
      face.block.counts[other] = points[other];
      face.block.offset += face.block.strides[other];
    }
  }
  // The upper ghosts are the neighbour's first points, the lower ones its last.
  const size_t stride = face.block.strides[axis];
  face.source_offset = face.block.offset + (up ? 1 : points[axis]) * stride;
  if (up) face.block.offset += (points[axis] + 1) * stride;
  return face;
}

MgBlock MgPartition::replicated_block(uint32_t rank) const {
  const size_t level = lowest_divided_ - 1;
  const std::array<uint32_t, 3> at = coordinates(rank);
  const std::array<size_t, 3> above = extents(lowest_divided_);
  MgBlock block;
  block.offset = offset(MgArray::r, level);
  block.strides = strides(level);
  for (size_t axis = 0; axis < 3; ++axis) {
    block.counts[axis] = above[axis] / 2;
    block.offset += (at[axis] * block.counts[axis] + 1) * block.strides[axis];
  }
  return block;
}

}  // namespace stripline::suites::nas
