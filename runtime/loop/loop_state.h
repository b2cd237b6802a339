// What the engines of loops and nests keep for the life of a Context: sites, buffers, engines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include <stripline/call_site.h>

#include "optimizer/plan/strip_costs.h"
#include "runtime/loop/analysis.h"
#include "runtime/loop/attention.h"
#include "runtime/loop/buffer_pool.h"
#include "runtime/loop/compute_rates.h"
#include "runtime/loop/data_cache.h"
#include "runtime/loop/loop_engine.h"
#include "runtime/loop/loop_site.h"
#include "runtime/loop/nest_engine.h"
#include "runtime/loop/network_loads.h"
#include "runtime/rma/context_state.h"

namespace stripline::detail {

struct LoopState;

/// Tells call sites apart in caches of plans: what the program says, or the place of the call.
inline uint64_t site_of(uint64_t said, CallSite site) {
  if (said != 0) return said;
  return reinterpret_cast<uintptr_t>(site.file) ^ (static_cast<uint64_t>(site.line) << 40);
}

/// The seconds of computation that a program says a loop takes; negative: they are to be measured.
inline double said_compute_s(double seconds) {
  return seconds >= 0 && seconds < std::numeric_limits<double>::infinity() ? seconds : -1;
}

/// Engines by level of nesting: those of loops in bodies are others. They keep their memory.
template <typename Engine>
class Engines {
 public:
  explicit Engines(LoopState& state) : state_(state) {}
  Engine& enter(Context& context) {
    if (depth_ == engines_.size()) engines_.push_back(std::make_unique<Engine>(context, state_));
    return *engines_[depth_++];
  }
  /// In reverse order.
  void leave() { --depth_; }

 private:
  LoopState& state_;
  std::vector<std::unique_ptr<Engine>> engines_;
  size_t depth_ = 0;
};

struct LoopState final : rma::Mechanism {
  static constexpr const char kName[] = "loops and nests";

  explicit LoopState(ContextState& context);

  /// The state of a context, made on first use.
  static LoopState& of(ContextState& context);

  /// The costs of a path; null without a model.
  const plan::StripCosts* costs(model::Path path) const { return compiled_.strip(path); }

  /// A buffer of the pool; ends the job without memory.
  BufferPool::Use buffer_of(const ContextState& context, uint64_t bytes);
  /// True if a loop whose options say so, or nothing, uses the data cache.
  bool caches(std::optional<bool> said) const { return said.value_or(caches_); }

  const NetworkLoads loads;
  BufferPool pool;  // outlives what is in use of it
  DataCache cache;
  ComputeRates rates;
  LoopSites sites;
  NestSites nest_sites;
  Engines<LoopEngine> loops{*this};
  Engines<NestEngine> nests{*this};

  /// Serves peers, as a loop does that goes on computing, where its attention is due.
  void look(Context& context, Attention& attention);
  LookTime look_time;

  Analysis analysis;
  /// What the plans of loops and nests saved, each by its own guard, and what the cache did.
  void add_to(rma::MechanismReport& report) const override;

  /// Says, once, that loops do without the model.
  void say_no_model(const ContextState& context);
  /// Says, once, that a nest keeps the order of the program, and why.
  void say_in_order(const ContextState& context, const CallSite& call,
                    const access::Failure& obstacle);

 private:
  const plan::CompiledModel& compiled_;  // of the context
  bool caches_;                          // Options::data_cache
  bool said_no_model_ = false;
  bool said_in_order_ = false;
};

}  // namespace stripline::detail
