#include "runtime/update/encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "optimizer/plan/update.h"

namespace stripline::update {
namespace {

// Cells among which boxes are looked for, for each update.
constexpr size_t kDense = 4;

static_assert(sizeof(Cell) == plan::kUpdateAddressBytes && sizeof(Box) == plan::kUpdateBoxBytes);

}  // namespace

bool all_same(const std::byte* values, size_t count, size_t value_bytes) {
  return count < 2 || std::memcmp(values, values + value_bytes, (count - 1) * value_bytes) == 0;
}

Encoder::Encoder(const detail::UpdateType& type, UpdateEncoding wanted, bool merges,
                 bool fills_gaps)
    : type_(type),
      wanted_(wanted),
      merges_(merges),
      fills_gaps_(fills_gaps && type.fill != nullptr),
      step_(step_of(type)),
      costs_{.value_bytes = type.value_bytes,
             .address_bytes = plan::kUpdateAddressBytes,
             .box_bytes = plan::kUpdateBoxBytes,
             .send_byte_s = 1} {}

void Encoder::weigh(const plan::EncodingCosts& costs, double look_s) {
  costs_ = costs;
  costs_.box_bytes = plan::kUpdateBoxBytes;
  look_s_ = look_s;
}

size_t Encoder::runs_in(const Cell* cells, size_t count) const {
  size_t runs = 1;
  for (size_t i = 1; i < count; ++i) runs += cells[i] - cells[i - 1] != step_ ? 1 : 0;
  return runs;
}

// Lays the updates out, and covers them with boxes; false if those could not take so much less than
// `less_than_s` that it is worth looking.
bool Encoder::find_boxes(const Cell* cells, const std::byte* values, size_t count,
                         double less_than_s, plan::EncodingRequest& request) {
  const auto [lowest, highest] = std::minmax_element(cells, cells + count);
  const size_t span = size_t{*highest} - *lowest + 1;
  if (span > kDense * count) return false;
  const size_t bytes = type_.value_bytes;
  const double fewest = static_cast<double>(std::min(span, count));
  if (costs_.box_s() + fewest * costs_.cell_s() + static_cast<double>(count) * look_s_ >=
      less_than_s) {
    return false;
  }
  first_ = *lowest;
  dense_.resize(span * bytes);
  if (fills_gaps_) type_.fill(dense_.data(), span);
  marks_.assign((span + 63) / 64, 0);
  for (size_t i = 0; i < count; ++i) {
    const size_t place = cells[i] - first_;
    uint64_t& word = marks_[place / 64];
    const uint64_t mark = uint64_t{1} << place % 64;
    if ((word & mark) != 0) {
      type_.merge(dense_.data() + place * bytes, values + i * bytes);
    } else {
      word |= mark;
      std::memcpy(dense_.data() + place * bytes, values + i * bytes, bytes);
    }
  }
  cells_.clear();
  for (size_t word = 0; word < marks_.size(); ++word) {
    for (uint64_t left = marks_[word]; left != 0; left &= left - 1) {
      cells_.push_back(word * 64 + static_cast<size_t>(std::countr_zero(left)));
    }
  }
  plan::cover(cells_, fills_gaps_ ? plan::widest_covered_gap(costs_) : 0, boxes_);
  request.boxes = boxes_.size();
  request.cells = 0;
  for (const plan::UpdateBox& box : boxes_) request.cells += box.cells;
  return true;
}

Encoded Encoder::write_boxes(std::byte* memory) {
  const size_t bytes = type_.value_bytes;
  std::byte* value = memory + boxes_.size() * sizeof(Box);
  for (size_t i = 0; i < boxes_.size(); ++i) {
    const plan::UpdateBox& box = boxes_[i];
    const Box head{first_ + static_cast<Cell>(box.first), static_cast<uint32_t>(box.cells)};
    std::memcpy(memory + i * sizeof head, &head, sizeof head);
    std::memcpy(value, dense_.data() + box.first * bytes, box.cells * bytes);
    value += box.cells * bytes;
  }
  return {Form::boxes,
          static_cast<uint32_t>(boxes_.size()),
          {memory, static_cast<size_t>(value - memory)},
          2 * static_cast<uint64_t>(value - memory)};
}

Encoded Encoder::write_runs(std::byte* memory, size_t values, size_t count) {
  const Cell* const cells = reinterpret_cast<const Cell*>(memory);
  written_.clear();
  for (size_t i = 0; i < count; ++i) {
    if (i > 0 && cells[i] - cells[i - 1] == step_) {
      ++written_.back().cells;
    } else {
      written_.push_back({cells[i], 1});
    }
  }
  const size_t heads = written_.size() * sizeof(Box);
  std::memmove(memory + heads, memory + values, count * type_.value_bytes);
  std::memcpy(memory, written_.data(), heads);
  return {Form::boxes,
          static_cast<uint32_t>(written_.size()),
          {memory, heads + count * type_.value_bytes},
          2 * (heads + count * type_.value_bytes)};
}

bool Encoder::is_same(const std::byte* values, size_t count) const {
  return wanted_ == UpdateEncoding::automatic && all_same(values, count, type_.value_bytes);
}

Encoded Encoder::write_pairs(std::byte* memory, size_t values, size_t count, Form form) const {
  const size_t sent = form == Form::same ? 1 : count;
  std::byte* const dense = memory + values_at(count);
  const bool moves = dense != memory + values;
  if (moves) std::memmove(dense, memory + values, sent * type_.value_bytes);
  return {form,
          static_cast<uint32_t>(count),
          {memory, body_bytes(count, sent, type_.value_bytes)},
          moves ? 2 * sent * type_.value_bytes : 0};
}

Encoded Encoder::encode_singly(std::byte* memory, size_t values, size_t count) {
  return write_pairs(memory, values, count,
                     is_same(memory + values, count) ? Form::same : Form::pairs);
}

Encoded Encoder::encode(std::byte* memory, size_t values, size_t count) {
  const Cell* const cells = reinterpret_cast<const Cell*>(memory);
  plan::EncodingRequest request{.updates = count, .one_value = is_same(memory + values, count)};
  if (wants(UpdateEncoding::runs)) request.runs = runs_in(cells, count);
  const plan::EncodingPlan as_it_lies = plan::plan_encoding(request, costs_);
  if (wants(UpdateEncoding::boxes) && merges_ && step_ == 1 &&
      find_boxes(cells, memory + values, count, as_it_lies.predicted_s, request) &&
      plan::plan_encoding(request, costs_).encoding == plan::UpdateEncoding::boxes) {
    Encoded boxes = write_boxes(memory);
    // Before that each update was laid out where its cell is.
    boxes.moved_bytes += dense_.size() + count * (sizeof(Cell) + 2 * type_.value_bytes);
    return boxes;
  }
  if (as_it_lies.encoding == plan::UpdateEncoding::runs) return write_runs(memory, values, count);
  return write_pairs(memory, values, count, request.one_value ? Form::same : Form::pairs);
}

}  // namespace stripline::update
