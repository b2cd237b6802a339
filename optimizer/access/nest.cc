#include "optimizer/access/nest.h"

#include <algorithm>
#include <cstdlib>

#include "optimizer/access/sort_few.h"

namespace stripline::access {
namespace {

// Steps of the search for iterations that touch the same element.
constexpr int kMostSteps = 512;

// All bytes of a reference over the iterations of the loops from `first` on, `granule` of that of
// the cut if it is among them.
Lmad bytes_of(const Nest& nest, const Reference& reference, uint32_t first) {
  Lmad lmad{.base = reference.base, .run_bytes = reference.element_bytes};
  for (uint32_t loop = first; loop < nest.depth; ++loop) {
    lmad.add({reference.stride_bytes[loop], nest.counts[loop]});
  }
  return canonical(lmad);
}

// What does not change from one iteration of a loop to the next is kept for all of them. A tile is
// within one piece.
uint32_t hold_of(const Nest& nest, const Reference& reference, const Cut& cut) {
  for (uint32_t loop = reference.in_pieces() ? reference.piece_loop + 1 : 0; loop <= cut.loop;
       ++loop) {
    if (nest.counts[loop] > 1 && reference.stride_bytes[loop] == 0) return loop;
  }
  return cut.loop + 1;
}

Lmad tile_of(const Nest& nest, const Reference& reference, const Cut& cut, uint32_t hold) {
  if (hold <= cut.loop) return bytes_of(nest, reference, hold);
  Lmad lmad{.base = reference.base, .run_bytes = reference.element_bytes};
  lmad.add({reference.stride_bytes[cut.loop], std::min(cut.granule, nest.counts[cut.loop])});
  for (uint32_t loop = cut.loop + 1; loop < nest.depth; ++loop) {
    lmad.add({reference.stride_bytes[loop], nest.counts[loop]});
  }
  return canonical(lmad);
}

bool same_array(const Reference& a, const Reference& b) {
  if (a.in_pieces() || b.in_pieces()) {
    return a.pieces.data() == b.pieces.data() && a.piece_loop == b.piece_loop;
  }
  return a.owner == b.owner;
}

bool same_strides(const Nest& nest, const Reference& a, const Reference& b) {
  for (uint32_t loop = 0; loop < nest.depth; ++loop) {
    if (nest.counts[loop] > 1 && a.stride_bytes[loop] != b.stride_bytes[loop]) return false;
  }
  return true;
}

// What the addresses of a reference's elements are known to be multiples of, from where the first
// one is: at least the alignment of their type, which divides their size and their strides.
uint64_t alignment_of(const Nest& nest, const Reference& reference) {
  uint64_t bits = reference.element_bytes;
  for (uint32_t loop = 0; loop < nest.depth; ++loop) {
    if (nest.counts[loop] > 1) bits |= static_cast<uint64_t>(reference.stride_bytes[loop]);
  }
  return bits & (~bits + 1);
}

// True if the elements of both are where their types may be in a buffer that holds what both touch
// without gaps: a double and an int of each structure of an array are not.
bool may_share_buffer(const Nest& nest, const Reference& a, const Reference& b) {
  const uint64_t alignment = alignment_of(nest, a);
  const auto distance = static_cast<uint64_t>(b.base) - static_cast<uint64_t>(a.base);
  return alignment_of(nest, b) == alignment && distance % alignment == 0;
}

// Looks for two iterations in which references of equal strides touch the same bytes, where the
// second reference's iteration is an earlier one. distance: how far the first one begins behind the
// second.
class EarlierIteration {
 public:
  EarlierIteration(const Nest& nest, const Reference& first, const Reference& second)
      : nest_(nest),
        strides_(first.stride_bytes),
        low_(first.base - second.base - static_cast<int64_t>(second.element_bytes) + 1),
        high_(first.base - second.base + static_cast<int64_t>(first.element_bytes) - 1) {
    for (uint32_t loop = nest.depth; loop-- > 0;) {
      const auto most = static_cast<int64_t>(nest.counts[loop] - 1);
      reach_[loop] = reach_[loop + 1] + std::abs(strides_[loop]) * most;
    }
  }

  /// overlapping: there are such iterations.
  Overlap search() {
    if (found(0, 0, false)) return Overlap::overlapping;
    return steps_ > kMostSteps ? Overlap::unknown : Overlap::disjoint;
  }

