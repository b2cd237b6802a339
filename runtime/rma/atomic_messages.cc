#include "runtime/rma/atomic_messages.h"

#include <cstring>
#include <string>
#include <utility>

#include "runtime/fabric/atomic_apply.h"

namespace stripline::rma {

using fabric::AtomicOp;
using fabric::AtomicType;

AtomicMessages::AtomicMessages(am::ActiveMessages& messages, std::span<std::byte> segment,
                               fabric::Rank rank, fabric::FailureHandler fail)
    : messages_(messages), segment_(segment), rank_(rank), fail_(std::move(fail)) {
  messages_.set_reserved(
      am::kAtomic,
      [this](fabric::Rank source, std::span<const std::byte> bytes) { serve(source, bytes); });
  messages_.set_reserved(
      am::kAtomicReply,
      [this](fabric::Rank source, std::span<const std::byte> bytes) { take_reply(source, bytes); });
}

void AtomicMessages::start(const fabric::AtomicRequest& request, fabric::Rank target,
                           uint64_t offset, void* previous, fabric::Counter& counter) {
  if (target == rank_) {
    fabric::apply_atomic(request, segment_.data() + offset, previous);
    return;
  }
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(pending_.size()));
    pending_.emplace_back();
  }
  const uint32_t token = free_.back();
  free_.pop_back();
  pending_[token] = {previous, &counter, fabric::bytes_of(request.type)};
  ++counter.pending;
  const Request message{offset,
                        request.operand,
                        request.expected,
                        token,
                        static_cast<uint8_t>(request.op),
                        static_cast<uint8_t>(request.type),
                        0};
  messages_.send(target, am::kAtomic, std::as_bytes(std::span(&message, 1)), {});
}

void AtomicMessages::serve(fabric::Rank source, std::span<const std::byte> payload) {
  Request message{};
  if (payload.size() == sizeof message) std::memcpy(&message, payload.data(), sizeof message);
  const auto type = static_cast<AtomicType>(message.type);
  if (payload.size() != sizeof message || message.op >= fabric::kAtomicOps ||
      message.type >= fabric::kAtomicTypes || message.offset % fabric::bytes_of(type) != 0 ||
      message.offset >= segment_.size()) {
    fail_(Error(ErrorCode::data_loss, "rank " + std::to_string(source) +
                                          " sent an atomic operation that is not well formed"));
  }
  const Reply reply{fabric::apply_atomic({static_cast<AtomicOp>(message.op), type, message.operand,
                                          message.expected},
                                         segment_.data() + message.offset),
                    message.token};
  messages_.send(source, am::kAtomicReply, std::as_bytes(std::span(&reply, 1)), {});
}

void AtomicMessages::take_reply(fabric::Rank source, std::span<const std::byte> payload) {
  Reply reply{};
  if (payload.size() == sizeof reply) std::memcpy(&reply, payload.data(), sizeof reply);
  if (payload.size() != sizeof reply || reply.token >= pending_.size() ||
      pending_[reply.token].counter == nullptr) {
    fail_(Error(ErrorCode::data_loss, "rank " + std::to_string(source) +
                                          " answered an atomic operation that is not under way"));
  }
  Pending& pending = pending_[reply.token];
  if (pending.previous != nullptr) {
    std::memcpy(pending.previous, &reply.previous, pending.bytes);
  }
  --pending.counter->pending;
  pending.counter = nullptr;
  free_.push_back(static_cast<uint32_t>(reply.token));
}

}  // namespace stripline::rma
