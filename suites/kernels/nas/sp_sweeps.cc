#include "suites/kernels/nas/sp_sweeps.h"

#include <cmath>
#include <numbers>

namespace stripline::suites::nas {
namespace {

/// Lines that are worked on together: enough for the divisions of one pair to hide behind the
/// others, few enough for their state to stay in the first-level cache.
constexpr size_t kMaxLines = 16;
constexpr size_t kMaxPairs = kMaxLines / 2;

constexpr double kHalfRoot = std::numbers::sqrt2 / 2;

/// The one of the matrices (v, v + c, v - c) that an equation has.
constexpr size_t matrix_of(size_t equation) { return equation < 3 ? 0 : equation - 2; }

/// A row after its elimination.
struct Row {
  LinePair upper[3][2];
  LinePair right[kComponents];
};

/// What the matrices are made of at a point.
struct Speeds {
  LinePair flow;
  LinePair sound;
  LinePair diffusion;
};

template <int kAxis>
Speeds speeds_at(const double* first, const double* second) {
  // The largest of the viscous terms' eigenvalues: c1 c5 exceeds 4/3 and 1.
  return {.flow = load_pair(first + 1 + kAxis, second + 1 + kAxis),
          .sound = load_pair(first + 4, second + 4),
          .diffusion = kDiffusion[kAxis] + kC1C5 * kC3C4 * load_pair(first, second)};
}

/// From the eigenvectors of an axis into those of the next one.
template <int kAxis>
void into_next_basis(LinePair* r) {
  static_assert(kAxis < 2);
  const LinePair turned = kHalfRoot * r[kAxis == 0 ? 2 : 0];
  const LinePair mean = 0.5 * (r[3] + r[4]);
  const LinePair half = kHalfRoot * (r[3] - r[4]);
  if constexpr (kAxis == 0) {
    const LinePair r0 = r[0];
    r[0] = -r[1];
    r[1] = r0;
    r[2] = half;
  } else {
    const LinePair r1 = r[1];
    r[0] = half;
    r[1] = -r[2];
    r[2] = r1;
  }
  r[3] = mean - turned;
  r[4] = mean + turned;
}

/// From the eigenvectors of the z axis into density, momenta and energy.
void into_components(LinePair* r, LinePair density, const double* first, const double* second) {
  const LinePair vx = load_pair(first + 1, second + 1);
  const LinePair vy = load_pair(first + 2, second + 2);
  const LinePair vz = load_pair(first + 3, second + 3);
  const LinePair sound = load_pair(first + 4, second + 4);
  const LinePair half_square = 0.5 * (vx * vx + vy * vy + vz * vz);

  const LinePair scaled = kHalfRoot * density;
  const LinePair acoustic = scaled / sound * (r[3] + r[4]);
  const LinePair mass = r[2] + acoustic;
  const LinePair along = scaled * (r[3] - r[4]);
  const LinePair x = density * r[1];
  const LinePair y = density * r[0];
  r[0] = mass;
  r[1] = vx * mass - x;
  r[2] = vy * mass + y;
  r[3] = vz * mass + along;
  r[4] = vy * y - vx * x + half_square * mass + (1 / kC2) * (sound * sound) * acoustic + vz * along;
}

}  // namespace

SpSweeps::SpSweeps(AdiShare& share)
    : share_(share),
      derived_(share.layout().points() * kDerived),
      upper_(share.layout().points() * kUpper) {}

void SpSweeps::prepare(int c) {
  const AdiLayout& layout = share_.layout();
  const AdiCell& cell = layout.partition().cell(c);
  for (int k = -1; k <= cell.size[2]; ++k) {
    for (int j = -1; j <= cell.size[1]; ++j) {
      size_t point = layout.point(c, -1, j, k);
      for (int i = -1; i <= cell.size[0]; ++i, ++point) {
        const double* const u = share_.u(point);
        double* const derived = derived_.data() + point * kDerived;
        const double inverse = 1 / u[0];
        const double kinetic = 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) * inverse;
        derived[0] = inverse;
        for (size_t m = 1; m < 4; ++m) derived[m] = u[m] * inverse;
        derived[4] = std::sqrt(kC1C2 * inverse * (u[4] - kinetic));
      }
    }
  }
  const AdiLines lines = layout.lines(c, 0);
  lines.for_each_block(0, lines.lines, 1, [&](size_t first, size_t, size_t) {
    for (size_t point = first; point < first + static_cast<size_t>(lines.points); ++point) {
      double* const r = share_.rhs_at(point);
      const double* const derived = derived_at(point);
      const double inverse = derived[0];
      const double vx = derived[1];
      const double vy = derived[2];
      const double vz = derived[3];
      const double sound = derived[4];
      const double half_square = 0.5 * (vx * vx + vy * vy + vz * vz);
      const double scaled = kHalfRoot * inverse;
      const double pressure =
          kC2 / (sound * sound) * (half_square * r[0] - vx * r[1] - vy * r[2] - vz * r[3] + r[4]);
      const double along = scaled * (vx * r[0] - r[1]);
      const double acoustic = scaled * sound * pressure;
      const double mass = r[0];
      r[0] = mass - pressure;
      r[1] = inverse * (r[3] - vz * mass);
      r[2] = inverse * (vy * mass - r[2]);
      r[3] = acoustic - along;
      r[4] = acoustic + along;
    }
  });
  share_.did(lines.lines * static_cast<size_t>(lines.points), 60, 160);
}

