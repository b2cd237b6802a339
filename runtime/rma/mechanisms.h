// What is built upon operations. Owns teams and their collective operations, the plans of transfers
// of many regions, the guard of the program's iterations, and a place for the state of each
// mechanism of a folder above this one, which it makes when it is first asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <stripline/context.h>

#include "runtime/decide/execution.h"
#include "runtime/decide/run_guard.h"
#include "runtime/decide/trace.h"
#include "runtime/rma/arrays_in_use.h"
#include "runtime/rma/job.h"
#include "runtime/rma/keepers.h"
#include "runtime/rma/memory.h"
#include "runtime/rma/operations.h"
#include "runtime/rma/vis_plans.h"
#include "runtime/sync/async_collectives.h"
#include "runtime/sync/collectives.h"
#include "runtime/sync/group.h"
#include "runtime/sync/transfers.h"

namespace stripline::rma {

/// What mechanisms have to say at the end of a job that is traced; sums of them.
struct MechanismReport {
  decide::Savings savings;  ///< of plans that were judged by their own sites
  KeptStatistics kept;
};

/// State that a mechanism keeps for the life of a Context (plan caches, buffers, engines), but for
/// that a new model may replace it. `M::kName` tells which one it is.
class Mechanism {
 public:
  Mechanism() = default;
  virtual ~Mechanism() = default;
  Mechanism(const Mechanism&) = delete;
  Mechanism& operator=(const Mechanism&) = delete;

  virtual void add_to(MechanismReport&) const {}
  /// The rank is about to leave the job, as all ranks are: what needs others ends.
  virtual void leaves() {}
  /// `call` gives back `bytes` of the symmetric heap on every rank. What the program should
  /// have completed before ends the job; what it need not know of is complete on return.
  virtual void frees(const Call& call, uint64_t offset, uint64_t bytes) {
    static_cast<void>(call), static_cast<void>(offset), static_cast<void>(bytes);
  }
  /// Memory that it has now, in proportion to what the program asks of it
  /// (MemoryUse::mechanism_bytes).
  virtual uint64_t buffer_bytes() const { return 0; }
};

/// What sites have found out that ended with an object of the program.
class EndedSites final : public Mechanism {
 public:
  static constexpr const char kName[] = "ended sites";
  explicit EndedSites(detail::ContextState&) {}

  void add(const decide::Race& race) { race.add_to(savings_); }
  void add_to(MechanismReport& report) const override { report.savings.add(savings_); }

 private:
  decide::Savings savings_;
};

class Mechanisms {
 public:
  /// All outlive it.
  Mechanisms(Job& job, Memory& memory, Operations& operations);
  Mechanisms(const Mechanisms&) = delete;
  Mechanisms& operator=(const Mechanisms&) = delete;

  /// Decides by the model that the job has now; what was made of another one is forgotten. While no
  /// operation is in flight.
  void use_model();

  /// What all ranks of the job have: puts that tell their target that they have landed, and reads
  /// of the memory of other ranks of a node. While no collective operation is in flight.
  void use_shortcuts(bool notified_puts, bool reads);

  sync::Groups& groups() { return groups_; }
  sync::Transfers& transfers() { return transfers_; }
  const sync::Transfers& transfers() const { return transfers_; }
  sync::Collectives& collectives() { return collectives_; }
  sync::AsyncCollectives& async_collectives() { return async_collectives_; }
  VisPlans& vis_plans() { return *vis_plans_; }
  /// Null without a model, or with Options::guard off.
  decide::RunGuard* run_guard() const { return run_guard_.get(); }

  /// What mechanisms decide with.
  decide::Instruments instruments() const;

  /// The state of a mechanism, made of the context on first use.
  template <typename M>
  M& of(detail::ContextState& context) {
    for (const auto& [name, made] : made_) {
      if (name == M::kName) return static_cast<M&>(*made);
    }
    auto made = std::make_unique<M>(context);
    M& mechanism = *made;
    made_.emplace_back(M::kName, std::move(made));
    return mechanism;
  }

  /// The sum over all of them of Mechanism::buffer_bytes().
  uint64_t buffer_bytes() const;

  /// What is in flight and uses arrays of the program.
  ArraysInUse& arrays_in_use() { return arrays_in_use_; }
  /// Ends the job if an array of the symmetric heap that `call` gives back is in use: by what is
  /// in flight here, or, with updates that are not complete, at any rank.
  void check_free(const Call& call, uint64_t offset, uint64_t bytes);

  /// Collective, before anything of the context ends: Mechanism::leaves() of all of them.
  void leave();

  /// What guards have found on this rank: of sites, and of iterations.
  decide::Savings site_savings() const;
  decide::Savings iteration_savings() const;

  /// Collective, at the end of a traced job: rank 0 says on standard error what was chosen and what
  /// came of it, as Options::trace asks.
  void report(Context& context);

 private:
  Job& job_;
  Memory& memory_;
  ArraysInUse arrays_in_use_;
  sync::Groups groups_;
  am::Bulk bulk_;  // of collectives, which keep what comes early in its slot
  sync::Transfers transfers_;
  sync::Collectives collectives_;
  sync::AsyncCollectives async_collectives_;
  std::unique_ptr<VisPlans> vis_plans_;
  std::unique_ptr<decide::RunGuard> run_guard_;
  std::vector<std::pair<const char*, std::unique_ptr<Mechanism>>> made_;  // by M::kName
};

}  // namespace stripline::rma
