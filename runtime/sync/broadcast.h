// Binomial-tree broadcast of any number of bytes. A parent sends to a child only after the child
// has said that it is there, so that the data goes straight to where the child wants it and no rank
// ever stores data of a collective that it has not entered.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/am/active_messages.h"
#include "runtime/sync/collective_order.h"

namespace stripline::sync {

class Broadcast {
 public:
  /// `fail` ends the job.
  Broadcast(am::ActiveMessages& messages, CollectiveOrder& order, Rank me, Rank ranks,
            fabric::FailureHandler fail);

  /// Collective: returns when this rank's `bytes` hold root's, and its children have them on the
  /// way. Sent in messages of at most ActiveMessages::max_payload_bytes(). Ranks that give
  /// different lengths end the job. `kind` is what the program called.
  void run(std::span<std::byte> bytes, Rank root, Collective kind = Collective::broadcast);

 private:
  struct Header {
    uint64_t sequence;
    uint64_t total_bytes;
    uint64_t offset;
    Collective kind;
  };

  void on_ready(Rank source, std::span<const std::byte> payload);
  void on_data(Rank source, std::span<const std::byte> payload);
  void send_to(Rank child, const Header& header);

  am::ActiveMessages& messages_;
  CollectiveOrder& order_;
  Rank me_;
  Rank ranks_;
  fabric::FailureHandler fail_;
  std::vector<uint64_t> ready_;  // by rank, the latest collective in which it awaits our data
  std::span<std::byte> bytes_;   // of the collective in progress
  size_t received_ = 0;
  bool heard_ = false;  // the parent has sent something
};

}  // namespace stripline::sync
