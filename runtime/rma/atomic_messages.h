// Atomic operations by active message: the owner of the variable carries them out when it makes
// progress, and answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/am/active_messages.h"
#include "runtime/fabric/fabric.h"

namespace stripline::rma {

class AtomicMessages {
 public:
  /// `fail` ends the job.
  AtomicMessages(am::ActiveMessages& messages, std::span<std::byte> segment, fabric::Rank rank,
                 fabric::FailureHandler fail);

  /// As Fabric::atomic(). The variable is aligned and within the segment. Makes progress while it
  /// has no credit for the message. `counter` drains when messages are served, which waits on the
  /// fabric alone may not see.
  void start(const fabric::AtomicRequest& request, fabric::Rank target, uint64_t offset,
             void* previous, fabric::Counter& counter);

 private:
  struct Request {
    uint64_t offset;
    uint64_t operand;
    uint64_t expected;
    uint32_t token;
    uint8_t op;
    uint8_t type;
    uint16_t reserved;
  };
  static_assert(sizeof(Request) == 32);
  struct Reply {
    uint64_t previous;
    uint64_t token;
  };

  // An operation that has not been answered.
  struct Pending {
    void* previous = nullptr;
    fabric::Counter* counter = nullptr;
    size_t bytes = 0;
  };

  void serve(fabric::Rank source, std::span<const std::byte> payload);
  void take_reply(fabric::Rank source, std::span<const std::byte> payload);

  am::ActiveMessages& messages_;
  std::span<std::byte> segment_;
  fabric::Rank rank_;
  fabric::FailureHandler fail_;
  std::vector<Pending> pending_;  // by token; grows to the most ever in flight
  std::vector<uint32_t> free_;
};

}  // namespace stripline::rma
