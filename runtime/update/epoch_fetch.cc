// Updates of an epoch that return what their cells held before.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "runtime/update/epoch.h"

namespace stripline::update {

future Epoch::fetch(rank_t target, uint64_t cell, const std::byte* value, std::byte* previous,
                    CallSite site) {
  life_->check({"UpdateEpoch::fetch", site});
  const auto inside = state_.exclusive();
  enter("UpdateEpoch::fetch", site);
  if (previous == nullptr) {
    state_.fail(Error(ErrorCode::invalid_argument,
                      text(rma::Call("UpdateEpoch::fetch", site)) +
                          " to a null pointer; update() tells nothing of what was there before"));
  }
  if (debug_ != nullptr) [[unlikely]]
    check_closely(target, cell, site);
  const auto window = static_cast<uint32_t>(cell >> 32U);
  const auto low = static_cast<Cell>(cell);
  ++statistics_.fetches;
  ++tally_.fetches;
  ++tally_.updates;
  if (current_.method == plan::UpdateMethod::provider) {
    return singly_->by_provider(target, cell, value, previous, site);
  }
  if (current_.method == plan::UpdateMethod::cell_locks) {
    singly_->under_cell_lock(target, cell, value, previous);
    return {};
  }
  if (current_.method == plan::UpdateMethod::owner_locks) {
    singly_->fetch_under_owner_lock(target, cell, value, previous);
    return {};
  }
  if (target == me_) {
    carry_out_by([&] {
      type_.fetch({state_.memory.segment().data() + (uint64_t{window} << 32U) * type_.unit,
                   reinterpret_cast<const std::byte*>(&low), value, 1, true},
                  previous);
    });
    return {};
  }
  if (fetches_ == nullptr) {
    // The answer is a message.
    const size_t room = state_.operations.messages().max_payload_bytes() - sizeof(Fetched);
    const size_t most =
        std::min<size_t>((usual_bytes() - kPadding) / item_bytes(), room / type_.value_bytes);
    if (most == 0) {
      state_.fail(Error(ErrorCode::invalid_argument,
                        text(rma::Call("UpdateEpoch::fetch", site)) + " of a value of " +
                            std::to_string(type_.value_bytes) + " bytes, but messages have " +
                            std::to_string(room) + "; fetch parts of the values"));
    }
    fetches_ = std::make_unique<Fetches>(state_.operations, ranks_, type_.value_bytes,
                                         static_cast<uint32_t>(most));
  }
  if (fetches_->must_send(target, window)) send_fetches(target);
  const EpochEngine::Sending sending(engine_);  // a completion slot may have to be waited for
  const rma::SlotUse use = fetches_->add(target, window, low, value, previous);
  return future({&context_, use.slot, use.generation});
}

bool Epoch::can_send_fetches() const {
  if (fetches_ == nullptr || fetches_->empty()) return false;
  for (rank_t rank = 0; rank < ranks_; ++rank) {
    if (fetches_->has(rank) && bulk_.has_free(rank)) return true;
  }
  return false;
}

void Epoch::send_fetches() {
  if (fetches_ == nullptr) return;
  for (rank_t i = 1; i < ranks_; ++i) {
    const rank_t rank = (me_ + i) % ranks_;
    if (fetches_->has(rank) && bulk_.has_free(rank)) send_fetches(rank);
  }
}

void Epoch::send_fetches(rank_t target) {
  const EpochEngine::Sending sending(engine_);
  wait_for_slot(target);
  Fetches::Batch& batch = fetches_->take(target);
  batch.slot = bulk_.acquire(target);
  batch.sequence = order_[target].sent;
  Head head{number_, type_hash_, batch.window, Form::fetching, Onward::nothing, batch.count, 0};
  ++unreturned_;
  put(target, batch.slot, head, fetches_->body_of(batch), kFetches);
}

void Epoch::fetched(rank_t source, uint32_t sequence, std::span<const std::byte> values) {
  if (fetches_ == nullptr || !fetches_->answered(source, sequence, values)) {
    fail_malformed(source);
  }
}

}  // namespace stripline::update
