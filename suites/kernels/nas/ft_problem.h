// The problem of NAS FT (Bailey et al., NAS-91-002, section 3.5): its classes, and how its array is
// divided among ranks.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "suites/kernels/nas/nas_class.h"

namespace stripline::suites::nas {

using FtComplex = std::complex<double>;

/// A diffusion equation, solved with Fourier transforms of nx * ny * nz points.
struct FtProblem {
  size_t nx;
  size_t ny;
  size_t nz;
  std::span<const FtComplex> checksums;  ///< one for each iteration

  size_t points() const { return nx * ny * nz; }
  size_t iterations() const { return checksums.size(); }
};

/// The classes' parameters and verification values (NPB 3).
const FtProblem& ft_problem(NasClass problem_class);

/// The relative error that the specification allows in real and imaginary parts of the checksums.
inline constexpr double kFtTolerance = 1e-12;

/// A transform of the array in three dimensions with one transposition, as the ranks divide it. The
/// array comes as `planes` planes on each rank, of `rows` rows of nx points that lie side by side,
/// and leaves with the rows divided: a row is needed by the rank in whose share of the rows it is,
/// where the rows of all planes together make the lines of the third axis.
///
///   source  [planes][rows][nx]
///   landing [planes * ranks][rows_per_rank][nx]
///
/// In both, everything from one plane for one rank lies in one piece: a slab of rows_per_rank rows.
struct FtTransposition {
  size_t ranks;
  size_t planes;
  size_t rows;
  size_t nx;

  size_t depth() const { return planes * ranks; }
  size_t rows_per_rank() const { return rows / ranks; }
  size_t elements() const { return planes * rows * nx; }
  /// The rank that needs a row.
  uint32_t reader(size_t row) const { return static_cast<uint32_t>(row / rows_per_rank()); }
  /// Where a row is in the source of its owner.
  size_t source(size_t plane, size_t row) const { return (plane * rows + row) * nx; }
  /// Where row `row` of plane `plane` of the rank `owner` goes in the landing of its reader.
  size_t landing(uint32_t owner, size_t plane, size_t row) const {
    return ((owner * planes + plane) * rows_per_rank() + row % rows_per_rank()) * nx;
  }
  /// The lines that a rank finishes; line `row * nx + x` goes through its own rows `row`, at x.
  size_t lines() const { return rows_per_rank() * nx; }
};

/// Slabs of z for the forward transform, slabs of y for the inverse. Each rank's shared memory
/// holds a source and a landing, in that order, used by both transforms.
class FtPartition {
 public:
  /// Refuses numbers of ranks that do not divide both ny and nz.
  static Result<FtPartition> create(const FtProblem& problem, uint32_t ranks);

  uint32_t ranks() const { return ranks_; }
  /// The first transform: planes of z with rows of y.
  FtTransposition forward() const { return {ranks_, nz_ / ranks_, ny_, nx_}; }
  /// The transform of the iterations: planes of y with rows of z.
  FtTransposition inverse() const { return {ranks_, ny_ / ranks_, nz_, nx_}; }

  /// In complex numbers, alike on all ranks.
  size_t shared_elements() const { return 2 * landing_offset(); }
  size_t source_offset() const { return 0; }
  size_t landing_offset() const { return nx_ * ny_ * nz_ / ranks_; }

 private:
  FtPartition(const FtProblem& problem, uint32_t ranks)
      : ranks_(ranks), nx_(problem.nx), ny_(problem.ny), nz_(problem.nz) {}

  uint32_t ranks_;
  size_t nx_;
  size_t ny_;
  size_t nz_;
};

}  // namespace stripline::suites::nas
