// kernel.cfd: a compressible flow on patches of a grid, those beside a patch on other ranks, and
// then where the grid is to be refined; cells of other patches are read one number at a time (as in
// the flow solver of Chen, Optimizing PGAS Programs for Cluster Architectures, 2007, chapter 6).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "suites/kernels/indirect/indirect_variants.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/symmetric_memory.h"

namespace stripline::suites {
namespace {

constexpr const char* kPatchesFactor = "patches_per_rank";
constexpr const char* kSideFactor = "side";
constexpr const char* kStepsFactor = "steps";

constexpr size_t kNumbers = 4;
using Cell = std::array<double, kNumbers>;  // density, momentum along x and y, energy

constexpr double kHeatRatio = 1.4;

Cell first_cell(uint64_t number, uint64_t salt) {
  const uint64_t random = hash_of(number, salt);
  const auto some = [random](unsigned shift) {
    return static_cast<double>((random >> shift) & 0xff) / 256;
  };
  const double density = 1 + some(0) / 2;
  const double along_x = some(8) / 4;
  const double along_y = some(16) / 4;
  const double pressure = 1 + some(24) / 4;
  return {density, along_x, along_y,
          pressure / (kHeatRatio - 1) + (along_x * along_x + along_y * along_y) / (2 * density)};
}

Cell flux(const Cell& cell, size_t axis) {
  const double pressure =
      (kHeatRatio - 1) * (cell[3] - (cell[1] * cell[1] + cell[2] * cell[2]) / (2 * cell[0]));
  const double speed = cell[1 + axis] / cell[0];
  Cell one{};
  for (size_t k = 0; k < kNumbers; ++k) one[k] = speed * cell[k];
  one[1 + axis] += pressure;
  one[3] += speed * pressure;
  return one;
}

// A step of Lax and Friedrichs, which neither makes nor loses anything.
constexpr double kCellFlops = 4 * (12 + 8) + 4 * 8;
Cell next_cell(const Cell& west, const Cell& east, const Cell& north, const Cell& south) {
  constexpr double kStepOverWidth = 0.1;
  const std::array<Cell, 4> fluxes = {flux(west, 0), flux(east, 0), flux(north, 1), flux(south, 1)};
  Cell next{};
  for (size_t k = 0; k < kNumbers; ++k) {
    next[k] = (west[k] + east[k] + north[k] + south[k]) / 4 -
              kStepOverWidth / 2 * (fluxes[1][k] - fluxes[0][k] + fluxes[3][k] - fluxes[2][k]);
  }
  return next;
}

// How often a patch is to be halved, by how densities differ in it; and so that it differs by one
// at most from the patches beside it.
constexpr size_t kLevels = 4;
constexpr size_t kRounds = kLevels - 1;
uint64_t level_of(std::span<const Cell> patch) {
  constexpr double kOfLevel = 0.06;
  double least = patch.front()[0];
  double most = least;
  for (const Cell& cell : patch) {
    least = std::min(least, cell[0]);
    most = std::max(most, cell[0]);
  }
  return std::min<uint64_t>(kLevels - 1, static_cast<uint64_t>((most - least) / kOfLevel));
}
uint64_t balanced(uint64_t level, const std::array<uint64_t, 4>& beside) {
  for (const uint64_t one : beside) level = std::max(level, std::max<uint64_t>(one, 1) - 1);
  return level;
}

// Where a patch is: in a row of one patch for each rank, and which of the rows.
struct Patch {
  size_t column = 0;
  size_t row = 0;
};

// A torus of patches, of which each rank has one in each row, those of other ranks around it.
struct Grid {
  size_t columns = 1;
  size_t rows = 1;
  size_t side = 1;  // of a patch, in cells

  static constexpr size_t kShift = 3;
  rank_t owner(Patch patch) const {
    return static_cast<rank_t>((patch.column + kShift * patch.row) % columns);
  }
  Patch of_rank(rank_t rank, size_t row) const {
    return {(rank + (columns - kShift * row % columns)) % columns, row};
  }
  std::array<Patch, 4> beside(Patch patch) const {
    return {{{(patch.column + columns - 1) % columns, patch.row},
             {(patch.column + 1) % columns, patch.row},
             {patch.column, (patch.row + rows - 1) % rows},
             {patch.column, (patch.row + 1) % rows}}};
  }
  size_t cells() const { return side * side; }
  // In the patch with the cells around it.
  size_t padded(size_t x, size_t y) const { return y * (side + 2) + x; }

