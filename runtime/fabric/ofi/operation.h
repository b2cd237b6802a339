// Operations handed to the provider, and the buffers of messages. Everything is allocated when the
// fabric opens; issuing takes from free lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/fabric/fabric.h"
#include "runtime/fabric/ofi/ofi_endpoint.h"

namespace stripline::fabric::ofi {

enum class OperationKind : uint8_t { get, put, atomic, send, receive, group };

/// One operation the provider holds, found again through the context of its completion.
struct Operation {
  /// The provider's scratch space (FI_CONTEXT, FI_CONTEXT2). Must come first.
  void* provider_space[8] = {};
  Operation* next = nullptr;         ///< in a free list or a queue of arrivals
  Operation* group = nullptr;        ///< the transfer this is a piece of
  Counter* counter = nullptr;        ///< notified of the completion; null: no one waits
  std::byte* buffer = nullptr;       ///< bounce, send or receive buffer
  std::byte* destination = nullptr;  ///< gets `bytes` from `staged` on completion
  std::byte* staged = nullptr;       ///< in `buffer`, or `scratch`
  uint64_t scratch[3] = {};          ///< operands and result of an atomic operation
  size_t bytes = 0;
  uint32_t pieces = 0;  ///< of a group, still to complete
  Rank peer = 0;
  OperationKind kind = OperationKind::get;
  bool active = false;    ///< taken from its pool
  FidPtr<fid_mr> region;  ///< of private memory, registered for this operation alone
};

/// A fixed number of operations.
class OperationPool {
 public:
  explicit OperationPool(size_t count) : operations_(count) {
    for (Operation& operation : operations_) {
      operation.next = free_;
      free_ = &operation;
    }
  }

  /// Null when all are in use.
  Operation* acquire() {
    Operation* operation = free_;
    if (operation == nullptr) return nullptr;
    free_ = operation->next;
    ++in_use_;
    operation->active = true;
    operation->next = nullptr;
    operation->group = nullptr;
    operation->counter = nullptr;
    operation->buffer = nullptr;
    operation->destination = nullptr;
    return operation;
  }
  void release(Operation* operation) {
    operation->active = false;
    operation->next = free_;
    free_ = operation;
    --in_use_;
  }
  size_t in_use() const { return in_use_; }
  /// True if `operation`, which may point anywhere or be null, is one of these.
  bool owns(const Operation* operation) const {
    const std::less<const Operation*> before;
    return !before(operation, operations_.data()) &&
           before(operation, operations_.data() + operations_.size());
  }
  /// All of them, free ones too.
  std::span<const Operation> all() const { return operations_; }

 private:
  std::vector<Operation> operations_;
  Operation* free_ = nullptr;
  size_t in_use_ = 0;
};

/// First in, first out, through Operation::next.
class OperationQueue {
 public:
  bool empty() const { return head_ == nullptr; }
  void push(Operation* operation) {
    operation->next = nullptr;
    (head_ == nullptr ? head_ : tail_->next) = operation;
    tail_ = operation;
  }
  Operation* pop() {
    Operation* operation = head_;
    head_ = operation->next;
    operation->next = nullptr;
    return operation;
  }

 private:
  Operation* head_ = nullptr;
  Operation* tail_ = nullptr;
};

/// Buffers of one size in one piece of memory, registered at once where the provider wants that.
class BufferPool {
 public:
  BufferPool() = default;
  /// Errors: those of Endpoint::register_memory().
  static Result<BufferPool> create(Endpoint& endpoint, size_t count, size_t buffer_bytes);

  /// Null when all are in use.
  std::byte* acquire() {
    if (free_.empty()) return nullptr;
    std::byte* buffer = free_.back();
    free_.pop_back();
    return buffer;
  }
  void release(std::byte* buffer) { free_.push_back(buffer); }

  size_t buffer_bytes() const { return buffer_bytes_; }
  size_t total_bytes() const { return memory_.size(); }
  /// Before the endpoint closes, where regions are bound to it.
  void give_up_registration() { registration_.region.reset(); }
  void* descriptor() const { return registration_.descriptor; }

 private:
  std::vector<std::byte> memory_;
  std::vector<std::byte*> free_;  // reserved for all of them
  size_t buffer_bytes_ = 0;
  Registration registration_;
};

}  // namespace stripline::fabric::ofi
