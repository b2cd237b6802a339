// The middle of two hops (grid.h), of one epoch: parcels whose updates are of other ranks wait in
// their slots until all of them are in buffers for their owners, or carried out where they are this
// rank's own. A full buffer is sent as soon as there is a slot; others when somebody flushes.
//
// Works in the background, where nothing waits. One thread at a time, as the runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include <stripline/update.h>

#include "runtime/update/grid.h"
#include "runtime/update/parcel.h"

namespace stripline::update {

class Epoch;

class Forwarder {
 public:
  /// `cells` of a segment, in units of its type; buffers take `capacity` updates.
  Forwarder(Epoch& epoch, const detail::UpdateType& type, rank_t me, rank_t ranks, uint64_t cells,
            uint32_t capacity);

  struct Held {
    rank_t source = 0;
    uint32_t slot = 0;
    Head head;
    std::span<const std::byte> body;  // pairs, or cells and one value
    size_t next = 0;                  // the first one that has not been forwarded
  };
  void hold(const Held& parcel) { held_.push_back(parcel); }

  /// `source` waits until all that it has sent here is carried out.
  void flush_for(rank_t source) { flushing_.push_back(source); }
  /// A parcel that was forwarded has been carried out.
  void returned() { --unreturned_; }

  bool ready() const;
  void advance();
  const Grid& grid() const { return grid_; }

 private:
  struct Lane {
    uint32_t buffer = 0;
    uint32_t window = 0;
    uint32_t count = 0;
    bool open = false;
  };

  bool forward(Held& parcel);
  bool append(rank_t owner, uint64_t cell, const std::byte* value);
  bool send(rank_t owner);
  bool has_sent_all() const;

  Epoch& epoch_;
  const detail::UpdateType type_;
  const rank_t me_;
  const Grid grid_;
  const detail::Divisor by_cells_;
  const uint32_t capacity_;
  std::vector<Lane> lanes_;  // by owner; those in the row and column of this rank are used
  std::deque<Held> held_;
  std::vector<rank_t> flushing_;
  rank_t blocked_ = 0;  // whose buffer is full, while the first parcel waits for that
  bool is_blocked_ = false;
  bool advancing_ = false;
  uint64_t unreturned_ = 0;
};

}  // namespace stripline::update
