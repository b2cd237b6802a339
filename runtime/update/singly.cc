#include "runtime/update/singly.h"

#include <algorithm>
#include <cstring>

namespace stripline::update {

Singly::Singly(Context& context, const detail::UpdateType& type, uint32_t type_hash,
               uint32_t number)
    : context_(context),
      state_(context.state()),
      type_(type),
      type_hash_(type_hash),
      number_(number),
      me_(context.rank_me()),
      counts_(context.rank_n()) {}

bool Singly::has_provider(Context& context, const detail::UpdateType& type) {
  return type.atomic.op != detail::AtomicOp::load &&
         detail::AtomicDomain::provider_has_all(context, type.atomic.type);
}

bool Singly::has_messages(const detail::ContextState& state, const detail::UpdateType& type) {
  return sizeof(Single) + type.value_bytes <= state.operations.messages().max_payload_bytes();
}

std::byte* Singly::own(uint64_t cell) const {
  return state_.memory.segment().data() + cell * type_.unit;
}

void Singly::by_message(rank_t target, uint64_t cell, const std::byte* value) {
  if (target == me_) return type_.apply_run(own(cell), value, 1);
  const Single head{number_, type_hash_, cell};
  am::ActiveMessages& messages = state_.operations.messages();
  ++counts_[target].sent;
  counts_[target].told = false;
  messages.send(target, messages.id(message_names::kSingleUpdates),
                std::as_bytes(std::span(&head, 1)), {value, type_.value_bytes});
}

void Singly::carried_out(rank_t source) {
  Count& count = counts_[source];
  ++count.applied;
  if (count.awaited != count.applied) return;
  count.awaited.reset();
  send(source, message_names::kAnswerUpdates, {number_, Ask::carried_out, 0});
}

void Singly::complete() {
  for (rank_t i = 1; i < counts_.size(); ++i) {
    const auto target = static_cast<rank_t>((me_ + i) % counts_.size());
    if (std::exchange(counts_[target].told, true)) continue;
    ++unanswered_;
    send(target, message_names::kAskUpdates, {number_, Ask::carried_out, counts_[target].sent});
  }
  state_.operations.messages().wait([this] { return unanswered_ == 0; });
  if (domain_) state_.operations.complete_puts();
}

void Singly::send(rank_t target, const char* handler, const Asked& asked) {
  am::ActiveMessages& messages = state_.operations.messages();
  messages.send(target, messages.id(handler), std::as_bytes(std::span(&asked, 1)), {});
}

void Singly::asked(rank_t source, const Asked& asked) {
  switch (asked.what) {
    case Ask::lock:
      return request(source, asked.number % kLocks);
    case Ask::unlock:
      return pass_on(asked.number % kLocks);
    case Ask::carried_out:
      if (counts_[source].applied == asked.number) {
        return send(source, message_names::kAnswerUpdates, {number_, Ask::carried_out, 0});
      }
      counts_[source].awaited = asked.number;
      return;
    case Ask::flush:
      return;  // the forwarder's
  }
}

bool Singly::answered(const Asked& answer) {
  if (answer.what == Ask::lock) {
    granted_ = true;
    return true;
  }
  if (answer.what != Ask::carried_out || unanswered_ == 0) return false;
  --unanswered_;
  return true;
}

future Singly::by_provider(rank_t target, uint64_t cell, const std::byte* value,
                           std::byte* previous, CallSite site) {
  if (!domain_) domain_.emplace(context_, type_.atomic.type, AtomicPath::provider);
  uint64_t operand = 0;
  std::memcpy(&operand, value, type_.value_bytes);
  return domain_->start(type_.atomic.op, global_ptr<std::byte>(target, cell * type_.unit), operand,
                        0, previous, site);
}

void Singly::request(rank_t source, uint32_t number) {
  Lock& lock = locks_[number];
  if (lock.held) return lock.waiting.push_back(source);
  lock.held = true;
  if (source == me_) {
    granted_ = true;
  } else {
    send(source, message_names::kAnswerUpdates, {number_, Ask::lock, number});
  }
}

void Singly::pass_on(uint32_t number) {
  Lock& lock = locks_[number];
  lock.held = false;
  if (lock.waiting.empty()) return;
  const rank_t next = lock.waiting.front();
  lock.waiting.erase(lock.waiting.begin());
  request(next, number);
}

void Singly::lock(rank_t target, uint32_t number) {
  granted_ = false;
  if (target == me_) {
    request(me_, number);
  } else {
    send(target, message_names::kAskUpdates, {number_, Ask::lock, number});
  }
  state_.operations.messages().wait([this] { return granted_; });
}

void Singly::unlock(rank_t target, uint32_t number) {
  if (target == me_) return pass_on(number);
  send(target, message_names::kAskUpdates, {number_, Ask::unlock, number});
}

void Singly::get(rank_t target, uint64_t cell, std::byte* value, fabric::Counter& counter) {
  const uint64_t offset = cell * type_.unit;
  if (const std::byte* const reached = state_.memory.reachable(target)) {
    std::memcpy(value, reached + offset, type_.value_bytes);
  } else {
    state_.operations.start_get(value, target, offset, type_.value_bytes, counter);
  }
}

void Singly::put(rank_t target, uint64_t cell, const std::byte* value, fabric::Counter& counter) {
  const uint64_t offset = cell * type_.unit;
  if (std::byte* const reached = state_.memory.reachable(target)) {
    std::memcpy(reached + offset, value, type_.value_bytes);
  } else {
    state_.operations.start_put(target, offset, value, type_.value_bytes, counter);
  }
}

void Singly::under_cell_lock(rank_t target, uint64_t cell, const std::byte* value,
                             std::byte* previous) {
  constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;
  under_lock(target, static_cast<uint32_t>(cell * kGolden >> 32U) % kCellLocks, cell, value,
             previous);
}

void Singly::fetch_under_owner_lock(rank_t target, uint64_t cell, const std::byte* value,
                                    std::byte* previous) {
  under_lock(target, kOwnerLock, cell, value, previous);
}

void Singly::under_lock(rank_t target, uint32_t number, uint64_t cell, const std::byte* value,
                        std::byte* previous) {
  fabric::Counter counter;
  held_.resize(type_.value_bytes);
  lock(target, number);
  get(target, cell, held_.data(), counter);
  state_.operations.wait_for(counter);
  if (previous != nullptr) std::memcpy(previous, held_.data(), held_.size());
  type_.merge(held_.data(), value);
  put(target, cell, held_.data(), counter);
  state_.operations.wait_for(counter);
  unlock(target, number);
}

void Singly::under_owner_lock(rank_t target, uint64_t first, std::span<const Cell> cells,
                              const std::byte* values) {
  const size_t bytes = type_.value_bytes;
  order_.assign(cells.begin(), cells.end());
  std::ranges::sort(order_);
  order_.erase(std::unique(order_.begin(), order_.end()), order_.end());
  held_.resize(order_.size() * bytes);
  fabric::Counter counter;
  lock(target, kOwnerLock);
  for (size_t i = 0; i < order_.size(); ++i) {
    get(target, first + order_[i], held_.data() + i * bytes, counter);
  }
  state_.operations.wait_for(counter);
  for (size_t i = 0; i < cells.size(); ++i) {
    const auto place = std::ranges::lower_bound(order_, cells[i]) - order_.begin();
    type_.merge(held_.data() + static_cast<size_t>(place) * bytes, values + i * bytes);
  }
  for (size_t i = 0; i < order_.size(); ++i) {
    put(target, first + order_[i], held_.data() + i * bytes, counter);
  }
  state_.operations.wait_for(counter);
  unlock(target, kOwnerLock);
}

}  // namespace stripline::update
