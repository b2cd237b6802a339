#include "runtime/update/encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace stripline::update {
namespace {

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
      step_(step_of(type)) {
  asked_.value_bytes = type.value_bytes;
  costs_ = plan::costs_of_message(asked_, nullptr);
}

void Encoder::weigh(const plan::AskedEncoding& like, const plan::EncodingCosts& costs) {
  asked_ = like;
  costs_ = costs;
}

// By what is in the message, as far as that may be said in another encoding.
void Encoder::decide(const Cell* cells, const std::byte* values, size_t count) {
  asked_.updates = count;
  asked_.one_value = is_same(values, count);
  asked_.runs = wants(UpdateEncoding::runs) ? runs_in(cells, count) : 0;
  asked_.boxes = asked_.cells = asked_.among = 0;
  if (wants(UpdateEncoding::boxes) && merges_ && step_ == 1) {
    const auto [lowest, highest] = std::minmax_element(cells, cells + count);
    first_ = *lowest;
    asked_.among = uint64_t{*highest} - first_ + 1;
    if (plan::looks_for_boxes(asked_, costs_)) find_boxes(cells, values, count);
  }
  const plan::EncodingPlan plan = plan::plan_encoding(asked_, costs_);
  if (wanted_ == UpdateEncoding::automatic) {
    plan_.emplace(plan);
  } else {
    plan_.emplace(plan::EncodingPlan{plan.encoding, plan.bytes, plan::Reason::forced,
                                     plan.predicted_s, plan.baseline_s, plan.gain_low});
  }
}

size_t Encoder::runs_in(const Cell* cells, size_t count) const {
  size_t runs = 1;
  for (size_t i = 1; i < count; ++i) runs += cells[i] - cells[i - 1] != step_ ? 1 : 0;
  return runs;
}

// Lays the updates out by their cells, and covers them with boxes.
void Encoder::find_boxes(const Cell* cells, const std::byte* values, size_t count) {
  const auto span = static_cast<size_t>(asked_.among);
  const size_t bytes = type_.value_bytes;
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
  asked_.boxes = boxes_.size();
  for (const plan::UpdateBox& box : boxes_) asked_.cells += box.cells;
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
  decide(reinterpret_cast<const Cell*>(memory), memory + values, count);
  if (plan_->encoding == UpdateEncoding::boxes) {
    Encoded boxes = write_boxes(memory);
    // Before that each update was laid out where its cell is.
    boxes.moved_bytes += dense_.size() + count * (sizeof(Cell) + 2 * type_.value_bytes);
    return boxes;
  }
  if (plan_->encoding == UpdateEncoding::runs) return write_runs(memory, values, count);
  return write_pairs(memory, values, count, asked_.one_value ? Form::same : Form::pairs);
}

}  // namespace stripline::update
