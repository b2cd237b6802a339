// What an epoch does for others: carries out what arrives for this rank's memory.
#include <algorithm>
#include <cstring>
#include <string>

#include "base/exception_text.h"
#include "runtime/update/epoch.h"

namespace stripline::update {

void Epoch::arrived(const am::Bulk::Parcel& parcel, const Head& head) {
  Order& order = order_[parcel.source];
  if (head.sequence != order.applied) {
    early_.push_back({parcel.source, parcel.slot, head, parcel.body});
    return;
  }
  apply(parcel.source, parcel.slot, head, parcel.body);
  const auto is_next = [&](const Early& one) {
    return one.source == parcel.source && one.head.sequence == order.applied;
  };
  for (auto next = std::ranges::find_if(early_, is_next); next != early_.end();
       next = std::ranges::find_if(early_, is_next)) {
    const Early one = *next;
    early_.erase(next);
    apply(one.source, one.slot, one.head, one.body);
  }
}

void Epoch::check_type(rank_t source, uint32_t type) const {
  if (type == type_hash_) return;
  state_.fail(Error(ErrorCode::invalid_argument,
                    "rank " + std::to_string(source) +
                        " sent updates by another operator, of another type, or in another "
                        "UpdateMode, than those of " +
                        description() + " of this rank (" + std::string(type_.name) + ", " +
                        (mode_ == UpdateMode::log ? "log" : "accumulate") +
                        "); all ranks make the same epochs in the same order"));
}

// An update that travelled by itself.
void Epoch::arrived(rank_t source, const Single& head, std::span<const std::byte> value) {
  check_type(source, head.type);
  if (value.size() != type_.value_bytes) fail_malformed(source);
  carry_out_one(source, head.cell, value.data());
  singly_->carried_out(source);
}

void Epoch::asked(rank_t source, const Asked& asked) {
  asked.what == Ask::flush ? flush_for(source, asked.number) : singly_->asked(source, asked);
}

void Epoch::answered(rank_t source, const Asked& answer) {
  if (answer.what == Ask::flush) return flushed(source, answer.number);
  if (!singly_->answered(answer)) fail_malformed(source);
}

void Epoch::apply(rank_t source, uint32_t slot, const Head& head, std::span<const std::byte> body) {
  check_type(source, head.type);
  ++order_[source].applied;
  if (head.onward != Onward::nothing) {
    const size_t values = head.form == Form::same ? 1 : head.count;
    if ((forwarder_ == nullptr && !changing_) || head.form > Form::same || head.count == 0 ||
        body.size() != body_bytes(head.count, values, type_.value_bytes)) {
      fail_malformed(source);
    }
    const Forwarder::Held parcel{source, slot, head, body, 0};
    changing_ ? too_early_.push_back(parcel) : forwarder_->hold(parcel);
    return;
  }
  const bool fetches = head.form == Form::fetching;
  if (fetches) previous_.resize(size_t{head.count} * type_.value_bytes);
  carry_out_by([&] {
    if (!carry_out(head, body, fetches ? previous_.data() : nullptr)) fail_malformed(source);
  });
  if (fetches) {
    const Fetched answer{head.epoch, head.sequence};
    am::ActiveMessages& messages = state_.operations.messages();
    messages.send(source, messages.id(message_names::kFetchedUpdates),
                  std::as_bytes(std::span(&answer, 1)), previous_);
  }
  bulk_.give_back(source, slot);
}

// False, and nothing done, if they are not well formed.
bool Epoch::carry_out(const Head& head, std::span<const std::byte> body, std::byte* previous) {
  // The cells of a window of which the segment has but a part.
  const uint64_t first = uint64_t{head.window} << 32U;
  const uint64_t last = last_offset_ / type_.unit;
  if (first > last || head.count == 0 || head.form > Form::fetching) return false;
  std::byte* const base = state_.memory.segment().data() + first * type_.unit;
  if (head.form == Form::boxes) return carry_out_boxes(base, last - first, head.count, body);
  const size_t count = head.count;
  const size_t values = head.form == Form::same ? 1 : count;
  if (body.size() != body_bytes(count, values, type_.value_bytes)) return false;
  Cell highest = 0;
  for (size_t i = 0; i < count; ++i) {
    Cell cell = 0;
    std::memcpy(&cell, body.data() + i * sizeof cell, sizeof cell);
    highest = std::max(highest, cell);
  }
  if (highest > last - first) return false;
  const detail::UpdateBatch batch{base, body.data(), body.data() + values_at(count), count,
                                  head.form == Form::same};
  if (previous != nullptr) {
    type_.fetch(batch, previous);
    declare(count * type_.value_bytes);
  } else {
    type_.apply(batch);
  }
  // Cells are gone through once more, for those that the segment does not have.
  declare(body.size() + count * (sizeof(Cell) + 2 * size_t{type_.value_bytes}));
  return true;
}

bool Epoch::carry_out_boxes(std::byte* base, uint64_t last_cell, uint32_t count,
                            std::span<const std::byte> body) const {
  const size_t bytes = type_.value_bytes;
  if (body.size() / sizeof(Box) < count) return false;
  const auto box_at = [&body](size_t i) {
    Box box;
    std::memcpy(&box, body.data() + i * sizeof box, sizeof box);
    return box;
  };
  const uint64_t step = Encoder::step_of(type_);
  uint64_t cells = 0;
  for (size_t i = 0; i < count; ++i) {
    const Box box = box_at(i);
    if (box.cells == 0 || box.first + (box.cells - 1) * step > last_cell) return false;
    cells += box.cells;
  }
  if (body.size() != count * sizeof(Box) + cells * bytes) return false;
  const std::byte* values = body.data() + count * sizeof(Box);
  for (size_t i = 0; i < count; ++i) {
    const Box box = box_at(i);
    type_.apply_run(base + box.first * uint64_t{type_.unit}, values, box.cells);
    values += box.cells * bytes;
  }
  declare(body.size() + 2 * cells * bytes);
  return true;
}

void Epoch::fail_operator(const detail::UpdateFailure& failure) const {
  const auto* const cell = static_cast<const std::byte*>(failure.cell);
  const auto offset = static_cast<uint64_t>(cell - state_.memory.segment().data());
  state_.fail(Error(ErrorCode::invalid_argument,
                    "the operator of " + description() + " has thrown, for the cell of " +
                        rma::range_text(offset, type_.value_bytes, me_) + ": " +
                        exception_text(failure.error) +
                        "; it runs where a rank makes progress, and must not throw"));
}

void Epoch::fail_malformed(rank_t source) const {
  state_.fail(Error(ErrorCode::data_loss,
                    "rank " + std::to_string(source) +
                        " sent updates, or an answer to them, that are not well formed; all ranks "
                        "must run the same version"));
}

}  // namespace stripline::update
