// How the updates of a buffer are written into their parcel, by what takes least: by the model, or
// else in bytes (optimizer/plan/update_encoding.h says why these, and when boxes are looked for):
//
//   pairs   a cell and a value each
//   same    cells, and the one value that all of them have
//   runs    neighbours that follow each other in the buffer, of which the first one is named; the
//           order of the updates stays as it is
//   boxes   neighbours of all updates, where those may be merged and lie dense; and with the
//           identity for cells between them, where the program says that no one stores there
//
// Runs and boxes look alike in flight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <stripline/update.h>

#include "optimizer/plan/encoding_mechanism.h"
#include "runtime/update/parcel.h"

namespace stripline::update {

struct Encoded {
  Form form = Form::pairs;
  uint32_t count = 0;  ///< of pairs or of boxes
  std::span<const std::byte> body;
  uint64_t moved_bytes = 0;  ///< read and written to write it so
};

/// True of one value, too.
bool all_same(const std::byte* values, size_t count, size_t value_bytes);

class Encoder {
 public:
  /// `fills_gaps`: UpdateOptions::fills_gaps.
  Encoder(const detail::UpdateType& type, UpdateEncoding wanted, bool merges, bool fills_gaps);

  /// Goes by what encodings of such messages take from now on; `like` says nothing of what is in
  /// them. Without this they are compared by their bytes.
  void weigh(const plan::AskedEncoding& like, const plan::EncodingCosts& costs);

  /// Writes `count` updates, at least one, in place: `memory` has cells from its beginning on, and
  /// values from `values` on. The body lies in `memory`.
  Encoded encode(std::byte* memory, size_t values, size_t count);
  /// The same without runs and boxes.
  Encoded encode_singly(std::byte* memory, size_t values, size_t count);

  /// What encode() has decided last, and for what.
  const plan::AskedEncoding& asked() const { return asked_; }
  const plan::EncodingPlan& plan() const { return *plan_; }

  /// Cells of neighbouring values are so far apart.
  static uint32_t step_of(const detail::UpdateType& type) { return type.value_bytes / type.unit; }

 private:
  bool is_same(const std::byte* values, size_t count) const;
  Encoded write_pairs(std::byte* memory, size_t values, size_t count, Form form) const;
  bool wants(UpdateEncoding encoding) const {
    return wanted_ == UpdateEncoding::automatic || wanted_ == encoding;
  }
  void decide(const Cell* cells, const std::byte* values, size_t count);
  size_t runs_in(const Cell* cells, size_t count) const;
  void find_boxes(const Cell* cells, const std::byte* values, size_t count);
  Encoded write_runs(std::byte* memory, size_t values, size_t count);
  Encoded write_boxes(std::byte* memory);

  const detail::UpdateType type_;
  const UpdateEncoding wanted_;
  const bool merges_;
  const bool fills_gaps_;
  const uint32_t step_;
  plan::EncodingCosts costs_;
  plan::AskedEncoding asked_;
  std::optional<const plan::EncodingPlan> plan_;
  std::vector<Box> written_;
  // Where boxes were looked for: values of updates with the identity between them, which cells
  // there are, and in which boxes.
  Cell first_ = 0;
  std::vector<std::byte> dense_;
  std::vector<uint64_t> marks_;
  std::vector<uint64_t> cells_;
  std::vector<plan::UpdateBox> boxes_;
};

}  // namespace stripline::update
