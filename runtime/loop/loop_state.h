// What the loop engine keeps for the life of a Context: compiled costs, plans, buffers, counters.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <stripline/loop.h>

#include "optimizer/plan/guard.h"
#include "optimizer/plan/plan_cache.h"
#include "optimizer/plan/strip_costs.h"
#include "runtime/fabric/fabric.h"
#include "runtime/loop/analysis.h"
#include "runtime/loop/attention.h"
#include "runtime/loop/buffer_pool.h"
#include "runtime/loop/compute_rates.h"
#include "runtime/loop/data_cache.h"
#include "runtime/loop/nest_engine.h"
#include "runtime/loop/network_loads.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/run_guard.h"

namespace stripline::detail {

/// Executions that are timed, and after how many of them the plan is first refined: the very first
/// one also pays for cold caches and fresh pages.
inline constexpr uint32_t kTimedExecutions = 4;
inline constexpr uint32_t kRefineAfter = 2;

/// True if a plan for a computation of `planned_s` (negative: an estimate) is to be made again for
/// one of `measured_s`: what differs by a margin of decisions may decide otherwise.
inline bool replans(double planned_s, double measured_s) {
  constexpr double kAlike = 0.02;
  return planned_s < 0 || std::abs(measured_s - planned_s) > kAlike * planned_s;
}

/// Tells call sites apart in caches of plans: what the program says, or the place of the call.
inline uint64_t site_of(uint64_t said, CallSite site) {
  if (said != 0) return said;
  return reinterpret_cast<uintptr_t>(site.file) ^ (static_cast<uint64_t>(site.line) << 40);
}

/// The number of a site, for the guard of the program's iterations.
inline uint64_t number_of(const plan::Guard& of_site) {
  return reinterpret_cast<uintptr_t>(&of_site);
}

/// What the guards of the program's iterations, which has been told of the execution, and of the
/// site say of a tuned plan. `within`: the site is being carried out already, around this one: the
/// time of a part is not to be compared with the whole, and it goes the way that is in use.
inline plan::Guard::Turn ask_guards(rma::RunGuard& run_guard, const rma::RunGuard::Turn& of_run,
                                    plan::Guard& of_site, bool within) {
  const uint64_t site = number_of(of_site);
  if (within) run_guard.leave_to_sites();
  if (run_guard.judges(site)) of_site.reinstate();
  if (of_site.in_use() == plan::Guard::Way::tuned) run_guard.differs(site);
  if (of_run.sites_decide && !within) return of_site.next();
  if (of_run.sites_decide || of_run.way == rma::RunGuard::Way::tuned) {
    return {of_site.in_use(), false};
  }
  return {of_run.way, false};
}

/// A loop that was executed before, by place and shape.
struct LoopSite {
  plan::StripPlan plan;
  /// Where the plan is the simple way, which the guard then begins with: what it is compared with.
  std::optional<plan::StripPlan> tie;
  /// That were timed to refine the plan; with a given computation, 1 once it is carried out again.
  uint32_t executions = 0;
  double least_compute_s = 0;     ///< of the uncut loop, over the timed executions
  double planned_compute_s = -1;  ///< which the plan is made for; negative: as the
                                  ///< loop says, by time or operations
  plan::Guard guard;

  /// A tie that was tried, and is not in use, is nothing that was tuned.
  void add_to(Savings& savings) const {
    if (!tie || guard.in_use() == plan::Guard::Way::tuned) savings.add(guard);
  }
};

/// Buffer and counters of one loop being executed; loops inside of bodies have frames of their own.
struct LoopFrame {
  BufferPool::Use buffer;
  std::vector<fabric::Counter> counters;
  Attention attention;
  /// By block: where the data cache has it, or null. Empty if it has none of them.
  std::vector<std::byte*> kept;
  std::vector<BufferPool::Use> kept_in;
  uint64_t guarded = 0;  ///< the loop whose guard has been asked, as a hash; 0: none
};

struct LoopState : MechanismState {
  explicit LoopState(ContextState& context);

  /// The state of a context, made on first use.
  static LoopState& of(ContextState& context);

  /// The frame of the next level of nesting; leave_frame() gives it back, in reverse order.
  LoopFrame& enter_frame();
  void leave_frame();
  /// True if the loop that is being carried out is within another one.
  bool is_within() const { return depth_ > 1; }
  /// True if a loop of this hash, whose guard has been asked, is being carried out.
  bool is_guarded(uint64_t loop) const {
    for (size_t level = 0; level < depth_; ++level) {
      if (frames_[level]->guarded == loop) return true;
    }
    return false;
  }

  /// The same for nests, which have an engine for each level.
  NestEngine& enter_nest(Context& context);
  void leave_nest() { --nest_depth_; }

  /// The costs of a path; null without a model.
  const plan::StripCosts* costs(model::Path path) const { return compiled_.strip(path); }

  void stored(rank_t target, uint64_t offset, uint64_t bytes) override {
    cache.stored(target, offset, bytes);
  }
  /// A buffer of the pool; ends the job without memory.
  BufferPool::Use buffer_of(const ContextState& context, uint64_t bytes);
  /// True if a loop whose options say so, or nothing, uses the data cache.
  bool caches(std::optional<bool> said) const { return said.value_or(caches_); }

  const NetworkLoads loads;
  BufferPool pool;  // outlives what is in use of it
  DataCache cache;
  plan::PlanCache<LoopSite> sites;
  ComputeRates rates;
  NestSites nest_sites;

  /// Serves peers, as a loop does that goes on computing, where its attention is due.
  void look(Context& context, Attention& attention);
  LookTime look_time;

  Analysis analysis;
  /// What sites saved that have been forgotten.
  Savings forgotten;
  Savings savings() const;

  /// Says, once, that loops do without the model.
  void say_no_model(const ContextState& context);
  /// Says, once, that a nest keeps the order of the program, and why.
  void say_in_order(const ContextState& context, const CallSite& call,
                    const access::Failure& obstacle);

 private:
  const plan::CompiledModel& compiled_;  // of the context
  std::vector<std::unique_ptr<LoopFrame>> frames_;
  size_t depth_ = 0;
  bool caches_;  // Options::data_cache
  bool said_no_model_ = false;
  bool said_in_order_ = false;
  std::vector<std::unique_ptr<NestEngine>> nests_;
  size_t nest_depth_ = 0;
};

}  // namespace stripline::detail
