// Debug mode (Options::debug, docs/debugging.md): what a Context checks beyond the bounds of
// segments. Exists only when it is on; each call asks for that once.
//
//   * accesses to memory of the symmetric heap that was freed or never allocated (heap_log.h)
//   * operations of this rank that conflict with one that it does not know to be complete
//     (access_log.h)
//   * the private memory of operations: a put's source changes, a get's destination changes, before
//     the operation is complete; a get delivers no earlier than it promises
//   * collective calls that do not match (runtime/sync/collective_check.h)
//
// What is wrong ends the job as all mistakes of the program do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <stripline/call_site.h>
#include <stripline/global_ptr.h>

#include "runtime/fabric/fabric.h"
#include "runtime/rma/access_log.h"
#include "runtime/rma/continuations.h"
#include "runtime/rma/heap_log.h"
#include "runtime/rma/observers.h"
#include "runtime/sync/collective_check.h"

namespace stripline::detail {
struct ContextState;
}

namespace stripline::rma {

class DebugChecks final : public Observer {
 public:
  /// What destinations of gets in flight, and freed memory, are filled with.
  static constexpr std::byte kFill{0xdb};

  /// After everything else in `state`, which stays.
  explicit DebugChecks(detail::ContextState& state);

  // --- the symmetric heap ---------------------------------------------------------------------

  void allocated(uint64_t offset, uint64_t bytes, CallSite site) {
    heap_.allocated(offset, bytes, site);
  }
  /// Ends the job if this rank has updates in flight for an array that `call` gives back.
  void check_free(const Call& call, uint64_t offset, uint64_t bytes) const;
  /// Fills this rank's part.
  void freed(uint64_t offset, CallSite site);
  /// The same of memory that this rank alone allocates.
  void allocated_local(uint64_t offset, uint64_t bytes, CallSite site) {
    local_heap_.allocated(offset, bytes, site);
  }
  void freed_local(uint64_t offset, CallSite site);

  /// Ends the job if these bytes, which are within the segment, are not within one array, or if
  /// `access` conflicts with an operation that is not complete.
  void check(Call call, Access access, rank_t target, uint64_t offset, size_t bytes);
  /// The same of an update, which stays open until its epoch ends.
  void update(Call call, uint32_t epoch, rank_t target, uint64_t offset, size_t bytes);
  /// All updates of the epoch by this rank are complete.
  void updated(uint32_t epoch) { close(AccessLog::of_epoch(epoch)); }

  /// Ends the job if this rank's memory is used by an operation that is not complete, and one of
  /// the two writes it.
  void check_local(Call call, bool writes, const std::byte* memory, size_t bytes) const;

  // --- operations: open from started() until the program knows that they are complete ----------

  /// The job ends if this rank's side is used by an operation that is not complete. What is to be
  /// fetched goes to memory of debug mode, if it has room.
  void begins(Observation& operation) override;
  void touches(Observation& operation, const Touched& range) override;
  void raises(Observation& operation, const Touched& flag) override;
  void started(Observation& operation, const std::optional<SlotUse>& use, bool complete) override;

  void completed(const SlotUse& use) override;
  void source_free(const SlotUse& use) override;
  void drained() override;
  void fenced(std::optional<rank_t> target) override;

  /// A flag, the end of a collective, what a get or an atomic operation has fetched, the program's
  /// own memory after progress. No one can tell whose doing it was, and through how many ranks it
  /// has come, so that every observable operation may be known to be complete by it: where that is
  /// not so, a conflict stays unseen, but no correct program is stopped.
  void learnt() override;

  sync::CollectiveCheck& collectives() { return collectives_; }
  const AccessLog& accesses() const { return accesses_; }

 private:
  std::string complaint(rank_t target, uint64_t offset, size_t bytes) const;
  OpenAccess open_access(const Touched& range, rank_t target) const;
  void open(AccessLog::Token token, OpenAccess&& access);
  bool close(AccessLog::Token token);
  void notice_handlers();
  void conclude(const OpenAccess& access) const;

  detail::ContextState& state_;
  HeapLog heap_;
  HeapLog local_heap_{"deallocate_local"};
  AccessLog accesses_;
  sync::CollectiveCheck collectives_;
  bool said_full_ = false;
  uint64_t handlers_ = 0;  // of the program, that had run when it was last asked
};

/// While it lives, the collectives that a rank makes belong to this call of the program.
/// Meanwhile what follows futures may run (continuations.h): all of it waits for other ranks.
class CollectiveScope {
 public:
  /// `State` is ContextState. `detail`: what must agree beyond kind, root and length; may be the
  /// name of an instance of detail::reduction_of(), or null.
  template <typename State>
  CollectiveScope(State& state, const char* name, CallSite site, const char* detail = nullptr)
      : checks_(state.job.observers().debug()), may_run_(state.operations.continuations().allow()) {
    state.job.activity().at(name, site);
    if (checks_ != nullptr) [[unlikely]]
      checks_->collectives().enter(name, site, shortened(detail));
  }
  ~CollectiveScope() {
    if (checks_ == nullptr) [[likely]]
      return;
    checks_->collectives().leave();
    checks_->learnt();
  }
  /// The call returns before the operation is complete.
  void returns_early() {
    if (checks_ != nullptr) [[unlikely]]
      checks_->collectives().returns_early();
  }
  CollectiveScope(const CollectiveScope&) = delete;
  CollectiveScope& operator=(const CollectiveScope&) = delete;

 private:
  static std::string shortened(const char* detail);

  DebugChecks* checks_;
  const Continuations::Permission may_run_;
};

}  // namespace stripline::rma