 private:
  // The distance of iterations is chosen loop by loop, the outermost first; it is that of an
  // earlier iteration if the first loop that differs says so.
  bool found(uint32_t loop, int64_t sum, bool earlier) {
    if (sum > high_ + reach_[loop] || sum < low_ - reach_[loop]) return false;
    if (loop == nest_.depth) return earlier;
    const int64_t stride = strides_[loop];
    auto least = -static_cast<int64_t>(nest_.counts[loop] - 1);
    int64_t most = earlier ? -least : 0;
    if (stride == 0) {
      // Any distance does; one step back is as good as many.
      if (++steps_ > kMostSteps) return false;
      return found(loop + 1, sum, earlier || least < 0) || found(loop + 1, sum, earlier);
    }
    // Only distances from which the inner loops can get into the window.
    const int64_t a = (low_ - reach_[loop + 1] - sum) / stride;
    const int64_t b = (high_ + reach_[loop + 1] - sum) / stride;
    least = std::max(least, std::min(a, b) - 1);
    most = std::min(most, std::max(a, b) + 1);
    for (int64_t distance = least; distance <= most; ++distance) {
      if (++steps_ > kMostSteps) return false;
      if (found(loop + 1, sum + distance * stride, earlier || distance < 0)) return true;
    }
    return false;
  }

  const Nest& nest_;
  const std::array<int64_t, kMaxDepth>& strides_;
  int64_t low_;
  int64_t high_;
  std::array<int64_t, kMaxDepth + 1> reach_{};
  int steps_ = 0;
};

// True if no two tiles of a group share bytes: each dimension, of the tile and of the loops that
// move it, steps over all that lies within. Pieces are distinct (dependence_of()).
bool tiles_are_distinct(const Nest& nest, const Cut& cut, const Group& group) {
  std::array<Dimension, kMaxDimensions + kMaxDepth> dims{};
  size_t count = 0;
  for (size_t k = 0; k < group.tile.dims.size(); ++k) dims[count++] = group.tile.dims[k];
  const Reference& reference = nest.reference[group.member[0]];
  for (uint32_t loop = 0; loop < group.hold; ++loop) {
    if (reference.in_pieces() && loop == reference.piece_loop) continue;
    const bool cut_here = loop == cut.loop;
    const uint64_t granule = cut_here ? std::min(cut.granule, nest.counts[loop]) : 1;
    const uint64_t steps = (nest.counts[loop] + granule - 1) / granule;
    if (steps < 2) continue;
    dims[count++] = {std::abs(group.stride_bytes[loop]) * static_cast<int64_t>(granule), steps};
  }
  detail::sort_few(std::span(dims).first(count), [](const Dimension& one, const Dimension& other) {
    return one.stride_bytes < other.stride_bytes;
  });
  auto within = static_cast<int64_t>(group.tile.run_bytes);
  for (size_t k = 0; k < count; ++k) {
    if (dims[k].stride_bytes < within) return false;
    within += dims[k].span_bytes();
  }
  return true;
}

// Where a byte of the tile, `distance` behind its first one, is in the packed buffer.
int64_t place_of(const Lmad& tile, int64_t distance) {
  std::array<int64_t, kMaxDimensions> buffer_stride{};
  auto packed = static_cast<int64_t>(tile.run_bytes);
  for (size_t k = 0; k < tile.dims.size(); ++k) {
    buffer_stride[k] = packed;
    packed *= static_cast<int64_t>(tile.dims[k].count);
  }
  int64_t place = 0;
  for (size_t k = tile.dims.size(); k-- > 0;) {
    const int64_t index = std::min(distance / tile.dims[k].stride_bytes,
                                   static_cast<int64_t>(tile.dims[k].count - 1));
    distance -= index * tile.dims[k].stride_bytes;
    place += index * buffer_stride[k];
  }
  return place + distance;
}

// Fills in where members find their elements. False if that is no linear function of the iteration.
bool lay_out(const Nest& nest, const Cut& cut, Group& group) {
  const auto count_of = [&](uint32_t loop) {
    const bool cut_here = loop == cut.loop && group.hold > cut.loop;
    return cut_here ? std::min(cut.granule, nest.counts[loop]) : nest.counts[loop];
  };
  const auto first_loop = std::min(group.hold, cut.loop);
  const Reference& one = nest.reference[group.member[0]];
  for (uint32_t loop = first_loop; loop < nest.depth; ++loop) {
    const int64_t stride = one.stride_bytes[loop];
    if (count_of(loop) < 2) continue;
    const int64_t place = place_of(group.tile, std::abs(stride));
    group.buffer_stride_bytes[loop] = stride < 0 ? -place : place;
  }
  for (uint32_t m = 0; m < group.members; ++m) {
    const Reference& reference = nest.reference[group.member[m]];
    group.buffer_offset[m] = place_of(group.tile, reference.base - group.tile.base);
    // The corner that is farthest from the tile's first byte; what adds up there without a carry
    // does so everywhere.
    int64_t distance = reference.base - group.tile.base;
    int64_t place = group.buffer_offset[m];
    for (uint32_t loop = first_loop; loop < nest.depth; ++loop) {
      if (reference.stride_bytes[loop] <= 0 || count_of(loop) < 2) continue;
      const auto steps = static_cast<int64_t>(count_of(loop) - 1);
      distance += reference.stride_bytes[loop] * steps;
      place += group.buffer_stride_bytes[loop] * steps;
    }
    if (place_of(group.tile, distance) != place) return false;
  }
  return true;
}

}  // namespace

bool Nest::add_loop(uint64_t count) {
  if (depth == kMaxDepth) return false;
  counts[depth++] = count;
  return true;
}

bool Nest::add(const Reference& added) {
  if (references() == kMaxReferences) return false;
  reference.emplace_back(added);
  return true;
}

uint32_t outermost_cut(const Nest& nest) {
  uint32_t loop = 0;
  for (const Reference& reference : nest.reference) {
    if (reference.in_pieces()) loop = std::max(loop, reference.piece_loop);
  }
  return loop;
}

bool within_pieces(const Nest& nest, const Cut& cut) {
  for (const Reference& reference : nest.reference) {
    if (!reference.in_pieces()) continue;
    if (cut.loop < reference.piece_loop) return false;
    if (cut.loop == reference.piece_loop && cut.granule > 1) return false;
  }
  return true;
}

const char* to_string(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::dependence:
      return "dependence";
    case Obstacle::overwritten:
      return "overwritten";
    case Obstacle::unknown:
      return "unknown";
    case Obstacle::entangled:
      return "entangled";
    case Obstacle::scattered:
      return "scattered";
  }
  return "?";
}