template <int kAxis>
void SpSweeps::eliminate_block(const LineBlock& block, const double* received, double* results) {
  struct State {
    Row rows[2];  // of the last two points, that of point n at n % 2
    Speeds before;
    Speeds here;
  };
  const AdiScales& scales = share_.scales();
  const double fourth = scales.fourth;
  const ptrdiff_t along = block.lines.along;
  const int grid_points = share_.layout().partition().points();

  State states[kMaxPairs] = {};
  for (size_t q = 0; q < block.pairs(); ++q) {
    State& state = states[q];
    const size_t one = block.first_line(q);
    const size_t two = block.second_line(q);
    if (received != nullptr) {
      const double* first = received + one * kWidths.forward;
      const double* second = received + two * kWidths.forward;
      for (Row& row : state.rows) {
        for (auto& matrix : row.upper) {
          for (LinePair& upper : matrix) upper = load_pair(first++, second++);
        }
        for (LinePair& right : row.right) right = load_pair(first++, second++);
      }
    }
    state.before = speeds_at<kAxis>(derived_at(block.at(one, -1)), derived_at(block.at(two, -1)));
    state.here = speeds_at<kAxis>(derived_at(block.at(one, 0)), derived_at(block.at(two, 0)));
  }

  for (int n = 0; n < block.lines.points; ++n) {
    const int at = block.lines.first_point + n;
    const double own = (at == 1 || at == grid_points - 2 ? 5 : 6) * fourth;
    for (size_t q = 0; q < block.pairs(); ++q) {
      State& state = states[q];
      const size_t first = block.at(block.first_line(q), n);
      const size_t second = block.at(block.second_line(q), n);
      const Speeds next = speeds_at<kAxis>(derived_at(first + static_cast<size_t>(along)),
                                           derived_at(second + static_cast<size_t>(along)));
      const LinePair low =
          -scales.first * state.before.flow - scales.second * state.before.diffusion - 4 * fourth;
      const LinePair middle = 1 + 2 * scales.second * state.here.diffusion + own;
      const LinePair high = scales.first * next.flow - scales.second * next.diffusion - 4 * fourth;
      const LinePair low_sound = scales.first * state.before.sound;
      const LinePair high_sound = scales.first * next.sound;
      const LinePair lows[kMatrices] = {low, low - low_sound, low + low_sound};
      const LinePair highs[kMatrices] = {high, high + high_sound, high - high_sound};

      const Row& last = state.rows[(n + 1) % 2];
      Row& row = state.rows[n % 2];  // that of the point before the last, until it is replaced
      LinePair factor[kMatrices];
      LinePair pivot[kMatrices];
      double* const upper_first = upper_at(first);
      double* const upper_second = upper_at(second);
      for (size_t f = 0; f < kMatrices; ++f) {
        factor[f] = lows[f] - fourth * row.upper[f][0];
        pivot[f] = 1 / (middle - fourth * row.upper[f][1] - factor[f] * last.upper[f][0]);
        row.upper[f][0] = (highs[f] - factor[f] * last.upper[f][1]) * pivot[f];
        row.upper[f][1] = fourth * pivot[f];
        store_pair(row.upper[f][0], upper_first + 2 * f, upper_second + 2 * f);
        store_pair(row.upper[f][1], upper_first + 2 * f + 1, upper_second + 2 * f + 1);
      }
      double* const right_first = share_.rhs_at(first);
      double* const right_second = share_.rhs_at(second);
      for (size_t m = 0; m < kComponents; ++m) {
        const size_t f = matrix_of(m);
        const LinePair right = load_pair(right_first + m, right_second + m);
        row.right[m] = (right - fourth * row.right[m] - factor[f] * last.right[m]) * pivot[f];
        store_pair(row.right[m], right_first + m, right_second + m);
      }
      state.before = state.here;
      state.here = next;
    }
  }

  if (results == nullptr) return;
  for (size_t q = 0; q < block.pairs(); ++q) {
    double* first = results + block.first_line(q) * kWidths.forward;
    double* second = results + block.second_line(q) * kWidths.forward;
    for (const int n : {block.lines.points - 2, block.lines.points - 1}) {
      const Row& row = states[q].rows[n % 2];
      for (const auto& matrix : row.upper) {
        for (const LinePair& upper : matrix) store_pair(upper, first++, second++);
      }
      for (const LinePair& right : row.right) store_pair(right, first++, second++);
    }
  }
}

