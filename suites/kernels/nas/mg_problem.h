// The problem of NAS MG (Bailey et al., NAS-91-002, section 3.3): its classes, and how its grids
// are divided among ranks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "suites/kernels/nas/nas_class.h"

namespace stripline::suites::nas {

/// Poisson's equation with periodic boundaries on a cube of points, by V-cycles. Level k has 2^k
/// points along each side; the finest one is `levels`, the coarsest 1.
struct MgProblem {
  size_t levels;
  size_t iterations;
  std::array<double, 3> smoother;  ///< weights of the centre, the 6 faces, the 12 edges
  double reference_norm;           ///< of the residual after the last iteration
};

/// The classes' parameters and verification values (NPB 3).
const MgProblem& mg_problem(NasClass problem_class);

/// The relative error that the specification allows in the norm.
inline constexpr double kMgTolerance = 1e-8;

/// A point of the finest grid, its coordinates along the axes 0 (contiguous in memory) to 2.
using MgPoint = std::array<size_t, 3>;

/// Where the right-hand side is +1 and where -1 (elsewhere 0): at the ten points with the largest
/// and the ten with the smallest of the random numbers that belong to the points. Every rank goes
/// through all of the numbers, which takes 0.1 s for class B, and so needs no one else's.
struct MgCharges {
  std::array<MgPoint, 10> positive;
  std::array<MgPoint, 10> negative;
};
MgCharges mg_charges(const MgProblem& problem);

/// The solution, and the residual with the right-hand sides of the coarser levels.
enum class MgArray { u, r };

/// A block of an array, in doubles: counts[0] * counts[1] * counts[2] of them, whose distances
/// along the axes are the strides. strides[0] is 1.
struct MgBlock {
  size_t offset = 0;
  std::array<size_t, 3> counts{};
  std::array<size_t, 3> strides{};
};

/// Copies the doubles of a block from `from` to `to`, both pointing at its first one.
void copy_block(const double* from, double* to, const std::array<size_t, 3>& counts,
                const std::array<size_t, 3>& strides);

/// A face of ghost points: `block` here (offsets from the start of the shared memory) is that of
/// `neighbour` at source_offset, with the same counts and strides.
struct MgFace {
  uint32_t neighbour = 0;
  size_t source_offset = 0;
  MgBlock block;

  /// The part of a face along axis 0 or 1 that belongs to planes [begin, end).
  MgFace planes(size_t begin, size_t end) const {
    MgFace part = *this;
    part.source_offset += begin * block.strides[2];
    part.block.offset += begin * block.strides[2];
    part.block.counts[2] = end - begin;
    return part;
  }
};

/// The grids over a grid of ranks, both with powers of two along each axis, as NPB divides them:
/// more ranks along the later axes. Arrays have one layer of ghost points on each side. Levels with
/// less than two points for a rank along an axis are *replicated*: every rank has all of them, and
/// does all of their work, instead of exchanging faces of single points. (NPB leaves ranks out
/// instead; the results are the same.)
class MgPartition {
 public:
  /// Refuses numbers of ranks that are no power of two, or too many for the finest level.
  static Result<MgPartition> create(const MgProblem& problem, uint32_t ranks);

  uint32_t ranks() const { return grid_[0] * grid_[1] * grid_[2]; }
  const std::array<uint32_t, 3>& grid() const { return grid_; }
  std::array<uint32_t, 3> coordinates(uint32_t rank) const;
  /// The rank next to `rank` along `axis`; `up` is the side with larger coordinates. Periodic.
  uint32_t neighbour(uint32_t rank, size_t axis, bool up) const;

  size_t levels() const { return levels_; }
  bool replicated(size_t level) const { return level < lowest_divided_; }
  /// The points that a rank has, without ghosts.
  std::array<size_t, 3> extents(size_t level) const;
  std::array<size_t, 3> strides(size_t level) const;
  size_t elements(size_t level) const;

  // The shared memory, in doubles; alike on all ranks.
  size_t shared_elements() const { return shared_elements_; }
  size_t offset(MgArray array, size_t level) const;

  /// The ghosts of `rank` along `axis`, on the upper or lower side. On replicated levels the
  /// neighbour is the rank itself. The faces along axis 0 have no ghosts of the other axes, those
  /// along axis 1 have those of axis 0, those along axis 2 all: filled in this order, edges and
  /// corners come right. `neighbour` on the opposite side takes what lies at source_offset of
  /// `rank` as its own face of the same axis and side.
  MgFace face(uint32_t rank, MgArray array, size_t level, size_t axis, bool up) const;

  /// On the finest replicated level: the block whose points `rank` computes when it restricts the
  /// level above.
  MgBlock replicated_block(uint32_t rank) const;

 private:
  MgPartition(const MgProblem& problem, std::array<uint32_t, 3> grid);

  std::array<uint32_t, 3> grid_;
  size_t levels_;
  size_t lowest_divided_;
  std::vector<size_t> offsets_;  // [level], of u; r follows
  size_t shared_elements_ = 0;
};

}  // namespace stripline::suites::nas
