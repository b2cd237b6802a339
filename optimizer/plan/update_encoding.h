// How updates of one owner's memory are written into a message: each with its address, in runs of
// neighbours, or in boxes that also cover cells which no one updates. Those are filled with the
// identity of the operator, so that applying them changes nothing.
//
// The rule for boxes is that of Su, section 5.2: going up through the addresses, a gap is covered
// if its cells cost less than the description of another box. Every gap is a decision by itself as
// long as a byte takes equally long whatever the size of the message; then no other set of boxes is
// cheaper. Where a link is faster for larger messages it can be missed by a little, which
// update_encoding_test.cc bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/plan/decision.h"
#include "optimizer/plan/methods.h"

namespace stripline::plan {

/// Neighbouring cells, of which all values are sent.
struct UpdateBox {
  uint64_t first = 0;
  uint64_t cells = 0;
  bool operator==(const UpdateBox&) const = default;
};

/// What a message is made of, and what its parts take. Seconds, of both sides together: nothing of
/// one message overlaps with itself.
struct EncodingCosts {
  uint32_t value_bytes = 8;
  uint32_t address_bytes = 8;  ///< of a pair
  uint32_t box_bytes = 16;     ///< what describes a box
  double write_byte_s = 0;     ///< into the message
  double send_byte_s = 0;      ///< G of a message of the size to be expected
  double read_byte_s = 0;      ///< out of it
  double apply_s = 0;          ///< one value to its cell
  double look_s = 0;           ///< an update that is laid out by its cell, to look for boxes
  bool bytes_only = false;     ///< nothing is known but bytes, of which send_byte_s is 1

  double byte_s() const { return write_byte_s + send_byte_s + read_byte_s; }
  double pair_s() const { return (address_bytes + value_bytes) * byte_s() + apply_s; }
  double cell_s() const { return value_bytes * byte_s() + apply_s; }
  double box_s() const { return box_bytes * byte_s(); }
};

/// The widest gap, in cells, that costs less to cover than another box; UINT64_MAX if cells cost
/// nothing.
uint64_t widest_covered_gap(const EncodingCosts& costs) noexcept;

/// Boxes that hold all of `cells`, which ascend, and no gap that is wider than `widest_gap` cells;
/// 0: runs. What was in `boxes` is replaced, its memory is used again.
void cover(std::span<const uint64_t> cells, uint64_t widest_gap, std::vector<UpdateBox>& boxes);

/// The size of what describes a box in a parcel, and of a cell's address there.
inline constexpr uint32_t kUpdateBoxBytes = 8;

/// Boxes are looked for among this number of cells for each update, or fewer.
inline constexpr uint64_t kCellsToLookAmong = 4;

/// A message, by what it would consist of.
struct EncodingRequest {
  uint64_t updates = 1;
  bool one_value = false;  ///< all have the same value, which pairs name once
  uint64_t runs = 0;  ///< of neighbours that follow each other as they are; 0: there are to be none
  uint64_t boxes = 0;  ///< that hold all cells; 0: there are to be none
  uint64_t cells = 0;  ///< of these, those that no one updates included
  /// Cells from the first to the last one that is updated, if the updates may be laid out by their
  /// cells, to look for boxes; 0: boxes are given as they are.
  uint64_t among = 0;
  bool operator==(const EncodingRequest&) const = default;
};

/// True if boxes are looked for: the updates lie dense enough, and the fewest boxes that there can
/// be would save more than looking takes.
bool looks_for_boxes(const EncodingRequest& request, const EncodingCosts& costs) noexcept;

/// A decision.
struct EncodingPlan {
  const UpdateEncoding encoding = UpdateEncoding::pairs;
  const uint64_t bytes = 0;  ///< of the message, without its header
  const Reason reason = Reason::no_model;
  const double predicted_s = 0;
  const double baseline_s = 0;  ///< in pairs
  const double gain_low = 0;    ///< of the arithmetic: it has no interval
};
using EncodingRecord = Record<UpdateEncoding, UpdateEncoding>;

/// The bytes of a message in an encoding that the request has.
uint64_t encoded_bytes(const EncodingRequest& request, const EncodingCosts& costs,
                       UpdateEncoding encoding) noexcept;

/// The encoding that takes least; of those that take equally long the first one. Pure, allocates
/// nothing.
EncodingPlan plan_encoding(const EncodingRequest& request, const EncodingCosts& costs) noexcept;
/// The same, with a record of what was considered.
EncodingPlan plan_encoding(const EncodingRequest& request, const EncodingCosts& costs,
                           EncodingRecord& record);

}  // namespace stripline::plan
