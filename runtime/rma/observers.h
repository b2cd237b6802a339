// Observers of what the program does with the memory of other ranks: debug mode and --trace.
// Operations (operation.h) tell them from the call until the call returns, waits and fences what
// has become known to be complete. In most programs there is none, which costs a comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <stripline/call_site.h>
#include <stripline/global_ptr.h>

#include "runtime/rma/access_log.h"
#include "runtime/rma/call.h"
#include "runtime/rma/call_trace.h"
#include "runtime/rma/completion_slots.h"

namespace stripline::rma {

class DebugChecks;
class ProgramTrace;

/// One operation of the program, with what observers note of it until the call returns.
struct Observation {
  Call call{nullptr};
  Access access = Access::none;  ///< none: a message
  rank_t target = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  /// This rank's side: what a put reads, or what a get or a fetching atomic operation writes. Null:
  /// there is none, or it may change at once.
  std::byte* memory = nullptr;
  /// Where what is fetched goes: `memory`, unless an observer keeps it until it is complete.
  std::byte* destination = nullptr;

  bool many_regions = false;  ///< what it touches is reported region by region

  std::vector<OpenAccess> accesses;        ///< of debug mode
  bool outermost = false;                  ///< of the trace: it is notified of this one
  double begun_s = 0;                      ///< likewise
  std::optional<detail::TracedCall> plan;  ///< of a transfer of many regions that was planned
};

/// A range that an operation of many regions touches, or the flag that one raises.
struct Touched {
  Call call{nullptr};
  Access access = Access::none;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  std::byte* memory = nullptr;
};

class Observer {
 public:
  Observer() = default;
  virtual ~Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  // --- one operation, in this order -----------------------------------------------------------

  /// It has been checked, and is about to be carried out.
  virtual void begins(Observation&) {}
  /// It touches this, too. Of one that raises a flag, whoever sees that knows all of the operation
  /// to be complete.
  virtual void touches(Observation&, const Touched&) {}
  virtual void raises(Observation&, const Touched&) {}
  /// It has been started under this slot; without one, a fence completes it or it is `complete`.
  virtual void started(Observation&, const std::optional<SlotUse>&, bool /*complete*/) {}

  // --- completion -----------------------------------------------------------------------------

  /// The program has found the operation of this slot complete.
  virtual void completed(const SlotUse&) {}
  /// It has waited for that, for this long.
  virtual void waited(const SlotUse&, double /*seconds*/) {}
  /// It has found that the put of this slot no longer reads its source.
  virtual void source_free(const SlotUse&) {}
  /// All operations under slots whose counters have drained are complete.
  virtual void drained() {}
  /// The operations without slots are complete, to one rank or to all.
  virtual void fenced(std::optional<rank_t>) {}
  /// Something that others did may have come to the program's knowledge.
  virtual void learnt() {}
};

class Observers {
 public:
  Observers();
  ~Observers();

  bool any() const { return !all_.empty(); }
  /// Null unless it watches.
  DebugChecks* debug() const { return debug_; }
  ProgramTrace* trace() const { return trace_; }

  void watch(std::unique_ptr<DebugChecks> debug);
  /// In the place of an earlier one.
  void watch(std::unique_ptr<ProgramTrace> trace);
  /// No one watches any longer.
  void clear();

  /// Tells all of an event: tell(&Observer::learnt).
  template <typename... Parameters, typename... Arguments>
  void tell(void (Observer::*event)(Parameters...), Arguments&&... arguments) const {
    for (const auto& observer : all_) (observer.get()->*event)(arguments...);
  }

 private:
  std::vector<std::unique_ptr<Observer>> all_;
  DebugChecks* debug_ = nullptr;
  ProgramTrace* trace_ = nullptr;
};

}  // namespace stripline::rma
