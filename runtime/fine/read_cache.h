// What the reads of a region have fetched, or are about to: boxes of other ranks' segments, each
// with its bytes, until no value waits for them and their memory is wanted. A read of what a box
// holds needs no message (Chen, Optimizing PGAS Programs for Cluster Architectures, 2007, section
// 6.2: redundancy, which a library finds as the program runs).
//
// No network; who uses it says what is in flight.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include <stripline/global_ptr.h>

#include "runtime/rma/completion_slots.h"

namespace stripline::fine {

/// Contiguous bytes of a rank's segment.
struct Box {
  enum class State : uint8_t {
    held,    ///< not asked for yet: it may grow
    flying,  ///< its bytes may not be here
    here,
  };
  rank_t rank = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
  State state = State::here;
  bool stale = false;    ///< serves no more reads
  uint32_t waiting = 0;  ///< values that will be taken from it
  uint64_t epoch = 0;    ///< in which its bytes hold, from State::flying on
  rma::SlotUse use;      ///< of State::flying
  double begun_s = 0;    ///< of blocks: when they were asked for
  uint32_t served = 0;   ///< of blocks: reads
  std::vector<std::byte> bytes;

  bool covers(rank_t of, uint64_t from, uint64_t to) const {
    return rank == of && begin <= from && to <= end;
  }
};

/// Boxes have numbers, under which others follow when they have gone. Not thread-safe.
class ReadCache {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// Memory that it keeps beyond what values wait for, from now on.
  void limit(size_t bytes) { limit_ = bytes; }
  /// Memory that it has.
  size_t bytes() const { return bytes_; }

  Box& operator[](uint32_t number) { return boxes_[number].box; }

  /// A box that holds a range, or will, in this epoch; kNone: there is none, or it is not found, as
  /// boxes may overlap. O(log boxes).
  uint32_t find(rank_t rank, uint64_t begin, uint64_t end, uint64_t epoch) const {
    auto place = places_.upper_bound({rank, begin});
    if (place == places_.begin()) return kNone;
    --place;
    const Box& box = boxes_[place->second].box;
    const bool holds = box.state == Box::State::held || (!box.stale && box.epoch == epoch);
    return holds && box.covers(rank, begin, end) ? place->second : kNone;
  }

  /// A new box, held. `is_over(use)` says that what was in flight into one is not any more.
  template <typename IsOver>
  uint32_t add(rank_t rank, uint64_t begin, uint64_t end, const IsOver& is_over) {
    const uint32_t number = unused(is_over);
    Box& box = boxes_[number].box;
    box.rank = rank;
    box.begin = begin;
    box.end = end;
    box.state = Box::State::held;
    box.stale = false;
    box.waiting = 0;
    box.begun_s = 0;
    box.served = 0;
    enter(number);
    return number;
  }
  /// A held box grows to hold a range of its rank, too.
  void widen(uint32_t number, uint64_t begin, uint64_t end) {
    Box& box = boxes_[number].box;
    box.end = std::max(box.end, end);
    if (begin < box.begin) {
      places_.erase(boxes_[number].place);
      box.begin = begin;
      enter(number);
    }
    longest_ = std::max(longest_, box.end - box.begin);
  }
  /// Gives it the memory for its bytes.
  void make_room(uint32_t number) {
    Box& box = boxes_[number].box;
    bytes_ -= box.bytes.capacity();
    box.bytes.resize(box.end - box.begin);
    bytes_ += box.bytes.capacity();
  }

  /// Boxes that no value waits for hold no more: others follow under their numbers, in their memory
  /// as far as that is within the limit.
  void forget_idle() {
    for (auto place = places_.begin(); place != places_.end();) {
      Box& box = boxes_[place->second].box;
      if (box.state != Box::State::here || box.waiting > 0) {
        ++place;
        continue;
      }
      if (bytes_ > limit_) {
        bytes_ -= box.bytes.capacity();
        std::vector<std::byte>().swap(box.bytes);
      }
      idle_.push_back(place->second);
      place = places_.erase(place);
    }
    if (places_.empty()) longest_ = 0;
  }

  /// Visits all boxes that overlap a range: visit(box).
  template <typename Visit>
  void for_each_overlapping(rank_t rank, uint64_t begin, uint64_t end, const Visit& visit) {
    const uint64_t first = begin - std::min(begin, longest_);
    for (auto place = places_.lower_bound({rank, first}); place != places_.end(); ++place) {
      if (place->first.first != rank || place->first.second >= end) break;
      Box& box = boxes_[place->second].box;
      if (box.end > begin) visit(box);
    }
  }

 private:
  using Places = std::multimap<std::pair<rank_t, uint64_t>, uint32_t>;
  struct Entry {
    Box box;
    Places::iterator place;
  };
  // Boxes that are looked at for one that may go.
  static constexpr size_t kLooks = 16;

  // The newest of boxes with one beginning comes last.
  void enter(uint32_t number) {
    const Box& box = boxes_[number].box;
    boxes_[number].place = places_.emplace(std::pair(box.rank, box.begin), number);
    longest_ = std::max(longest_, box.end - box.begin);
  }

  // One that is idle; while there is memory left, another one; else one that no value waits for, by
  // turns.
  template <typename IsOver>
  uint32_t unused(const IsOver& is_over) {
    if (!idle_.empty()) {
      const uint32_t number = idle_.back();
      idle_.pop_back();
      return number;
    }
    if (bytes_ + sizeof(Entry) <= limit_) return another();
    for (size_t look = 0; look < std::min(kLooks, boxes_.size()); ++look) {
      hand_ = hand_ + 1 < boxes_.size() ? hand_ + 1 : 0;
      Entry& entry = boxes_[hand_];
      if (entry.box.waiting > 0 || entry.box.state == Box::State::held) continue;
      if (entry.box.state == Box::State::flying && !is_over(entry.box.use)) continue;
      places_.erase(entry.place);
      return static_cast<uint32_t>(hand_);
    }
    return another();
  }
  uint32_t another() {
    bytes_ += sizeof(Entry);
    boxes_.emplace_back();
    return static_cast<uint32_t>(boxes_.size() - 1);
  }

  std::deque<Entry> boxes_;
  Places places_;               // numbers of boxes, by rank and beginning
  std::vector<uint32_t> idle_;  // those that are not there
  size_t limit_ = 0;
  size_t bytes_ = 0;
  uint64_t longest_ = 0;
  size_t hand_ = 0;
};

}  // namespace stripline::fine
