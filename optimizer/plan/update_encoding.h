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

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace stripline::plan {

enum class UpdateEncoding : uint8_t { pairs, runs, boxes };
inline constexpr std::array<std::string_view, 3> kUpdateEncodingNames = {"pairs", "runs", "boxes"};
inline std::string_view to_string(UpdateEncoding encoding) {
  return kUpdateEncodingNames[static_cast<size_t>(encoding)];
}

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

struct EncodingPlan {
  UpdateEncoding encoding = UpdateEncoding::pairs;
  uint64_t bytes = 0;  ///< of the message, without its header
  double predicted_s = 0;
};

/// The encoding that takes least; of those that take equally long the first one. `cells` ascend,
/// each once. `has_identity`: of the operator; without one no gap can be filled. `boxes` are those
/// of the encoding, none for pairs. Allocates as cover().
EncodingPlan plan_encoding(std::span<const uint64_t> cells, const EncodingCosts& costs,
                           bool has_identity, std::vector<UpdateBox>& boxes);

}  // namespace stripline::plan
