#include "suites/kernels/particles/particles.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/random.h"

namespace stripline::particles {
namespace {

// The reduced density of a liquid.
constexpr double kDensity = 0.8442;
constexpr double kOffPlace = 0.02;  // of a cell's side
constexpr double kFastest = 1;

double centred(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-52 - 1; }

Vector drawn(uint64_t seed, uint64_t number) {
  SplitMix64 random(derive_seed(seed, number));
  return {centred(random.next()), centred(random.next()), centred(random.next())};
}

double coordinate(const Vector& v, size_t dimension) {
  return dimension == 0 ? v.x : dimension == 1 ? v.y : v.z;
}

// `numbers` of the points of the parts of `sizes`.
void bisect_part(std::span<const Vector> points, std::span<const size_t> sizes,
                 std::span<uint32_t> numbers) {
  if (sizes.size() < 2 || numbers.empty()) return;
  size_t longest = 0;
  double longest_extent = -1;
  for (size_t dimension = 0; dimension < 3; ++dimension) {
    const auto [low, high] = std::ranges::minmax(
        numbers, {}, [&](uint32_t number) { return coordinate(points[number], dimension); });
    const double extent = coordinate(points[high], dimension) - coordinate(points[low], dimension);
    if (extent > longest_extent) {
      longest = dimension;
      longest_extent = extent;
    }
  }
  const size_t half = sizes.size() / 2;
  const size_t left =
      std::accumulate(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(half), size_t{0});
  // Points with the same coordinate by number, so that all ranks cut alike.
  std::ranges::nth_element(
      numbers, numbers.begin() + static_cast<std::ptrdiff_t>(left), {},
      [&](uint32_t number) { return std::pair(coordinate(points[number], longest), number); });
  bisect_part(points, sizes.first(half), numbers.first(left));
  bisect_part(points, sizes.subspan(half), numbers.subspan(left));
}

// A grid whose cells are no smaller than `least`: finds the cell of a point.
class Grid {
 public:
  Grid(double side, double least)
      : side_(side), cells_(std::max<int64_t>(1, static_cast<int64_t>(side / least))) {}

  int64_t cells() const { return cells_; }
  std::array<int64_t, 3> place(const Vector& at) const {
    return {along(at.x), along(at.y), along(at.z)};
  }
  size_t number(int64_t x, int64_t y, int64_t z) const {
    return static_cast<size_t>((wrapped(z) * cells_ + wrapped(y)) * cells_ + wrapped(x));
  }

 private:
  int64_t along(double length) const {
    const double turn = length / side_ - std::floor(length / side_);
    return std::min(cells_ - 1, static_cast<int64_t>(turn * static_cast<double>(cells_)));
  }
  int64_t wrapped(int64_t place) const { return (place + cells_) % cells_; }

  double side_;
  int64_t cells_;
};

}  // namespace

double side_of(uint64_t cells) { return std::cbrt(4 / kDensity) * static_cast<double>(cells); }

std::vector<Vector> make_lattice(uint64_t cells) {
  constexpr std::array<Vector, 4> kOfCell = {
      {{0.25, 0.25, 0.25}, {0.75, 0.75, 0.25}, {0.75, 0.25, 0.75}, {0.25, 0.75, 0.75}}};
  const double side = side_of(1);
  std::vector<Vector> points;
  points.reserve(4 * cells * cells * cells);
  for (uint64_t z = 0; z < cells; ++z) {
    for (uint64_t y = 0; y < cells; ++y) {
      for (uint64_t x = 0; x < cells; ++x) {
        const Vector corner = {static_cast<double>(x), static_cast<double>(y),
                               static_cast<double>(z)};
        for (const Vector& of_cell : kOfCell) {
          Vector at = corner;
          at += of_cell;
          at += kOffPlace * drawn(0, points.size());
          points.push_back(side * at);
        }
      }
    }
  }
  return points;
}

Vector first_velocity(uint64_t particle, uint64_t salt) {
  return kFastest * drawn(1 + salt, particle);
}

std::vector<uint32_t> bisect(std::span<const Vector> points, std::span<const size_t> sizes) {
  std::vector<uint32_t> numbers(points.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  bisect_part(points, sizes, numbers);
  return numbers;
}

NeighbourLists find_neighbours(std::span<const Vector> points, double side, size_t first,
                               size_t last) {
  constexpr double kRadius = kReach + kSkin;
  const Grid grid(side, kRadius);
  const auto cell_of = [&](const Vector& at) {
    const auto [x, y, z] = grid.place(at);
    return grid.number(x, y, z);
  };
  const auto count = static_cast<size_t>(grid.cells() * grid.cells() * grid.cells());
  std::vector<size_t> begin(count + 1, 0);
  for (const Vector& at : points) ++begin[cell_of(at) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<uint32_t> in_cells(points.size());
  std::vector<size_t> next(begin.begin(), begin.end() - 1);
  for (size_t i = 0; i < points.size(); ++i) {
    in_cells[next[cell_of(points[i])]++] = static_cast<uint32_t>(i);
  }
  NeighbourLists lists;
  lists.begin.push_back(0);
  std::vector<size_t> cells;
  for (size_t i = first; i < last; ++i) {
    const auto [x, y, z] = grid.place(points[i]);
    // In a small cube some of the 27 are the same.
    cells.clear();
    for (int64_t dz = -1; dz <= 1; ++dz) {
      for (int64_t dy = -1; dy <= 1; ++dy) {
        for (int64_t dx = -1; dx <= 1; ++dx) cells.push_back(grid.number(x + dx, y + dy, z + dz));
      }
    }
    std::ranges::sort(cells);
    cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
    const auto begin_of = static_cast<std::ptrdiff_t>(lists.neighbour.size());
    for (const size_t cell : cells) {
      for (size_t k = begin[cell]; k < begin[cell + 1]; ++k) {
        const size_t j = in_cells[k];
        const Vector separation = between(points[i], points[j], side);
        const double square =
            separation.x * separation.x + separation.y * separation.y + separation.z * separation.z;
        if (j != i && square < kRadius * kRadius) lists.neighbour.push_back(j);
      }
    }
    std::sort(lists.neighbour.begin() + begin_of, lists.neighbour.end());
    lists.begin.push_back(lists.neighbour.size());
  }
  return lists;
}

}  // namespace stripline::particles
