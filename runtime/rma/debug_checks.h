// Debug mode (Options::debug, docs/debugging.md): what a Context checks beyond the bounds of
// segments. Exists only when it is on; each call asks for that once.
//
//   * accesses to memory of the symmetric heap that was freed or never allocated (heap_log.h)
//   * operations of this rank that conflict with one that is not complete (access_log.h)
//   * the private memory of operations: a put's source changes, a get's destination changes, before
//     the operation is complete; a get delivers no earlier than it promises
//   * collective calls that do not match (runtime/sync/collective_check.h)
//
// What is wrong ends the job as all mistakes of the program do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <stripline/call_site.h>
#include <stripline/global_ptr.h>

#include "runtime/fabric/fabric.h"
#include "runtime/rma/access_log.h"
#include "runtime/rma/continuations.h"
#include "runtime/rma/heap_log.h"
#include "runtime/sync/collective_check.h"

namespace stripline::detail {
struct ContextState;
}

namespace stripline::rma {

class DebugChecks {
 public:
  /// What destinations of gets under way, and freed memory, are filled with.
  static constexpr std::byte kFill{0xdb};

  /// A completion slot in use, for a future.
  struct Use {
    uint32_t slot = 0;
    uint32_t generation = 0;
  };

  /// After everything else in `state`, which stays.
  explicit DebugChecks(detail::ContextState& state);

  // --- the symmetric heap ---------------------------------------------------------------------

  void allocated(uint64_t offset, uint64_t bytes, CallSite site) {
    heap_.allocated(offset, bytes, site);
  }
  /// Fills this rank's part.
  void freed(uint64_t offset, CallSite site);
  /// The same of memory that this rank alone allocates.
  void allocated_local(uint64_t offset, uint64_t bytes, CallSite site) {
    local_heap_.allocated(offset, bytes, site);
  }
  void freed_local(uint64_t offset, CallSite site);

  /// Ends the job if these bytes, which are within the segment, are not within one array, or if
  /// `access` conflicts with an operation that is not complete.
  void check(const char* name, Access access, rank_t target, uint64_t offset, size_t bytes) const;
  /// Ends the job if this rank's memory is used by an operation that is not complete, and one of
  /// the two writes it.
  void check_local(const char* name, bool writes, const std::byte* memory, size_t bytes) const;

  // --- operations -----------------------------------------------------------------------------
  // Each is carried out as without debug mode, and stays open until the program knows that it is
  // complete. `caller` is an address in the calling function, for messages.

  Use get(std::byte* destination, rank_t target, uint64_t offset, size_t bytes, void* caller);
  Use put(const std::byte* source, rank_t target, uint64_t offset, size_t bytes, void* caller);
  Use put_buffered(const std::byte* source, rank_t target, uint64_t offset, size_t bytes,
                   void* caller);
  Use put_signal(const std::byte* source, rank_t target, uint64_t offset, size_t bytes,
                 const fabric::Signal& signal, void* caller);
  Use atomic(const fabric::AtomicRequest& request, rank_t target, uint64_t offset, void* previous,
             bool by_message, void* caller);
  void get_nbi(std::byte* destination, rank_t target, uint64_t offset, size_t bytes, void* caller);
  void put_nbi(const std::byte* source, rank_t target, uint64_t offset, size_t bytes, void* caller);

  /// One range of an operation that has been carried out under `use`: data that have been checked.
  void open(const Use& use, const char* name, Access access, rank_t target, uint64_t offset,
            size_t bytes, std::byte* memory, void* caller);

  // --- completion -----------------------------------------------------------------------------

  /// The program has found this future ready.
  void completed(uint32_t slot, uint32_t generation);
  /// It has found that this future's put no longer reads its source.
  void source_free(uint32_t slot, uint32_t generation);
  /// The operations without futures are complete, to one rank or to all.
  void fenced(rank_t target);
  void fenced();
  /// All operations with futures whose counters have drained are complete.
  void settle();

  sync::CollectiveCheck& collectives() { return collectives_; }
  const AccessLog& accesses() const { return accesses_; }

 private:
  std::string complaint(rank_t target, uint64_t offset, size_t bytes) const;
  static Callers callers_from(void* caller);
  OpenAccess describe(const char* name, Access access, rank_t target, uint64_t offset, size_t bytes,
                      const std::byte* memory, void* caller) const;
  void begin_get(OpenAccess& access) const;
  void end_get(OpenAccess& access) const;
  void open(AccessLog::Token token, OpenAccess&& access);
  void close(AccessLog::Token token);
  void conclude(const OpenAccess& access) const;

  detail::ContextState& state_;
  HeapLog heap_;
  HeapLog local_heap_{"deallocate_local"};
  AccessLog accesses_;
  sync::CollectiveCheck collectives_;
  bool said_full_ = false;
};

/// While it lives, the collectives that a rank makes belong to this call of the program.
/// Meanwhile what follows futures may run (continuations.h): all of it waits for other ranks.
class CollectiveScope {
 public:
  /// `State` is ContextState. `detail`: what must agree beyond kind, root and length; may be the
  /// name of an instance of detail::reduction_of(), or null.
  template <typename State>
  CollectiveScope(State& state, const char* name, CallSite site, const char* detail = nullptr)
      : check_(state.debug == nullptr ? nullptr : &state.debug->collectives()),
        may_run_(state.continuations.allow()) {
    state.operation.at(name, site);
    if (check_ != nullptr) [[unlikely]]
      check_->enter(name, site, shortened(detail));
  }
  ~CollectiveScope() {
    if (check_ != nullptr) [[unlikely]]
      check_->leave();
  }
  /// The call returns before the operation is complete.
  void returns_early() {
    if (check_ != nullptr) [[unlikely]]
      check_->returns_early();
  }
  CollectiveScope(const CollectiveScope&) = delete;
  CollectiveScope& operator=(const CollectiveScope&) = delete;

 private:
  static std::string shortened(const char* detail);

  sync::CollectiveCheck* check_;
  const Continuations::Permission may_run_;
};

}  // namespace stripline::rma
