#include "runtime/update/fetches.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace stripline::update {

rma::SlotUse Fetches::add(rank_t target, uint32_t window, Cell cell, const std::byte* value,
                          std::byte* previous) {
  if (filling_[target] == nullptr) {
    const uint32_t slot = operations_.acquire_slot(rma::CompletionSlots::Kind::message);
    operations_.counter(slot).pending = 1;
    std::unique_ptr<Batch> batch;
    if (unused_.empty()) {
      batch = std::make_unique<Batch>();
      batch->memory.resize(body_bytes(most_, most_, value_bytes_));
    } else {
      batch = std::move(unused_.back());
      unused_.pop_back();
    }
    batch->target = target;
    batch->window = window;
    batch->use = operations_.use_of(slot);
    filling_[target] = std::move(batch);
    ++waiting_;
  }
  Batch& batch = *filling_[target];
  std::memcpy(batch.memory.data() + batch.count * sizeof cell, &cell, sizeof cell);
  std::memcpy(batch.memory.data() + values_at(most_) + size_t{batch.count} * value_bytes_, value,
              value_bytes_);
  batch.previous.push_back(previous);
  ++batch.count;
  return batch.use;
}

Fetches::Batch& Fetches::take(rank_t target) {
  --waiting_;
  return *in_flight_.emplace_back(std::move(filling_[target]));
}

std::span<const std::byte> Fetches::body_of(Batch& batch) const {
  std::byte* const memory = batch.memory.data();
  std::memmove(memory + values_at(batch.count), memory + values_at(most_),
               size_t{batch.count} * value_bytes_);
  return {memory, body_bytes(batch.count, batch.count, value_bytes_)};
}

void Fetches::returned(rank_t target, uint32_t slot) {
  for (const auto& batch : in_flight_) {
    if (batch->target == target && batch->slot == slot && !batch->returned) batch->returned = true;
  }
  retire();
}

bool Fetches::answered(rank_t source, uint32_t sequence, std::span<const std::byte> values) {
  const auto found = std::ranges::find_if(in_flight_, [&](const auto& batch) {
    return batch->target == source && batch->sequence == sequence && !batch->answered;
  });
  if (found == in_flight_.end() || values.size() != size_t{(*found)->count} * value_bytes_) {
    return false;
  }
  Batch& batch = **found;
  for (size_t i = 0; i < batch.count; ++i) {
    std::memcpy(batch.previous[i], values.data() + i * value_bytes_, value_bytes_);
  }
  batch.answered = true;
  --operations_.counter(batch.use.slot).pending;
  retire();
  return true;
}

void Fetches::retire() {
  for (size_t i = 0; i < in_flight_.size();) {
    std::unique_ptr<Batch>& batch = in_flight_[i];
    if (!batch->returned || !batch->answered) {
      ++i;
      continue;
    }
    batch->returned = batch->answered = false;
    batch->count = 0;
    batch->previous.clear();
    unused_.push_back(std::move(batch));
    in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace stripline::update
