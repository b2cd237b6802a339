// Filled buffers of a rank that wait for a slot at their receiver, while the rank fills others: so
// that one owner who is busy, or one whom all ranks have updates for at the same time, does not
// keep a rank from what it has for others. Those of one receiver leave in the order in which they
// were filled; receivers take turns, beginning with the next rank, so that not all ranks send to
// the same one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include <stripline/global_ptr.h>

#include "runtime/update/parcel.h"

namespace stripline::update {

class Backlog {
 public:
  Backlog(rank_t me, rank_t ranks) : me_(me), ranks_(ranks) {}

  struct Filled {
    uint32_t buffer = 0;
    Head head;
    std::span<const std::byte> body;  // in the buffer
  };

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }

  void add(rank_t receiver, const Filled& filled) {
    const auto at = std::ranges::lower_bound(queues_, turn_of(receiver), {}, &Queue::turn);
    if (at != queues_.end() && at->turn == turn_of(receiver)) {
      at->filled.push_back(filled);
    } else {
      queues_.insert(at, {turn_of(receiver), {filled}});
    }
    ++size_;
  }

  /// True if `can_send(receiver)` holds for one of the receivers.
  template <typename CanSend>
  bool can_send(const CanSend& can_send) const {
    return std::ranges::any_of(
        queues_, [&](const Queue& queue) { return can_send(receiver_of(queue.turn)); });
  }

  /// Calls send(receiver, filled) for what can be sent, one buffer of each receiver after another.
  /// It may come back here, where nothing happens then.
  template <typename CanSend, typename Send>
  void send(const CanSend& can_send, const Send& send) {
    if (std::exchange(sending_, true)) return;
    for (bool sent = true; sent && size_ > 0;) {
      sent = false;
      // What is added meanwhile moves others.
      for (Queue* queue = next_from(0); queue != nullptr;) {
        const rank_t turn = queue->turn;
        if (const rank_t receiver = receiver_of(turn); can_send(receiver)) {
          send(receiver, take_from(*queue));
          sent = true;
        }
        queue = next_from(turn + 1);
      }
    }
    sending_ = false;
  }

 private:
  // The filled buffers of one receiver, of which there are some.
  struct Queue {
    rank_t turn = 0;  // of the receiver: ranks behind this one
    std::deque<Filled> filled;
  };

  rank_t turn_of(rank_t receiver) const {
    return receiver >= me_ ? receiver - me_ : receiver + ranks_ - me_;
  }
  rank_t receiver_of(rank_t turn) const {
    return turn < ranks_ - me_ ? me_ + turn : turn - (ranks_ - me_);
  }

  Queue* next_from(rank_t turn) {
    const auto at = std::ranges::lower_bound(queues_, turn, {}, &Queue::turn);
    return at == queues_.end() ? nullptr : &*at;
  }

  Filled take_from(Queue& queue) {
    const Filled filled = queue.filled.front();
    queue.filled.pop_front();
    if (queue.filled.empty()) queues_.erase(queues_.begin() + (&queue - queues_.data()));
    --size_;
    return filled;
  }

  rank_t me_;
  rank_t ranks_;
  std::vector<Queue> queues_;  // by turn
  size_t size_ = 0;
  bool sending_ = false;
};

}  // namespace stripline::update
