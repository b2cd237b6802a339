// The gets of a phase, which begins at a barrier: what its last visit made is expected of the next
// one, in the same order, and fetched ahead (Chen, Optimizing PGAS Programs for Cluster
// Architectures, 2007, section 7.1.2). What a visit did not make is not expected again, and neither
// is fetched ahead what the rank itself stored into in the visit before. Where visits differ, what
// two in a row have made is fetched ahead, so that a phase whose gets change from visit to visit
// reads nothing in vain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <stripline/global_ptr.h>

#include "runtime/bulk/range_index.h"

namespace stripline::bulk {

/// A get of contiguous memory, as a visit made it.
struct GetRecord {
  rank_t rank = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  /// Not to be made ahead in the next visit: this rank stored there in the same one, or the visit
  /// before, which made others, did not make it.
  bool spoiled = false;
  friend bool operator==(const GetRecord&, const GetRecord&) = default;
};

/// Takes out what overlaps this range of any rank's segment: it is given back.
void forget(std::vector<GetRecord>& records, uint64_t begin, uint64_t end);

/// One visit. A value; no network. Not thread-safe.
class PhaseGets {
 public:
  /// Gets of a visit that are remembered: the first ones.
  static constexpr size_t kMaxRecords = 16384;
  /// A get is looked for among this number of gets of its rank that have not come yet, and then
  /// among all of them: programs make them in the same order again, but for some.
  static constexpr size_t kLookAhead = 8;

  /// The visit begins. `ahead`: the gets are fetched ahead, not only remembered.
  void begin(std::span<const GetRecord> expected, bool ahead);
  /// The visit is over: what it has made. Nothing is expected any more.
  std::vector<GetRecord> end();

  /// The next get to be fetched ahead, which advances when it is issued() or skipped.
  std::optional<size_t> next();
  const GetRecord& expected(size_t index) const { return expected_[index].record; }
  /// It is not to be.
  void skip(size_t index) { expected_[index].state = State::held; }
  /// It has been, into buffer `buffer`.
  void issued(size_t index, uint64_t buffer);

  /// A get of the program. The buffer that has it, or will have it; none: it is to be made now.
  std::optional<uint64_t> take(rank_t rank, uint64_t offset, uint64_t bytes);

  /// This rank stores into a range.
  void spoil(rank_t rank, uint64_t begin, uint64_t end);
  /// Nothing may be served any more, or fetched ahead, or remembered.
  void give_up();
  /// The same, and what overlaps this range of any rank's segment is not remembered either: it is
  /// given back.
  void give_up(uint64_t begin, uint64_t end);

  /// Buffers that no get will ask for. To be taken away by the caller, who clears it.
  std::vector<uint64_t>& given_up() { return given_up_; }

  /// Visits the ranges that the visit expects, fetched or not: rank, begin, end.
  template <typename Visit>
  void for_each_expected(const Visit& visit) const {
    for (const Expected& one : expected_) {
      visit(one.record.rank, one.record.offset, one.record.offset + one.record.bytes);
    }
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  enum class State : uint8_t {
    waiting,
    held,  // not to be fetched ahead (GetRecord::spoiled)
    issued,
    spoiled,
    gone,  // it has come, or will not count
  };
  struct Expected {
    GetRecord record;
    uint32_t next = kNone;  // of the same rank
    State state = State::waiting;
    uint64_t buffer = 0;  // once it is issued
  };

  void leave(Expected& one, State state);
  // The first that has not come and is this one; null: there is none.
  Expected* find(rank_t rank, uint64_t offset, uint64_t bytes);
  RangeIndex& by_place();

  std::vector<Expected> expected_;
  std::unordered_map<rank_t, uint32_t> first_;  // by rank
  RangeIndex by_place_;                         // all of them, from when it is needed
  size_t next_ = 0;
  bool remembers_ = false;
  std::vector<GetRecord> made_;
  std::vector<uint64_t> given_up_;
};

}  // namespace stripline::bulk
