// kernel.sobel and kernel.wator: cells of a torus in bands of rows, of which each becomes what it
// and its neighbours say: edges of a picture, of 3 x 3 pixels; predators and prey, of 5 x 5 cells
// (Alvanos et al., section 4).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"
#include "suites/kernels/indirect/indirect_variants.h"
#include "suites/kernels/kernels.h"

namespace stripline::suites {
namespace {

using Cells = shared_array<int32_t, block_cyclic<>>;

constexpr const char* kRowsFactor = "rows_per_rank";
constexpr const char* kColumnsFactor = "columns";

struct Torus {
  int64_t rows = 0;
  int64_t columns = 0;
  uint64_t cell(int64_t row, int64_t column) const {
    return static_cast<uint64_t>((row + rows) % rows * columns + (column + columns) % columns);
  }
};

// The brightness gradient at the centre of 3 x 3 pixels.
struct Edges {
  static constexpr int64_t kSide = 3;
  static int32_t first(uint64_t random) { return static_cast<int32_t>(random % 256); }
  static int32_t next(const std::array<int32_t, 9>& p) {
    const int32_t across = p[2] + 2 * p[5] + p[8] - p[0] - 2 * p[3] - p[6];
    const int32_t down = p[6] + 2 * p[7] + p[8] - p[0] - 2 * p[1] - p[2];
    return std::abs(across) + std::abs(down);
  }
};

// Nothing (0), fish (1) or a shark (2): fish breed where fish are near and sharks are few, sharks
// where fish are many, and starve where there are none.
struct Sea {
  static constexpr int64_t kSide = 5;
  static int32_t first(uint64_t random) { return static_cast<int32_t>(random % 16 % 3); }
  static int32_t next(const std::array<int32_t, 25>& cells) {
    int32_t fish = 0;
    int32_t sharks = 0;
    for (const int32_t cell : cells) {
      fish += cell == 1 ? 1 : 0;
      sharks += cell == 2 ? 1 : 0;
    }
    const int32_t centre = cells[cells.size() / 2];
    if (centre == 2) return fish >= 2 ? 2 : 0;
    if (centre == 1) return sharks > fish ? 2 : 1;
    return fish >= 3 && sharks < 4 ? 1 : 0;
  }
};

template <typename Rule>
class Neighbourhood {
 public:
  static constexpr size_t kCells = Rule::kSide * Rule::kSide;

  static uint64_t cell(const Torus& torus, int64_t centre, size_t number) {
    const auto side = static_cast<int64_t>(number);
    return torus.cell(centre / torus.columns + side / Rule::kSide - Rule::kSide / 2,
                      centre % torus.columns + side % Rule::kSide - Rule::kSide / 2);
  }

  // What becomes of `count` cells from `first` on, into `next`.
  static void go(Context& ctx, const Cells& cells, const Torus& torus, int64_t first,
                 std::span<int32_t> next, const IndirectOptions& options) {
    go(ctx, cells, torus, first, next, options, std::make_index_sequence<kCells>{});
  }
  // The same one by one, in a fine_region.
  static void go_in_region(Context& ctx, const Cells& cells, const Torus& torus, int64_t first,
                           std::span<int32_t> next, const FineOptions& options) {
    fine_region fine(ctx, options);
    for (size_t i = 0; i < next.size(); ++i) {
      const auto read = [&](size_t number) {
        return fine.read(cells.global(cell(torus, first + static_cast<int64_t>(i), number)));
      };
      next[i] = become(read, std::make_index_sequence<kCells>{});
    }
  }
  // The same by hand: rows beside the band are fetched first.
  static void go_by_hand(Context& ctx, const Cells& cells, const Torus& torus, int64_t first,
                         std::span<int32_t> next) {
    constexpr int64_t kHalo = Rule::kSide / 2;
    const auto row_cells = static_cast<size_t>(torus.columns);
    const size_t rows = next.size() / row_cells;
    const int64_t first_row = first / torus.columns;
    std::vector<int32_t> here((rows + 2 * kHalo) * row_cells);
    std::vector<future> in_flight;
    const auto fetch = [&](int64_t row) {
      in_flight.push_back(ctx.rget(cells.global(torus.cell(first_row + row, 0)),
                                   &here[static_cast<size_t>(row + kHalo) * row_cells], row_cells));
    };
    for (int64_t row = 0; row < kHalo; ++row) {
      fetch(row - kHalo);
      fetch(static_cast<int64_t>(rows) + row);
    }
    std::ranges::copy(cells.local_span(), here.begin() + kHalo * torus.columns);
    wait_all(in_flight);
    const Torus own{static_cast<int64_t>(rows) + 2 * kHalo, torus.columns};
    for (size_t i = 0; i < next.size(); ++i) {
      const int64_t centre = static_cast<int64_t>(i) + kHalo * torus.columns;
      const auto read = [&](size_t number) { return here[cell(own, centre, number)]; };
      next[i] = become(read, std::make_index_sequence<kCells>{});
    }
  }

