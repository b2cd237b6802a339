// Operations by active message, which the owner of the memory carries out when it makes progress:
// atomic ones, which it answers, and puts that raise a flag, of which it says that they are done
// when it is asked or writes anyway (ActiveMessages::send_noted).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/am/active_messages.h"
#include "runtime/fabric/fabric.h"

namespace stripline::rma {

class OwnerOperations {
 public:
  /// `fail` ends the job.
  OwnerOperations(am::ActiveMessages& messages, std::span<std::byte> segment,
                  fabric::FailureHandler fail);

  // Each makes progress while it has no credit for its message. The counters drain when messages
  // are served, which waiting on the fabric alone may not bring about (am::ActiveMessages::wait).

  /// As Fabric::atomic(). The variable is aligned and within the segment of another rank.
  void atomic(const fabric::AtomicRequest& request, fabric::Rank target, uint64_t offset,
              void* previous, fabric::Counter& counter);

  /// As Fabric::put_signal(), for at most largest_signalled_put() bytes; they are copied.
  void put_signal(fabric::Rank target, uint64_t offset, const std::byte* source, size_t bytes,
                  const fabric::Signal& signal, fabric::Counter& counter);
  size_t largest_signalled_put() const {
    return messages_.max_payload_bytes() - sizeof(PutRequest);
  }

 private:
  struct AtomicMessage {
    uint64_t offset;
    uint64_t operand;
    uint64_t expected;
    uint32_t token;
    uint8_t op;
    uint8_t type;
    uint16_t reserved;
  };
  static_assert(sizeof(AtomicMessage) == 32);
  /// Followed by the data.
  struct PutRequest {
    uint64_t offset;
    uint64_t flag_offset;
    uint64_t value;
  };
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

  uint32_t expect_reply(const Pending& pending);
  void reply(fabric::Rank target, uint64_t token, uint64_t previous);
  void serve_atomic(fabric::Rank source, std::span<const std::byte> payload);
  void serve_put(fabric::Rank source, std::span<const std::byte> payload);
  void take_reply(fabric::Rank source, std::span<const std::byte> payload);
  void fail_malformed(fabric::Rank source, const char* what) const;

  am::ActiveMessages& messages_;
  uint16_t atomic_ = 0;  // handlers
  uint16_t signalled_put_ = 0;
  uint16_t reply_ = 0;
  std::span<std::byte> segment_;
  fabric::FailureHandler fail_;
  std::vector<Pending> pending_;  // by token; grows to the most ever in flight
  std::vector<uint32_t> free_;
};

}  // namespace stripline::rma
