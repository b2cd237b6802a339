// The middle of two hops or three (grid.h), of one epoch: parcels whose updates are of other ranks
// wait in their slots until all of them are in buffers for the next rank on their path, or carried
// out where they are this rank's own. A full buffer is sent as soon as there is a slot; others when
// somebody flushes.
//
// Works in the background, where nothing waits. One thread at a time, as the runtime.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
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
  Forwarder(Epoch& epoch, const detail::UpdateType& type, const Grid& grid, rank_t me, rank_t ranks,
            uint64_t cells, uint32_t capacity);

  struct Held {
    rank_t source = 0;
    uint32_t slot = 0;
    Head head;                        // its onward says how it came
    std::span<const std::byte> body;  // pairs, or cells and one value
    size_t next = 0;                  // the first one that has not been forwarded
  };
  void hold(const Held& parcel) { stage_of(parcel.head.onward).held.push_back(parcel); }

  /// `source` waits until all that it has sent here, as `onward`, is carried out; `number` is what
  /// the number to answer with then.
  void flush_for(rank_t source, Onward onward, uint32_t number) {
    stage_of(onward).flushing.push_back({source, number});
  }
  /// All that this rank has forwarded to somebody, as `onward`, is carried out. False if no one has
  /// been asked.
  bool flushed(Onward onward);
  /// A parcel that was forwarded has been taken from its slot.
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
    bool sent_on = false;  // since its rank was asked to flush
  };
  struct Flushing {
    rank_t source = 0;
    uint32_t number = 0;
  };
  // Parcels that came in the same direction, which are forwarded in later directions only.
  struct Stage {
    std::deque<Held> held;
    std::optional<rank_t> blocked;  // whose buffer is full, while the first parcel waits for that
    std::vector<Flushing> flushing;
    uint32_t unanswered = 0;  // ranks that were asked to flush what was sent to them so
  };
  Stage& stage_of(Onward onward) { return stages_[static_cast<size_t>(onward)]; }

  bool forward(Stage& stage, Held& parcel);
  bool append(Stage& stage, rank_t next, uint64_t cell, const std::byte* value);
  bool send(rank_t next);
  void go_on(Stage& stage);
  bool has_sent_all() const;
  bool is_behind(Onward onward, Onward before) const;
  bool may_tell(Onward onward) const;
  bool must_ask(Onward onward) const;
  void flush(Onward onward);

  Epoch& epoch_;
  const detail::UpdateType type_;
  const rank_t me_;
  const Grid grid_;
  const uint64_t cells_;
  const detail::Divisor by_cells_;
  const uint32_t capacity_;
  std::vector<Lane> lanes_;  // by the next rank
  std::array<Stage, kOnwards> stages_;
  bool advancing_ = false;
  uint64_t unreturned_ = 0;
};

}  // namespace stripline::update
