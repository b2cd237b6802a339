#include "suites/kernels/nas/adi_layout.h"

#include <utility>

namespace stripline::suites::nas {
namespace {

// Places that different ranks write are not to share cache lines.
constexpr size_t kLineDoubles = 8;

size_t whole_cache_lines(size_t doubles) {
  return (doubles + kLineDoubles - 1) / kLineDoubles * kLineDoubles;
}

/// The axes across `axis`, the lower one first.
std::pair<int, int> across(int axis) { return {axis == 0 ? 1 : 0, axis == 2 ? 1 : 2}; }

size_t index(int axis) { return static_cast<size_t>(axis); }

}  // namespace

AdiLayout::AdiLayout(const AdiPartition& partition, AdiWidths widths)
    : partition_(partition),
      widths_(widths),
      pitch_(partition.slice_points(0) + 2 * kGhosts),
      cell_points_(static_cast<size_t>(pitch_) * static_cast<size_t>(pitch_) *
                   static_cast<size_t>(pitch_)),
      max_lines_(static_cast<size_t>(partition.slice_points(0)) *
                 static_cast<size_t>(partition.slice_points(0))),
      boundary_doubles_(2 * whole_cache_lines(max_lines_ * widths.forward) +
                        2 * whole_cache_lines(max_lines_ * widths.backward)),
      shared_doubles_(sweep_place(3, 0, 0)) {}

std::vector<AdiFace> AdiLayout::faces() const {
  std::vector<AdiFace> result;
  const auto p = static_cast<size_t>(pitch_) * kComponents;
  for (int c = 0; c < partition_.cells_per_axis(); ++c) {
    const AdiCell& cell = partition_.cell(c);
    for (int axis = 0; axis < 3; ++axis) {
      for (const Side side : {Side::low, Side::high}) {
        if (!partition_.has_neighbour(cell, axis, side)) continue;
        const bool low = side == Side::low;
        std::array<int, 3> theirs_at = cell.at;
        theirs_at[index(axis)] += low ? -1 : 1;
        // Their cell has the sizes of ours but along the axis.
        std::array<int, 3> from{};
        std::array<int, 3> to{};
        from[index(axis)] = low ? partition_.slice_points(theirs_at[index(axis)]) - kGhosts : 0;
        to[index(axis)] = low ? -kGhosts : cell.size[index(axis)];

        AdiFace face{
            .cell = c, .axis = axis, .side = side, .peer = partition_.neighbour(axis, side)};
        face.target.begin = point(c, to[0], to[1], to[2]) * kComponents;
        // The index of a cell is its place along z, at every rank.
        face.source.begin = point(theirs_at[2], from[0], from[1], from[2]) * kComponents;
        const auto points = [&](int a) {
          return static_cast<size_t>(a == axis ? kGhosts : cell.size[index(a)]);
        };
        face.target.run = points(0) * kComponents;
        // Pieces never divide the two layers: rows follow layers across z.
        face.target.count =
            axis == 2 ? std::array{points(2), points(1)} : std::array{points(1), points(2)};
        face.target.stride = axis == 2 ? std::array{p * static_cast<size_t>(pitch_), p}
                                       : std::array{p, p * static_cast<size_t>(pitch_)};
        const size_t source = face.source.begin;
        face.source = face.target;
        face.source.begin = source;
        result.push_back(face);
      }
    }
  }
  return result;
}

AdiLines AdiLayout::lines(int c, int axis) const {
  const AdiCell& cell = partition_.cell(c);
  const auto [a, b] = across(axis);
  std::array<int, 3> begin{};
  std::array<int, 3> count{};
  for (int d = 0; d < 3; ++d) {
    begin[index(d)] = partition_.interior_begin(cell, d);
    count[index(d)] = partition_.interior_end(cell, d) - begin[index(d)];
  }
  return {.first = point(c, begin[0], begin[1], begin[2]),
          .along = stride(axis),
          .next_a = stride(a),
          .next_b = stride(b),
          .points = count[index(axis)],
          .first_point = cell.low[index(axis)] + begin[index(axis)],
          .across = static_cast<size_t>(count[index(a)]),
          .lines = static_cast<size_t>(count[index(a)]) * static_cast<size_t>(count[index(b)])};
}

size_t AdiLayout::sweep_place(int axis, int boundary, size_t within) const {
  const size_t u = whole_cache_lines(points() * kComponents);
  const auto boundaries = static_cast<size_t>(partition_.cells_per_axis() - 1);
  return u + (index(axis) * boundaries + static_cast<size_t>(boundary)) * boundary_doubles_ +
         within;
}

AdiSweepStep AdiLayout::forward(int axis, int stage) const {
  const int cell = partition_.cell_in_slice(axis, stage);
  const size_t out = whole_cache_lines(max_lines_ * widths_.forward);
  AdiSweepStep step{.axis = axis,
                    .forward = true,
                    .stage = stage,
                    .cell = cell,
                    .lines = lines(cell, axis).lines,
                    .width = widths_.forward};
  if (stage != 0) {
    step.receives = true;
    step.from = partition_.neighbour(axis, Side::low);
    step.in = sweep_place(axis, stage - 1, 0);
    step.from_out = sweep_place(axis, stage - 1, out);
  }
  if (stage != partition_.cells_per_axis() - 1) {
    step.sends = true;
    step.to = partition_.neighbour(axis, Side::high);
    step.out = sweep_place(axis, stage, out);
    step.to_in = sweep_place(axis, stage, 0);
  }
  return step;
}

AdiSweepStep AdiLayout::backward(int axis, int stage) const {
  const int cell = partition_.cell_in_slice(axis, stage);
  const size_t in = 2 * whole_cache_lines(max_lines_ * widths_.forward);
  const size_t out = in + whole_cache_lines(max_lines_ * widths_.backward);
  AdiSweepStep step{.axis = axis,
                    .forward = false,
                    .stage = stage,
                    .cell = cell,
                    .lines = lines(cell, axis).lines,
                    .width = widths_.backward};
  if (stage != partition_.cells_per_axis() - 1) {
    step.receives = true;
    step.from = partition_.neighbour(axis, Side::high);
    step.in = sweep_place(axis, stage, in);
    step.from_out = sweep_place(axis, stage, out);
  }
  if (stage != 0) {
    step.sends = true;
    step.to = partition_.neighbour(axis, Side::low);
    step.out = sweep_place(axis, stage - 1, out);
    step.to_in = sweep_place(axis, stage - 1, in);
  }
  return step;
}

}  // namespace stripline::suites::nas