  // Calls visit(place in the padded patch, patch, first cell in that, number of cells) for what is
  // around a patch, corners apart.
  template <typename Visit>
  void around(Patch patch, const Visit& visit) const {
    const auto [west, east, north, south] = beside(patch);
    for (size_t y = 0; y < side; ++y) visit(padded(0, y + 1), west, y * side + side - 1, size_t{1});
    for (size_t y = 0; y < side; ++y) visit(padded(side + 1, y + 1), east, y * side, size_t{1});
    visit(padded(1, 0), north, (side - 1) * side, side);
    visit(padded(1, side + 1), south, size_t{0}, side);
  }

  void fill_inside(std::span<const Cell> patch, std::vector<Cell>& around_it) const {
    around_it.resize((side + 2) * (side + 2));
    for (size_t y = 0; y < side; ++y) {
      std::ranges::copy(patch.subspan(y * side, side),
                        around_it.begin() + static_cast<std::ptrdiff_t>(padded(1, y + 1)));
    }
  }
  void advance(const std::vector<Cell>& from, std::span<Cell> patch) const {
    for (size_t y = 1; y <= side; ++y) {
      for (size_t x = 1; x <= side; ++x) {
        patch[(y - 1) * side + x - 1] = next_cell(from[padded(x - 1, y)], from[padded(x + 1, y)],
                                                  from[padded(x, y - 1)], from[padded(x, y + 1)]);
      }
    }
  }
};

// All patches on one rank, by column and row.
class WholeFlow {
 public:
  WholeFlow(const Grid& grid, uint64_t salt) : grid_(grid), cells_(grid.columns * grid.rows) {
    for (size_t number = 0; number < cells_.size(); ++number) {
      for (size_t i = 0; i < grid_.cells(); ++i) {
        cells_[number].push_back(first_cell(number * grid_.cells() + i, salt));
      }
    }
  }

  size_t number(Patch patch) const { return patch.row * grid_.columns + patch.column; }
  const std::vector<Cell>& cells(Patch patch) const { return cells_[number(patch)]; }
  uint64_t level(Patch patch) const { return levels_[number(patch)]; }

  Cell total() const {
    Cell sum{};
    for (const auto& patch : cells_) {
      for (const Cell& cell : patch) {
        for (size_t k = 0; k < kNumbers; ++k) sum[k] += cell[k];
      }
    }
    return sum;
  }

  void run(size_t steps) {
    for (size_t step = 0; step < steps; ++step) {
      auto next = cells_;
      for_each([&](Patch patch) {
        std::vector<Cell> padded;
        grid_.fill_inside(cells(patch), padded);
        grid_.around(patch, [&](size_t place, Patch there, size_t first, size_t count) {
          for (size_t i = 0; i < count; ++i) padded[place + i] = cells(there)[first + i];
        });
        grid_.advance(padded, next[number(patch)]);
      });
      cells_ = next;
    }
    levels_.clear();
    for (const auto& patch : cells_) levels_.push_back(level_of(patch));
    for (size_t round = 0; round < kRounds; ++round) {
      auto next = levels_;
      for_each([&](Patch patch) {
        std::array<uint64_t, 4> beside{};
        const auto patches = grid_.beside(patch);
        for (size_t i = 0; i < beside.size(); ++i) beside[i] = level(patches[i]);
        next[number(patch)] = balanced(level(patch), beside);
      });
      levels_ = next;
    }
  }

 private:
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (size_t row = 0; row < grid_.rows; ++row) {
      for (size_t column = 0; column < grid_.columns; ++column) visit(Patch{column, row});
    }
  }

  const Grid grid_;
  std::vector<std::vector<Cell>> cells_;
  std::vector<uint64_t> levels_;
};

// The patches of a rank, and how it reads those of others.
class Flow {
 public:
  Flow(Context& context, const Grid& grid, const SymmetricMemory<double>& cells,
       const SymmetricMemory<uint64_t>& levels, const experiment::Point& point)
      : context_(context),
        grid_(grid),
        cells_(cells),
        levels_(levels),
        options_(fine_options_of(point)),
        in_region_(point.variant == experiment::variant::kFineRegion),
        by_hand_(point.variant == experiment::variant::kByHand),
        padded_(grid.rows) {}

  // Cells, and levels, are in two halves of their memory in turn.
  std::span<Cell> cells(size_t half, size_t row) const {
    auto* const first = reinterpret_cast<Cell*>(cells_.here() + place_of(half, row, 0));
    return {first, grid_.cells()};
  }
  uint64_t* levels(size_t half) const { return levels_.here() + half * grid_.rows; }
  Patch patch(size_t row) const { return grid_.of_rank(context_.rank_me(), row); }