std::string Failure::text() const {
  const std::string one = "reference " + std::to_string(reference);
  const std::string two = "reference " + std::to_string(other);
  switch (obstacle) {
    case Obstacle::dependence:
      return one + " may read what " + two + " has written in an earlier iteration";
    case Obstacle::overwritten:
      return reference == other ? one + " may write the same bytes in several steps"
                                : one + " and " + two + " may write the same bytes";
    case Obstacle::unknown:
      return "whether " + one + " and " + two + " touch the same bytes is not known";
    case Obstacle::entangled:
      return "the elements of " + one + " overlap each other irregularly";
    case Obstacle::scattered:
      return "a step would be in several pieces of " + one;
  }
  return "?";
}

namespace {

// Pairs of pieces that are looked at.
constexpr uint64_t kMostPairs = uint64_t{1} << 16;

// A reference is in this many segments, or places of one.
uint64_t pieces_of(const Nest& nest, const Reference& reference) {
  return reference.in_pieces() ? nest.counts[reference.piece_loop] : 1;
}

// All that a reference touches in one piece.
Reference in_piece(const Reference& reference, uint64_t piece) {
  if (!reference.in_pieces()) return reference;
  Reference one = reference;
  one.pieces = {};
  one.owner = reference.pieces[piece].owner;
  one.base += reference.pieces[piece].base +
              reference.stride_bytes[reference.piece_loop] * static_cast<int64_t>(piece);
  one.stride_bytes[reference.piece_loop] = 0;
  return one;
}

// True if pieces all have owners of their own, as far as a look at each tells: increasing ones, as
// 2, 3, 0, 1.
bool owners_are_distinct(std::span<const Piece> pieces) {
  size_t falls = 0;
  for (size_t k = 1; k < pieces.size(); ++k) {
    if (pieces[k].owner == pieces[k - 1].owner) return false;
    falls += pieces[k].owner < pieces[k - 1].owner ? 1 : 0;
  }
  return falls == 0 || (falls == 1 && pieces.back().owner < pieces.front().owner);
}

// Tells whether two references, both in one place, touch the same bytes in an order that matters.
std::optional<Obstacle> order_of(const Nest& nest, const Reference& a, const Reference& b,
                                 bool same_iterations) {
  if (a.owner != b.owner) return std::nullopt;
  switch (overlap(bytes_of(nest, a, 0), bytes_of(nest, b, 0))) {
    case Overlap::disjoint:
      return std::nullopt;
    case Overlap::unknown:
      return Obstacle::unknown;
    case Overlap::overlapping:
      break;
  }
  if (writes(a.mode) && writes(b.mode)) return Obstacle::overwritten;
  const Reference& reader = writes(a.mode) ? b : a;
  const Reference& writer = writes(a.mode) ? a : b;
  // Elements that are read before they are written, in the same iteration or an earlier one, are
  // fetched before they are stored.
  if (same_iterations && writer.mode == Mode::write && same_strides(nest, a, b)) {
    switch (EarlierIteration(nest, reader, writer).search()) {
      case Overlap::disjoint:
        return std::nullopt;
      case Overlap::unknown:
        return Obstacle::unknown;
      case Overlap::overlapping:
        break;
    }
  }
  return Obstacle::dependence;
}

Failure failure_of(const Nest& nest, Obstacle obstacle, uint32_t first, uint32_t second) {
  const bool reader_first = !writes(nest.reference[first].mode);
  if (obstacle != Obstacle::dependence || reader_first) return {obstacle, first, second};
  return {obstacle, second, first};
}

// Tells whether one of the two writes where the other reads or writes, other than in a good order.
std::optional<Failure> conflict_of(const Nest& nest, uint32_t first, uint32_t second) {
  const Reference& a = nest.reference[first];
  const Reference& b = nest.reference[second];
  if (!writes(a.mode) && !writes(b.mode)) return std::nullopt;
  if (!a.in_pieces() && !b.in_pieces()) {
    const auto obstacle = order_of(nest, a, b, true);
    if (obstacle) return failure_of(nest, *obstacle, first, second);
    return std::nullopt;
  }
  // Iterations of different pieces are different ones; those of the same piece may be the same.
  const bool same = same_array(a, b);
  const bool own_only = same && owners_are_distinct(a.pieces.first(pieces_of(nest, a)));
  const uint64_t of_a = pieces_of(nest, a);
  const uint64_t of_b = pieces_of(nest, b);
  if (!own_only && of_a * of_b > kMostPairs) return Failure{Obstacle::unknown, first, second};
  Nest of_piece = nest;
  if (same) of_piece.counts[a.piece_loop] = 1;
  for (uint64_t i = 0; i < of_a; ++i) {
    const Reference one = in_piece(a, i);
    for (uint64_t j = own_only ? i : 0; j < (own_only ? i + 1 : of_b); ++j) {
      const auto obstacle = order_of(of_piece, one, in_piece(b, j), same && i == j);
      if (obstacle) return failure_of(nest, *obstacle, first, second);
    }
  }
  return std::nullopt;
}

// Tells whether two pieces of an array that is written may share bytes.
std::optional<Failure> own_conflict(const Nest& nest, uint32_t r) {
  const Reference& reference = nest.reference[r];
  if (!reference.in_pieces() || !writes(reference.mode)) return std::nullopt;
  const uint64_t count = pieces_of(nest, reference);
  if (owners_are_distinct(reference.pieces.first(count))) return std::nullopt;
  if (count * count > kMostPairs) return Failure{Obstacle::unknown, r, r};
  for (uint64_t i = 0; i < count; ++i) {
    const Reference one = in_piece(reference, i);
    for (uint64_t j = i + 1; j < count; ++j) {
      const auto obstacle = order_of(nest, one, in_piece(reference, j), false);
      if (obstacle) return Failure{*obstacle, r, r};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Failure> dependence_of(const Nest& nest) {
  for (uint32_t first = 0; first < nest.references(); ++first) {
    if (const auto conflict = own_conflict(nest, first)) return conflict;
    for (uint32_t second = first + 1; second < nest.references(); ++second) {
      if (const auto conflict = conflict_of(nest, first, second)) return conflict;
    }
  }
  return std::nullopt;
}

std::variant<Tiling, Failure> tile(const Nest& nest, const Cut& cut) {
  Tiling tiling;
  for (uint32_t r = 0; r < nest.references(); ++r) {
    const Reference& reference = nest.reference[r];
    if (reference.in_pieces() && !within_pieces(nest, cut)) {
      return Failure{Obstacle::scattered, r, r};
    }
    const uint32_t hold = hold_of(nest, reference, cut);
    const Lmad bytes = tile_of(nest, reference, cut, hold);
    Group* group = nullptr;
    for (uint32_t g = 0; g < tiling.groups() && group == nullptr; ++g) {
      Group& candidate = tiling.group[g];
      const Reference& other = nest.reference[candidate.member[0]];
      if (candidate.mode != reference.mode || candidate.hold != hold ||
          !same_array(other, reference) || !same_strides(nest, other, reference) ||
          !may_share_buffer(nest, other, reference)) {
        continue;
      }
      if (const auto merged = unite(candidate.tile, bytes)) {
        candidate.tile = merged->lmad;
        group = &candidate;
      }
    }
    if (group == nullptr) {
      group = &tiling.group.emplace_back();
      group->mode = reference.mode;
      group->hold = hold;
      group->tile = bytes;
      for (uint32_t loop = 0; loop < hold; ++loop) {
        group->stride_bytes[loop] = reference.stride_bytes[loop];
      }
    }
    group->member[group->members++] = static_cast<uint8_t>(r);
  }
  for (uint32_t g = 0; g < tiling.groups(); ++g) {
    Group& group = tiling.group[g];
    const uint32_t first = group.member[0];
    if (!runs_are_distinct(group.tile) || !lay_out(nest, cut, group)) {
      return Failure{Obstacle::entangled, first, first};
    }
    if (writes(group.mode) && !tiles_are_distinct(nest, cut, group)) {
      return Failure{Obstacle::overwritten, first, first};
    }
  }
  return tiling;
}

}  // namespace stripline::access
