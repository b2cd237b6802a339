#include "runtime/rma/owner_operations.h"

#include <cstring>
#include <string>
#include <utility>

#include "runtime/fabric/atomic_apply.h"

namespace stripline::rma {

using fabric::AtomicOp;
using fabric::AtomicType;

OwnerOperations::OwnerOperations(am::ActiveMessages& messages, std::span<std::byte> segment,
                                 fabric::FailureHandler fail)
    : messages_(messages), segment_(segment), fail_(std::move(fail)) {
  const auto serve = [this](const char* name, am::Purpose purpose, auto member) {
    return messages_.serve(name, purpose,
                           [this, member](fabric::Rank source, std::span<const std::byte> payload) {
                             (this->*member)(source, payload);
                           });
  };
  atomic_ = serve("atomic operation", am::Purpose::work, &OwnerOperations::serve_atomic);
  signalled_put_ = serve("signalled put", am::Purpose::work, &OwnerOperations::serve_put);
  reply_ = serve("owner's reply", am::Purpose::answer, &OwnerOperations::take_reply);
}

uint32_t OwnerOperations::expect_reply(const Pending& pending) {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(pending_.size()));
    pending_.emplace_back();
  }
  const uint32_t token = free_.back();
  free_.pop_back();
  pending_[token] = pending;
  ++pending.counter->pending;
  return token;
}

void OwnerOperations::reply(fabric::Rank target, uint64_t token, uint64_t previous) {
  const Reply message{previous, token};
  messages_.send(target, reply_, std::as_bytes(std::span(&message, 1)), {});
}

void OwnerOperations::fail_malformed(fabric::Rank source, const char* what) const {
  fail_(Error(ErrorCode::data_loss,
              "rank " + std::to_string(source) + " sent " + what + " that is not well formed"));
}

void OwnerOperations::atomic(const fabric::AtomicRequest& request, fabric::Rank target,
                             uint64_t offset, void* previous, fabric::Counter& counter) {
  const AtomicMessage message{offset,
                              request.operand,
                              request.expected,
                              expect_reply({previous, &counter, fabric::bytes_of(request.type)}),
                              static_cast<uint8_t>(request.op),
                              static_cast<uint8_t>(request.type),
                              0};
  messages_.send(target, atomic_, std::as_bytes(std::span(&message, 1)), {});
}

void OwnerOperations::serve_atomic(fabric::Rank source, std::span<const std::byte> payload) {
  AtomicMessage message{};
  if (payload.size() == sizeof message) std::memcpy(&message, payload.data(), sizeof message);
  const auto type = static_cast<AtomicType>(message.type);
  if (payload.size() != sizeof message || message.op >= fabric::kAtomicOps ||
      message.type >= fabric::kAtomicTypes || message.offset % fabric::bytes_of(type) != 0 ||
      message.offset >= segment_.size()) {
    fail_malformed(source, "an atomic operation");
  }
  const fabric::AtomicRequest request{static_cast<AtomicOp>(message.op), type, message.operand,
                                      message.expected};
  reply(source, message.token, fabric::apply_atomic(request, segment_.data() + message.offset));
}

void OwnerOperations::put_signal(fabric::Rank target, uint64_t offset, const std::byte* source,
                                 size_t bytes, const fabric::Signal& signal,
                                 fabric::Counter& counter) {
  const PutRequest message{offset, signal.offset, signal.value};
  messages_.send_noted(target, signalled_put_, std::as_bytes(std::span(&message, 1)),
                       {source, bytes}, counter);
}

void OwnerOperations::serve_put(fabric::Rank source, std::span<const std::byte> payload) {
  PutRequest message{};
  const bool complete = payload.size() >= sizeof message;
  if (complete) std::memcpy(&message, payload.data(), sizeof message);
  const std::span<const std::byte> data = complete ? payload.subspan(sizeof message) : payload;
  if (!complete || message.offset > segment_.size() ||
      data.size() > segment_.size() - message.offset ||
      message.flag_offset % sizeof(uint64_t) != 0 || message.flag_offset >= segment_.size()) {
    fail_malformed(source, "a put with a signal");
  }
  if (!data.empty()) std::memcpy(segment_.data() + message.offset, data.data(), data.size());
  fabric::raise_flag(segment_.data() + message.flag_offset, message.value);
}

void OwnerOperations::take_reply(fabric::Rank source, std::span<const std::byte> payload) {
  Reply message{};
  if (payload.size() == sizeof message) std::memcpy(&message, payload.data(), sizeof message);
  if (payload.size() != sizeof message || message.token >= pending_.size() ||
      pending_[message.token].counter == nullptr) {
    fail_malformed(source, "an answer");
  }
  Pending& pending = pending_[message.token];
  if (pending.previous != nullptr) {
    std::memcpy(pending.previous, &message.previous, pending.bytes);
  }
  --pending.counter->pending;
  pending.counter = nullptr;
  free_.push_back(static_cast<uint32_t>(message.token));
}

}  // namespace stripline::rma
