// Times of a halo exchange, of systems that measure it alike (suites/harness/timed.h).
//
// A rank has a cube of n^3 doubles and a layer of one cell around it, which mirrors the
// neighbouring cells of the ranks around it (27-point stencil, periodic, so that each rank has 26
// neighbours, some of them itself). Two cubes take turns, as in Jacobi's method: a neighbour that
// is one exchange ahead writes into the other one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "suites/harness/timed.h"

namespace stripline::suites::compare {

inline constexpr std::array<size_t, 3> kHaloCells = {16, 32, 64};
inline constexpr size_t kHaloCubes = 2;

/// Cells of a cube with its layer.
constexpr size_t halo_cells(size_t n) { return (n + 2) * (n + 2) * (n + 2); }

using Triple = std::array<size_t, 3>;

/// One of the 26 directions: which cells go there, and where they come to lie.
struct HaloFace {
  size_t rank = 0;  ///< of the neighbour
  Triple extents{};
  Triple from{};      ///< first cell that is sent
  Triple to{};        ///< and its place in the neighbour's layer
  Triple in{};        ///< first cell of the own layer that the neighbour on the other side fills
  size_t source = 0;  ///< rank of that one
};

/// Ranks in a grid: as even as powers of two make it.
inline Triple halo_grid(size_t ranks) {
  Triple grid{1, 1, 1};
  for (size_t axis = 0; ranks > 1; axis = (axis + 1) % 3, ranks /= 2) grid[axis] *= 2;
  return grid;
}

/// The faces of a rank, in an order in which the n-th of each rank meets the n-th of its neighbour.
inline std::vector<HaloFace> halo_faces(size_t rank, size_t ranks, size_t n) {
  const Triple grid = halo_grid(ranks);
  const Triple at = {rank % grid[0], rank / grid[0] % grid[1], rank / grid[0] / grid[1]};
  std::vector<HaloFace> faces;
  for (size_t direction = 0; direction < 27; ++direction) {
    if (direction == 13) continue;                                          // no step at all
    const Triple step = {direction % 3, direction / 3 % 3, direction / 9};  // 0: down, 2: up
    HaloFace face;
    size_t scale = 1;
    for (size_t axis = 0; axis < 3; ++axis) {
      const size_t last = grid[axis] - 1;
      face.rank += scale * ((at[axis] + step[axis] + last) % grid[axis]);
      face.source += scale * ((at[axis] + last + 2 - step[axis]) % grid[axis]);
      scale *= grid[axis];
      face.extents[axis] = step[axis] == 1 ? n : 1;
      face.from[axis] = step[axis] == 2 ? n : 1;
      const std::array<size_t, 3> place = {n + 1, 1, 0};
      face.to[axis] = place[step[axis]];
      face.in[axis] = face.to[axis];
    }
    faces.push_back(face);
  }
  return faces;
}

inline size_t halo_index(size_t n, const Triple& cell) {
  return cell[0] + (n + 2) * (cell[1] + (n + 2) * cell[2]);
}

/// What a cell of a rank holds.
inline double halo_value(size_t rank, size_t index, size_t salt) {
  return static_cast<double>(rank * 1000003 + index * 7 + salt);
}

/// Gives all inner cells their values; the layer becomes -1.
inline void fill_halo(std::span<double> cube, size_t n, size_t rank, size_t salt) {
  std::fill(cube.begin(), cube.end(), -1.0);
  for (size_t z = 1; z <= n; ++z) {
    for (size_t y = 1; y <= n; ++y) {
      for (size_t x = 1; x <= n; ++x) {
        const size_t index = halo_index(n, {x, y, z});
        cube[index] = halo_value(rank, index, salt);
      }
    }
  }
}

/// True if the layer holds what the neighbours' cells do.
inline bool halo_is_right(std::span<const double> cube, size_t n, std::span<const HaloFace> faces,
                          size_t salt) {
  for (const HaloFace& face : faces) {
    for (size_t z = 0; z < face.extents[2]; ++z) {
      for (size_t y = 0; y < face.extents[1]; ++y) {
        for (size_t x = 0; x < face.extents[0]; ++x) {
          const auto cell_of = [&](const Triple& first) {
            return halo_index(n, {first[0] + x, first[1] + y, first[2] + z});
          };
          if (cube[cell_of(face.in)] != halo_value(face.source, cell_of(face.from), salt)) {
            return false;
          }
        }
      }
    }
  }
  return true;
}

/// `system` is Ranks, and has prepare(n, faces), called collectively before exchanges of that size,
/// cube(i), halo_cells(n) of kHaloCubes each, and exchange(i), which returns when the layer of cube
/// i has come and the cube may be changed. Returns false if a result was wrong.
template <typename System>
bool print_halo_times(System& system, size_t batches, const char* name) {
  constexpr size_t kBatch = 20;
  constexpr size_t kWarmUp = 3;
  bool good = true;
  for (const size_t n : kHaloCells) {
    const auto faces = halo_faces(system.rank(), system.ranks(), n);
    system.prepare(n, std::span<const HaloFace>(faces));
    std::vector<double> times;
    for (size_t batch = 0; batch < kWarmUp + batches; ++batch) {
      for (size_t i = 0; i < kHaloCubes; ++i) fill_halo(system.cube(i), n, system.rank(), batch);
      const double time_s =
          harness::timed_s(system, kBatch, [&](size_t i) { system.exchange(i % kHaloCubes); });
      if (batch >= kWarmUp) times.push_back(time_s);
      system.barrier();
      for (size_t i = 0; i < kHaloCubes; ++i) {
        good = good && halo_is_right(system.cube(i), n, faces, batch);
      }
    }
    harness::print_median(system, name,
                          harness::field("operation", "halo") + "," + harness::field("cells", n),
                          times);
  }
  return good;
}

}  // namespace stripline::suites::compare
