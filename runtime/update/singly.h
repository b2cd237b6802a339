// Updates of an epoch that do not travel in buffers: one by one, as messages that the owner carries
// out or as atomic operations of the network; or under locks of the owner, by reading, updating and
// writing what this rank reaches.
//
// Locks are the owner's, who grants them by message in the order in which they are asked for. A
// rank holds one at a time, and handlers wait for none, so that no one waits in a circle.
//
// One thread at a time, as the runtime.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <stripline/atomic.h>
#include <stripline/update.h>

#include "runtime/rma/context_state.h"
#include "runtime/update/parcel.h"

namespace stripline::update {

class Singly {
 public:
  /// `type_hash` and `number` are the epoch's.
  Singly(Context& context, const detail::UpdateType& type, uint32_t type_hash, uint32_t number);

  /// True if the network carries such updates out, alike wherever the cells are.
  static bool has_provider(Context& context, const detail::UpdateType& type);
  /// True if a message takes such a value.
  static bool has_messages(const detail::ContextState& state, const detail::UpdateType& type);

  // --- the program. `previous`, unless null, gets what the cell held before ----------------------

  void by_message(rank_t target, uint64_t cell, const std::byte* value);
  future by_provider(rank_t target, uint64_t cell, const std::byte* value, std::byte* previous,
                     CallSite site);
  void under_cell_lock(rank_t target, uint64_t cell, const std::byte* value, std::byte* previous);
  void fetch_under_owner_lock(rank_t target, uint64_t cell, const std::byte* value,
                              std::byte* previous);
  /// Cells are counted from `first` on.
  void under_owner_lock(rank_t target, uint64_t first, std::span<const Cell> cells,
                        const std::byte* values);
  /// Returns when all are carried out.
  void complete();

  // --- inside of handlers ------------------------------------------------------------------------

  /// An update of `source` has been carried out.
  void carried_out(rank_t source);
  void asked(rank_t source, const Asked& asked);
  /// False if no one has asked for it.
  bool answered(const Asked& answer);

 private:
  // Locks of an owner: cells share all but the last, which stands for all that it has.
  static constexpr uint32_t kCellLocks = 64;
  static constexpr uint32_t kOwnerLock = kCellLocks;
  static constexpr uint32_t kLocks = kOwnerLock + 1;

  struct Lock {
    bool held = false;
    std::vector<rank_t> waiting;
  };
  // Messages, by peer.
  struct Count {
    uint32_t sent = 0;
    bool told = true;      // the target has been asked for those
    uint32_t applied = 0;  // of the peer's
    std::optional<uint32_t> awaited;
  };

  void send(rank_t target, const char* handler, const Asked& asked);
  void under_lock(rank_t target, uint32_t number, uint64_t cell, const std::byte* value,
                  std::byte* previous);
  void lock(rank_t target, uint32_t number);
  void unlock(rank_t target, uint32_t number);
  void request(rank_t source, uint32_t number);
  void pass_on(uint32_t number);
  void get(rank_t target, uint64_t cell, std::byte* value, fabric::Counter& counter);
  void put(rank_t target, uint64_t cell, const std::byte* value, fabric::Counter& counter);
  std::byte* own(uint64_t cell) const;

  Context& context_;
  detail::ContextState& state_;
  const detail::UpdateType type_;
  const uint32_t type_hash_;
  const uint32_t number_;
  const rank_t me_;
  std::array<Lock, kLocks> locks_;
  bool granted_ = false;
  std::vector<Count> counts_;
  uint32_t unanswered_ = 0;
  std::optional<detail::AtomicDomain> domain_;
  // For updates under a lock: their cells in order, each once; what those hold.
  std::vector<uint64_t> order_;
  std::vector<std::byte> held_;
};

}  // namespace stripline::update
