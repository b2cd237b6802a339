// What a loop nest does to remote memory, and how it falls into tiles: the part of Iancu et al.'s
// run-time analysis that knows nothing of costs (section 4).
//
// A nest has loops of known counts, the outermost first, and references: elements of some rank's
// segment whose offset is affine in the iteration numbers. It is *cut* at one loop: a step is
// `granule` iterations of that loop, with the loops around it fixed and those inside of it whole.
// For each step the nest needs some bytes of each reference. References that are alike, a[i] and
// a[i + 1], share them; what does not change from step to step is fetched once and held. tile()
// works that out, or says why a nest cannot be cut so: then the program makes its accesses one by
// one.
//
// Values; no allocation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "optimizer/access/few.h"
#include "optimizer/access/lmad.h"

namespace stripline::access {

inline constexpr size_t kMaxDepth = 6;
inline constexpr size_t kMaxReferences = 12;

enum class Mode : uint8_t {
  read,
  write,   ///< every iteration sets its element, whose old value does not matter
  update,  ///< reads and sets it
};
constexpr bool reads(Mode mode) { return mode != Mode::write; }
constexpr bool writes(Mode mode) { return mode != Mode::read; }

/// A part of a distributed array.
struct Piece {
  uint32_t owner = 0;  ///< rank whose segment it is in
  int64_t base = 0;    ///< offset in the segment
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// An access in the body, once per iteration.
struct Reference {
  Mode mode = Mode::read;
  uint32_t owner = 0;          ///< rank whose segment it is in
  uint32_t element_bytes = 8;  ///< at least 1
  int64_t base = 0;            ///< offset in the segment, in the first iteration
  /// Bytes that the next iteration of each loop is away.
  std::array<int64_t, kMaxDepth> stride_bytes{};
  /// For a distributed array: iteration k of loop `piece_loop` is in pieces[k], whose owner counts
  /// instead of `owner`, and from whose base `base` counts. They live as long as what is said of
  /// the nest is used.
  std::span<const Piece> pieces{};
  uint32_t piece_loop = 0;

  bool in_pieces() const { return !pieces.empty(); }
};

struct Nest {
  uint32_t depth = 0;
  std::array<uint64_t, kMaxDepth> counts{};  ///< iterations, by loop; at least 1
  Few<Reference, kMaxReferences> reference;

  uint32_t references() const { return static_cast<uint32_t>(reference.size()); }
  /// False if there is no room.
  bool add_loop(uint64_t count);
  bool add(const Reference& added);
};

struct Cut {
  uint32_t loop = 0;     ///< by depth
  uint64_t granule = 1;  ///< of its iterations; at least 1
};

/// The outermost loop that a nest can be cut at. A step is within one piece of each distributed
/// array, so that it is one that chooses pieces, cut into single iterations, or one further inside.
uint32_t outermost_cut(const Nest& nest);
/// True if a step of the cut is within one piece of each distributed array.
bool within_pieces(const Nest& nest, const Cut& cut);

/// Bytes that move together, for one or several references.
struct Group {
  Mode mode = Mode::read;
  /// The bytes of one tile, canonical, as of the first iterations of all loops around it; of
  /// distributed arrays, counted from the base of the piece.
  Lmad tile;
  /// A tile belongs to one iteration of each of the first `hold` loops, or to one step where that
  /// includes the loop of the cut; 0: to the whole nest. Loops further inside are within it.
  uint32_t hold = 0;
  /// How far each of these loops moves the tile.
  std::array<int64_t, kMaxDepth> stride_bytes{};
  /// In a buffer that holds the tile's bytes in order, without gaps: where an iteration of each
  /// loop inside of the tile is away from the one before.
  std::array<int64_t, kMaxDepth> buffer_stride_bytes{};
  uint32_t members = 0;
  std::array<uint8_t, kMaxReferences> member{};  ///< indices of references
  /// Where the member's element of the tile's first iteration is in the buffer.
  std::array<int64_t, kMaxReferences> buffer_offset{};

  uint64_t bytes() const { return tile.runs() * tile.run_bytes; }
};

struct Tiling {
  Few<Group, kMaxReferences> group;
  uint32_t groups() const { return static_cast<uint32_t>(group.size()); }
};

/// Why a nest is not cut.
enum class Obstacle : uint8_t {
  dependence,   ///< an iteration may read what an earlier one has written
  overwritten,  ///< two references, or two steps, may write the same bytes
  unknown,      ///< whether two references touch the same bytes was not found out
  entangled,    ///< runs of one reference overlap each other irregularly
  scattered,    ///< a step would be in several pieces of a distributed array
};
const char* to_string(Obstacle obstacle);

struct Failure {
  Obstacle obstacle = Obstacle::unknown;
  uint32_t reference = 0;
  uint32_t other = 0;
  /// "reference 2 reads what reference 0 may have written in an earlier iteration".
  std::string text() const;
};

/// Why a nest cannot be cut at all: accesses that have to happen in the order of the program.
std::optional<Failure> dependence_of(const Nest& nest);

/// The tiles of a cut of a nest without dependences, or the first obstacle. `cut.loop` is below
/// `nest.depth`.
std::variant<Tiling, Failure> tile(const Nest& nest, const Cut& cut);

}  // namespace stripline::access
