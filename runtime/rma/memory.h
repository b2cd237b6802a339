// Memory that ranks share: this rank's segment with its heaps, what lies behind it, which other
// ranks' segments loads and stores reach, and whose copies of them are kept. The one place that
// knows what is in bounds and what can be reached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <stripline/global_ptr.h>
#include <stripline/work.h>

#include "runtime/rma/access_log.h"
#include "runtime/rma/call.h"
#include "runtime/rma/job.h"
#include "runtime/rma/keepers.h"
#include "runtime/rma/local_heap.h"
#include "runtime/rma/symmetric_heap.h"

namespace stripline::rma {

class Memory {
 public:
  /// Slots of the bulk transport of transfers of many regions and of combined puts, behind the
  /// program's segment.
  static size_t bulk_bytes(rank_t ranks);
  /// Memory of collectives that peers can put into, behind that: a third of it scratch memory, a
  /// third slots for what is received into private memory, and a third those of their own bulk
  /// transport.
  static constexpr size_t kCollectivePart = size_t{1} << 20;
  static constexpr size_t kCollectiveBytes = 3 * kCollectivePart;

  /// What the fabric is to register for a program's segment of this size.
  static size_t registered_bytes(size_t segment_bytes, rank_t ranks) {
    return collective_offset(segment_bytes, ranks) + kCollectiveBytes;
  }

  /// The memory of the job's fabric. The job outlives it.
  explicit Memory(Job& job);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// The program's.
  std::span<std::byte> segment() const { return segment_; }
  /// Beyond it, slots of the bulk transport.
  std::span<std::byte> bulk() const { return bulk_; }
  /// Beyond that, where collectives receive.
  std::span<std::byte> collective() const { return collective_; }
  SymmetricHeap& heap() { return heap_; }
  const SymmetricHeap& heap() const { return heap_; }
  LocalHeap& local_heap() { return local_heap_; }
  Keepers& keepers() { return keepers_; }

  // --- reach ------------------------------------------------------------------------------------

  /// The segment of a rank where loads and stores reach it, or null. This rank's own from the
  /// beginning, others' from find_reachable() on. Null in a child process (context_life.h), whose
  /// calls thereby take the longer path, which ends it.
  std::byte* reachable(rank_t target) const { return reachable_[target]; }
  /// All of them, by rank; stays where it is.
  std::byte* const* reachable() const { return reachable_.data(); }
  /// True if any rank of the job reaches another one's so, and if all do. Both the same on every
  /// rank.
  bool any_shared() const { return any_shared_; }
  bool all_shared() const { return all_shared_; }
  void set_shared(bool any, bool all) {
    any_shared_ = any;
    all_shared_ = all;
  }
  /// Finds the segments that are mapped here.
  void find_reachable();

  // --- bounds -----------------------------------------------------------------------------------

  /// The size of the segment; 0 in debug mode and with a trace, so that all calls take the path
  /// that is observed.
  size_t checked_bytes() const { return checked_bytes_; }

  /// Ends the job unless the range lies within the target's segment. Debug mode's checks are behind
  /// the same branch (docs/debugging.md); `access` is what the operation does there, if it is to be
  /// checked against those in flight.
  void check(Call call, rank_t target, uint64_t offset, size_t bytes,
             Access access = Access::none) const {
    if (target >= ranks_ || bytes > checked_bytes_ || offset > checked_bytes_ - bytes) [[unlikely]]
      check_closely(call.name, call.site(), target, offset, bytes, access);
  }

  /// Ends the job unless there is such a rank: for calls that name no bytes of it.
  void check_target(Call call, rank_t target) const {
    if (target >= ranks_) [[unlikely]]
      fail_target(call, target);
  }

  /// Ends the job unless `offset` is a multiple of `bytes`.
  void check_alignment(Call call, rank_t target, uint64_t offset, size_t bytes) const;

  /// Where loads and stores reach the range; null if they do not, or if it has to be looked at
  /// closely: check() says what is wrong.
  std::byte* find(global_ptr<const std::byte> place, size_t bytes) const {
    const rank_t target = place.where();
    const uint64_t offset = place.offset();
    // 0 bytes wrap around.
    if (target >= ranks_ || bytes - 1 >= checked_bytes_ || offset > checked_bytes_ - bytes) {
      return nullptr;
    }
    std::byte* const base = reachable_[target];
    return base == nullptr ? nullptr : base + offset;
  }

  /// The address of a place that loads and stores reach; the end of the segment is one. Ends the
  /// job for every other place.
  std::byte* local(Call call, global_ptr<const std::byte> place) const;

  /// memmove() in memory that loads and stores reach.
  void copy_here(std::byte* to, const std::byte* from, size_t bytes) const {
    if (bytes == 0) return;
    count_copy(fabric_.work(), 1, bytes);
    if (bytes == sizeof(uint64_t)) {  // the most frequent size, without a call
      std::memcpy(to, from, sizeof(uint64_t));
    } else {
      std::memmove(to, from, bytes);
    }
  }

 private:
  static size_t collective_offset(size_t segment_bytes, rank_t ranks);
  // Calls in their parts: compilers would put a Call together on the path that does not fail, too.
  void check_closely(const char* name, CallSite site, rank_t target, uint64_t offset, size_t bytes,
                     Access access) const;
  [[noreturn]] void fail_bounds(Call call, rank_t target, uint64_t offset, size_t bytes) const;
  [[noreturn]] void fail_target(Call call, rank_t target) const;

  const Job& job_;
  fabric::Fabric& fabric_;
  const rank_t ranks_;
  const std::span<std::byte> segment_;
  const size_t checked_bytes_;
  const std::span<std::byte> bulk_;
  const std::span<std::byte> collective_;
  const std::span<std::byte*> reachable_;  // null in child processes
  bool any_shared_ = false;
  bool all_shared_ = false;
  SymmetricHeap heap_;
  LocalHeap local_heap_;
  Keepers keepers_;
};

}  // namespace stripline::rma