 private:
  // All cells are read before the first one is used.
  template <typename Read, size_t... kNumber>
  static int32_t become(const Read& read, std::index_sequence<kNumber...>) {
    const auto rule = [](const auto&... cell) { return Rule::next({cell...}); };
    return rule(read(kNumber)...);
  }

  template <size_t... kNumber>
  static void go(Context& ctx, const Cells& cells, const Torus& torus, int64_t first,
                 std::span<int32_t> next, const IndirectOptions& options,
                 std::index_sequence<kNumber...>) {
    for_each_indirect(
        ctx, range(first, first + static_cast<int64_t>(next.size())), options,
        [&](int64_t i, const auto&... cell) {
          next[static_cast<size_t>(i - first)] = Rule::next({cell...});
        },
        read(cells, [torus](int64_t i) { return cell(torus, i, kNumber); })...);
  }
};

template <typename Rule>
Result<experiment::SampleSeries> run_neighbourhoods(Session& session,
                                                    const experiment::Point& point,
                                                    const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const size_t band = size_param(point, kRowsFactor) * size_param(point, kColumnsFactor);
  const Torus torus{static_cast<int64_t>(size_param(point, kRowsFactor)) * ctx.rank_n(),
                    static_cast<int64_t>(size_param(point, kColumnsFactor))};
  STRIPLINE_ASSIGN_OR_RETURN(Cells cells,
                             Cells::create(ctx, band * ctx.rank_n(), block_cyclic<>{band}));
  const auto first = static_cast<int64_t>(cells.index_of(0));
  std::vector<int32_t> next(band);
  KernelParts parts;
  parts.prepare = [&](uint64_t salt) {
    const std::span<int32_t> mine = cells.local_span();
    for (size_t i = 0; i < mine.size(); ++i) {
      mine[i] = Rule::first(hash_of(cells.index_of(i), salt));
    }
  };
  parts.run = [&] {
    using Around = Neighbourhood<Rule>;
    if (point.variant == experiment::variant::kFineRegion) {
      Around::go_in_region(ctx, cells, torus, first, next, fine_options_of(point));
    } else if (point.variant == experiment::variant::kByHand) {
      Around::go_by_hand(ctx, cells, torus, first, next);
    } else {
      Around::go(ctx, cells, torus, first, next, indirect_options_of(point));
    }
    if (Work* const work = ctx.work()) {
      constexpr double kOperations = Rule::kSide * Rule::kSide;
      work->compute(kOperations * static_cast<double>(band), static_cast<double>(4 * band));
    }
  };
  parts.verify = [&](uint64_t salt) {
    for (size_t i = 0; i < band; ++i) {
      std::array<int32_t, Neighbourhood<Rule>::kCells> around{};
      for (size_t number = 0; number < around.size(); ++number) {
        const uint64_t cell =
            Neighbourhood<Rule>::cell(torus, first + static_cast<int64_t>(i), number);
        around[number] = Rule::first(hash_of(cell, salt));
      }
      if (next[i] != Rule::next(around)) return false;
    }
    return true;
  };
  parts.scale = 1 / static_cast<double>(band);
  return measure_indirect(session, rule, parts, cells);
}

std::vector<experiment::Factor> band_factors(int64_t rows, int64_t columns) {
  return {integer_factor(kRowsFactor, "1", "Rows of a rank.", {rows}, 1, 1e6),
          integer_factor(kColumnsFactor, "1", "Columns.", {columns}, 1, 1e6)};
}

}  // namespace

Benchmark sobel_benchmark() {
  return indirect_benchmark(
      {.known = experiment::kernels::kSobel,
       .run = run_neighbourhoods<Edges>,
       .title = "Edges of a picture",
       .description = "Every rank finds the edges in a band of a picture that has neither an upper "
                      "nor a lower end, each of 3 x 3 pixels.",
       .factors = band_factors(64, 256),
       .metric = {"time_per_pixel", "s", true},
       .verification = "All pixels are compared in every repetition."});
}

Benchmark wator_benchmark() {
  return indirect_benchmark({.known = experiment::kernels::kWator,
                             .run = run_neighbourhoods<Sea>,
                             .title = "Predators and prey",
                             .description = "Every rank finds what becomes of a band of a sea with "
                                            "fish and sharks in a step, each cell by 5 x 5 cells.",
                             .factors = band_factors(8, 128),
                             .metric = {"time_per_cell", "s", true},
                             .verification = "All cells are compared in every repetition."});
}

}  // namespace stripline::suites