  // Collective; returns the half that cells are in.
  size_t run(size_t steps) {
    size_t half = 0;
    for (size_t step = 0; step < steps; ++step, half = 1 - half) {
      for (size_t row = 0; row < grid_.rows; ++row) {
        grid_.fill_inside(cells(half, row), padded_[row]);
      }
      if (in_region_) {
        step_in_region(half);
      } else if (by_hand_) {
        step_by_hand(half);
      } else {
        step_one_by_one(half);
      }
      context_.barrier();
    }
    refine(half);
    return half;
  }

 private:
  size_t place_of(size_t half, size_t row, size_t cell) const {
    return kNumbers * ((half * grid_.rows + row) * grid_.cells() + cell);
  }
  global_ptr<double> global(size_t half, Patch there, size_t cell) const {
    return cells_.on(grid_.owner(there)) +
           static_cast<std::ptrdiff_t>(place_of(half, there.row, cell));
  }
  global_ptr<uint64_t> global_level(size_t half, Patch there) const {
    return levels_.on(grid_.owner(there)) +
           static_cast<std::ptrdiff_t>(half * grid_.rows + there.row);
  }

  // Calls read(number that is to be there, where it is) for each number around a patch.
  template <typename Read>
  void for_each_number(size_t half, size_t row, const Read& read) {
    grid_.around(patch(row), [&](size_t place, Patch there, size_t first, size_t count) {
      const global_ptr<double> from = global(half, there, first);
      for (size_t i = 0; i < kNumbers * count; ++i) {
        read(padded_[row][place + i / kNumbers][i % kNumbers],
             from + static_cast<std::ptrdiff_t>(i));
      }
    });
  }
  void advance(size_t half, size_t row) {
    grid_.advance(padded_[row], cells(1 - half, row));
    if (Work* const work = context_.work()) {
      const auto count = static_cast<double>(grid_.cells());
      work->compute(kCellFlops * count, 2 * static_cast<double>(sizeof(Cell)) * count);
    }
  }

  void step_one_by_one(size_t half) {
    for (size_t row = 0; row < grid_.rows; ++row) {
      for_each_number(half, row, [&](double& number, global_ptr<double> from) {
        number = context_.rget(from);
      });
      advance(half, row);
    }
  }
  void step_in_region(size_t half) {
    fine_region fine(context_, options_);
    std::vector<lazy<double>> numbers;
    for (size_t row = 0; row < grid_.rows; ++row) {
      for_each_number(
          half, row, [&](double&, global_ptr<double> from) { numbers.push_back(fine.read(from)); });
      size_t i = 0;
      for_each_number(half, row,
                      [&](double& number, global_ptr<double>) { number = numbers[i++]; });
      numbers.clear();
      advance(half, row);
    }
  }
  void step_by_hand(size_t half) {
    std::vector<future> in_flight;
    for (size_t row = 0; row < grid_.rows; ++row) {
      grid_.around(patch(row), [&](size_t place, Patch there, size_t first, size_t count) {
        in_flight.push_back(context_.rget(global(half, there, first), padded_[row][place].data(),
                                          kNumbers * count));
      });
    }
    wait_all(in_flight);
    for (size_t row = 0; row < grid_.rows; ++row) advance(half, row);
  }

  // The result is in half kRounds % 2.
  void refine(size_t half_of_cells) {
    for (size_t row = 0; row < grid_.rows; ++row) {
      levels(0)[row] = level_of(cells(half_of_cells, row));
    }
    context_.barrier();
    for (size_t round = 0; round < kRounds; ++round) {
      const size_t half = round % 2;
      if (in_region_) {
        balance_in_region(half);
      } else if (by_hand_) {
        balance_by_hand(half);
      } else {
        balance_one_by_one(half);
      }
      context_.barrier();
    }
  }
  void balance(size_t half, size_t row, const std::array<uint64_t, 4>& beside) {
    levels(1 - half)[row] = balanced(levels(half)[row], beside);
  }
  void balance_one_by_one(size_t half) {
    for (size_t row = 0; row < grid_.rows; ++row) {
      std::array<uint64_t, 4> beside{};
      const auto patches = grid_.beside(patch(row));
      for (size_t i = 0; i < beside.size(); ++i) {
        beside[i] = context_.rget(global_level(half, patches[i]));
      }
      balance(half, row, beside);
    }
  }
  void balance_in_region(size_t half) {
    fine_region fine(context_, options_);
    for (size_t row = 0; row < grid_.rows; ++row) {
      const auto patches = grid_.beside(patch(row));
      const auto west = fine.read(global_level(half, patches[0]));
      const auto east = fine.read(global_level(half, patches[1]));
      const auto north = fine.read(global_level(half, patches[2]));
      const auto south = fine.read(global_level(half, patches[3]));
      const std::array<uint64_t, 4> beside = {west.get(), east.get(), north.get(), south.get()};
      balance(half, row, beside);
    }
  }
  void balance_by_hand(size_t half) {
    std::vector<std::array<uint64_t, 4>> beside(grid_.rows);
    for (size_t row = 0; row < grid_.rows; ++row) {
      const auto patches = grid_.beside(patch(row));
      for (size_t i = 0; i < patches.size(); ++i) {
        context_.rget_nbi(global_level(half, patches[i]), &beside[row][i], 1);
      }
    }
    context_.fence();
    for (size_t row = 0; row < grid_.rows; ++row) balance(half, row, beside[row]);
  }

