// What --trace shows of operations that a program makes one by one: gets, puts, atomic operations
// and messages, by the place of the call. A thousand of them cost a thousand round trips where one
// call for all would cost one, which no table of plans tells.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include <stripline/global_ptr.h>

#include "runtime/rma/call.h"

namespace stripline::rma {

/// The traced operations of one rank. Allocates; for programs that are traced.
class OperationTrace {
 public:
  enum class Kind : uint8_t { get, put, atomic, message };

  /// One operation, with what its call took.
  struct Operation {
    Call call{nullptr};
    Kind kind = Kind::get;
    rank_t target = 0;
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };

  /// An operation that is not reported again.
  /// `complete`: it was complete when its call returned.
  void done(const Operation& operation, double seconds, bool complete);
  /// One that completes in this slot (completion_slots.h).
  void begun(const Operation& operation, double seconds, uint32_t slot, uint32_t generation);
  /// The program has waited this many seconds for what is in this slot.
  void waited(uint32_t slot, uint32_t generation, double seconds);

  /// A call within another one belongs to that: only the outermost is reported.
  bool outermost() const { return depth_ == 0; }
  void enter() { ++depth_; }
  void leave() { --depth_; }

  /// A line for each place, those that took longest first, with their part of `total_s` and what
  /// would do the same faster. Empty without an operation.
  std::string text(double total_s) const;

 private:
  struct Row {
    Kind kind = Kind::get;
    uint64_t count = 0;
    uint64_t bytes = 0;
    uint64_t least_bytes = 0;
    uint64_t most_bytes = 0;
    double seconds = 0;
    // How often, after an operation of the same place: ...
    uint64_t awaited = 0;    // that was complete before the next one
    uint64_t continued = 0;  // to the same rank, from where the one before ended
    uint64_t in_step = 0;    // ... as far from it as that was from the one before
    uint64_t regular = 0;    // ... by one of few distances, as within a block of rows
    // These distances, and how many there were, some of which may have taken the place of others.
    std::array<uint64_t, 4> steps{};
    size_t step_count = 0;
    bool complete = false;  // of the last one
    rank_t target = 0;
    uint64_t offset = 0;
    uint64_t end = 0;
    uint64_t step = 0;
  };
  using Key = std::tuple<std::string_view, int, std::string_view>;  // file, line, name
  struct InFlight {
    uint32_t generation = 0;
    Row* row = nullptr;
    uint64_t number = 0;  // of the row's operations
  };

  Row& note(const Operation& operation, double seconds);
  static bool is_known(Row& row, uint64_t step);
  static std::string hint(const Row& row, std::string_view name);

  std::map<Key, Row> rows_;
  std::unordered_map<uint32_t, InFlight> in_flight_;  // by slot
  int depth_ = 0;
};

}  // namespace stripline::rma
