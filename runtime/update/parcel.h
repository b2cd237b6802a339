// What updates look like in flight: a parcel of the bulk transport. The head says of which epoch
// they are; the body has the cells and, from the next multiple of 8 bytes on, the values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stripline::update {

/// `same`: one value, which is that of all updates. Histograms add 1 wherever they add.
/// `boxes`: neighbouring cells; instead of cells the body has Boxes, and their values follow at
/// once. `fetching`: pairs of which the source wants to know what the cells held before.
enum class Form : uint16_t { pairs, same, boxes, fetching };

/// What the cells of a parcel say beside themselves, in units of a segment's cells (grid.h).
enum class Onward : uint16_t {
  nothing,    ///< they are the receiver's
  row_of,     ///< the row and the layer of the owner, in the receiver's column
  column_of,  ///< the column of the owner, in the receiver's row
  layer_of,   ///< the layer of the owner, in the receiver's place of it
  place_of,   ///< the row and the column of the owner, in the receiver's layer
};
inline constexpr size_t kOnwards = 5;

struct Head {
  uint32_t epoch = 0;  ///< counted on every rank
  uint32_t type = 0;   ///< a hash of the type of cells and the operator
  uint32_t window = 0;
  Form form = Form::pairs;
  Onward onward = Onward::nothing;  ///< pairs and same only
  uint32_t count = 0;               ///< of updates, or of boxes
  uint32_t sequence = 0;            ///< among the parcels from its source to its owner
};
static_assert(sizeof(Head) == 24);

/// Leads an update that travels by itself; its value follows.
struct Single {
  uint32_t epoch = 0;
  uint32_t type = 0;
  uint64_t cell = 0;
};

/// What a rank asks of another one, and is answered in the same form.
enum class Ask : uint32_t {
  flush,        ///< all that was sent on through it is carried out
  lock,         ///< a lock, by its number
  unlock,       ///< that lock is free again; there is no answer
  carried_out,  ///< a number of its single updates are carried out
};
struct Asked {
  uint32_t epoch = 0;
  Ask what = Ask::flush;
  uint32_t number = 0;
};

/// The answer to those that fetch, a message: what the cells held follows in their order.
struct Fetched {
  uint32_t epoch = 0;
  uint32_t sequence = 0;  ///< of the parcel
};

using Cell = uint32_t;

/// Cells side by side, as values are.
struct Box {
  Cell first = 0;
  uint32_t cells = 0;
};

/// What lies between cells and values at most.
constexpr size_t kPadding = 8;

/// Where values begin behind `cells` cells.
constexpr size_t values_at(size_t cells) { return (cells * sizeof(Cell) + 7) / 8 * 8; }

constexpr size_t body_bytes(size_t cells, size_t values, size_t value_bytes) {
  return values_at(cells) + values * value_bytes;
}

}  // namespace stripline::update