template <int kAxis>
void SpSweeps::substitute_block(const LineBlock& block, const double* received, double* results) {
  struct State {
    LinePair solution[2][kComponents];  // of the last two points, that of point n at n % 2
  };
  State states[kMaxPairs] = {};
  if (received != nullptr) {
    for (size_t q = 0; q < block.pairs(); ++q) {
      const double* first = received + block.first_line(q) * kWidths.backward;
      const double* second = received + block.second_line(q) * kWidths.backward;
      for (const int n : {block.lines.points, block.lines.points + 1}) {
        for (LinePair& x : states[q].solution[n % 2]) x = load_pair(first++, second++);
      }
    }
  }

  for (int n = block.lines.points - 1; n >= 0; --n) {
    for (size_t q = 0; q < block.pairs(); ++q) {
      const size_t first = block.at(block.first_line(q), n);
      const size_t second = block.at(block.second_line(q), n);
      const double* const upper_first = upper_at(first);
      const double* const upper_second = upper_at(second);
      double* const right_first = share_.rhs_at(first);
      double* const right_second = share_.rhs_at(second);
      const LinePair* const next = states[q].solution[(n + 1) % 2];
      LinePair* const solution = states[q].solution[n % 2];
      LinePair turned[kComponents];
      for (size_t m = 0; m < kComponents; ++m) {
        const size_t f = 2 * matrix_of(m);
        solution[m] = load_pair(right_first + m, right_second + m) -
                      load_pair(upper_first + f, upper_second + f) * next[m] -
                      load_pair(upper_first + f + 1, upper_second + f + 1) * solution[m];
        turned[m] = solution[m];
      }
      if constexpr (kAxis < 2) {
        into_next_basis<kAxis>(turned);
      } else {
        into_components(turned, load_pair(share_.u(first), share_.u(second)), derived_at(first),
                        derived_at(second));
      }
      for (size_t m = 0; m < kComponents; ++m) {
        store_pair(turned[m], right_first + m, right_second + m);
      }
    }
  }

  if (results == nullptr) return;
  for (size_t q = 0; q < block.pairs(); ++q) {
    double* first = results + block.first_line(q) * kWidths.backward;
    double* second = results + block.second_line(q) * kWidths.backward;
    for (const auto& solution : states[q].solution) {
      for (const LinePair& x : solution) store_pair(x, first++, second++);
    }
  }
}

void SpSweeps::eliminate(int axis, int cell, size_t begin, size_t end, const double* received,
                         double* results) {
  for_each_line_block(share_.layout(), axis, cell, begin, end, kMaxLines, kWidths.forward, received,
                      results,
                      [this](auto along, const auto& block, const double* in, double* out) {
                        eliminate_block<along()>(block, in, out);
                      });
  // Most of the 900 operations for a point and time step that are published are these.
  share_.did(share_.points_of_lines(axis, cell, begin, end), 110, 170);
}

void SpSweeps::back_substitute(int axis, int cell, size_t begin, size_t end, const double* received,
                               double* results) {
  for_each_line_block(share_.layout(), axis, cell, begin, end, kMaxLines, kWidths.backward,
                      received, results,
                      [this](auto along, const auto& block, const double* in, double* out) {
                        substitute_block<along()>(block, in, out);
                      });
  share_.did(share_.points_of_lines(axis, cell, begin, end), 60, 130);
}

}  // namespace stripline::suites::nas