  Context& context_;
  const Grid grid_;
  const SymmetricMemory<double>& cells_;
  const SymmetricMemory<uint64_t>& levels_;
  const FineOptions options_;
  const bool in_region_;
  const bool by_hand_;
  std::vector<std::vector<Cell>> padded_;  // own patches, with the cells around them
};

bool near(const Cell& one, const Cell& other, double rounding) {
  for (size_t k = 0; k < kNumbers; ++k) {
    if (!(std::abs(one[k] - other[k]) <= rounding * (1 + std::abs(other[k])))) return false;
  }
  return true;
}

Result<experiment::SampleSeries> run_cfd(Session& session, const experiment::Point& point,
                                         const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const Grid grid{ctx.rank_n(), size_param(point, kPatchesFactor), size_param(point, kSideFactor)};
  const size_t steps = size_param(point, kStepsFactor);
  STRIPLINE_ASSIGN_OR_RETURN(const auto cells, SymmetricMemory<double>::create(
                                                   ctx, 2 * kNumbers * grid.rows * grid.cells()));
  STRIPLINE_ASSIGN_OR_RETURN(const auto levels,
                             SymmetricMemory<uint64_t>::create(ctx, 2 * grid.rows));
  Flow flow(ctx, grid, cells, levels, point);
  size_t half = 0;
  KernelParts parts;
  parts.prepare = [&](uint64_t salt) {
    for (size_t row = 0; row < grid.rows; ++row) {
      const size_t number = row * grid.columns + flow.patch(row).column;
      const std::span<Cell> here = flow.cells(0, row);
      for (size_t i = 0; i < here.size(); ++i) {
        here[i] = first_cell(number * grid.cells() + i, salt);
      }
    }
  };
  parts.run = [&] { half = flow.run(steps); };
  parts.verify = [&](uint64_t salt) {
    constexpr double kRounding = 1e-12;
    constexpr double kOfSums = 1e-9;
    WholeFlow whole(grid, salt);
    const Cell before = whole.total();
    whole.run(steps);
    if (!near(whole.total(), before, kOfSums)) return false;
    for (size_t row = 0; row < grid.rows; ++row) {
      const Patch patch = flow.patch(row);
      const std::span<const Cell> here = flow.cells(half, row);
      for (size_t i = 0; i < here.size(); ++i) {
        if (!near(here[i], whole.cells(patch)[i], kRounding)) return false;
      }
      if (flow.levels(kRounds % 2)[row] != whole.level(patch)) return false;
    }
    return true;
  };
  parts.scale = 1 / static_cast<double>(steps * grid.rows * grid.cells());
  return measure_single_accesses(session, rule, parts);
}

}  // namespace

Benchmark cfd_benchmark() {
  return single_access_benchmark(
      {.known = experiment::kernels::kCfd,
       .run = run_cfd,
       .title = "A flow on patches of a grid",
       .description = "A compressible flow in two dimensions, some steps on patches of a grid, the "
                      "four beside a patch on other ranks; then how often each patch is to be "
                      "refined, by its own cells and the patches beside it. The four numbers of a "
                      "cell beside a patch, and the level of a patch, are read one by one (naive), "
                      "by nonblocking gets of whole cells and rows before a step (by_hand), or",
       .factors = {integer_factor(kPatchesFactor, "1", "Patches of a rank.", {4}, 1, 1024),
                   integer_factor(kSideFactor, "1", "Cells along an edge of a patch.", {8}, 1, 256),
                   integer_factor(kStepsFactor, "1", "Steps of time.", {4}, 1, 1000)},
       .metric = {"time_per_cell", "s", true},
       .verification = "All cells and levels are compared with those of one rank, which must keep "
                       "its sums, in every repetition."});
}

}  // namespace stripline::suites
