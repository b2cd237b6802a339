// Chooses the way of an epoch's updates, from one end to the next. The same way on every rank: what
// goes by locks is not safe from what owners carry out. Rank 0 decides for all, by what all ranks
// have done, and by the time from one end to the next.
//
// The first updates at a place of the program go as without a model, and are counted. From then on
// the planner decides, and ways that it cannot tell apart are raced (runtime/decide/race.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <stripline/update.h>

#include "optimizer/plan/update.h"
#include "runtime/decide/execution.h"
#include "runtime/decide/site_table.h"
#include "runtime/rma/context_state.h"
#include "runtime/update/tally.h"

namespace stripline::update {

/// By which the cells of other ranks are reached; where some are through the network, that.
model::Path path_of_updates(const rma::Job& job);

inline constexpr size_t kUpdateArms = 1 + plan::kMostUpdateRivals;

/// A place of the program that makes epochs of some type.
struct UpdatePlace {
  uint64_t hash = 0;
  bool operator==(const UpdatePlace&) const = default;
};
inline uint64_t hash_of(const UpdatePlace& place) { return place.hash; }

/// What rank 0 knows of it.
struct UpdateSite : decide::Site<plan::UpdatePlan, kUpdateArms> {
  using Base = decide::Site<plan::UpdatePlan, kUpdateArms>;
  UpdatePlace key;
  plan::UpdateRequest request;  ///< what it was decided on for
  std::array<plan::UpdateCandidate, plan::kMostUpdateRivals> rivals;
  uint64_t decisions = 0;
  uint64_t periods = 0;  ///< from one end to the next, with updates
  uint32_t strange = 0;  ///< the latest ones that were not as the request
  bool taken = false;    ///< by an epoch that is open
  /// Begun before the first update of a period, and kept where there are none: which ways are
  /// compared when must not depend on that.
  decide::Execution<plan::UpdatePlan, kUpdateArms> execution;
  bool begun = false;
};
using UpdateSites = decide::SiteTable<UpdateSite>;

class Chooser {
 public:
  /// What rank 0 tells the others.
  struct Told {
    plan::UpdateCandidate way;
    bool closely = false;  ///< what follows is to be counted closely
  };

  /// `request` says what is known of the updates before there are any; `type` is a hash of the type
  /// and the operator, whose cells are counted in units of so many bytes.
  Chooser(Context& context, UpdateSites& sites, const plan::UpdateRequest& request, uint64_t type,
          uint32_t unit, CallSite call);
  ~Chooser();
  Chooser(const Chooser&) = delete;
  Chooser& operator=(const Chooser&) = delete;

  /// Collective, before the first update.
  Told begin();
  /// Collective, when all updates of all ranks are complete.
  Told next(const Tally& mine);
  /// The same when there will be no more.
  void finish(const Tally& mine);

  // As a mechanism (runtime/decide/execution.h), on rank 0.
  plan::UpdatePlan make(decide::Arm arm, double compute_s) const;
  bool fits(const plan::UpdatePlan&) const { return true; }
  void decide(UpdateSite::Base& base, double compute_s);
  void note(decide::Trace& trace, double seconds) const;

 private:
  Told tell();
  void start();
  void learn(std::span<const uint64_t> sums);
  plan::UpdatePlan plan_of(const UpdateSite& site, decide::Arm arm) const;
  std::vector<uint64_t> add_up(const Tally& mine) const;

  Context& context_;
  detail::ContextState& state_;
  UpdateSites& sites_;
  const plan::UpdateRequest known_;
  const UpdatePlace place_;
  const uint32_t unit_;
  const CallSite call_;
  model::Path path_ = model::Path::network;
  const plan::UpdateCosts* costs_ = nullptr;
  UpdateSite* site_ = nullptr;  // taken; null on other ranks
  plan::UpdatePlan given_;      // of updates that nothing is known of, or not to be compared
  decide::Execution<plan::UpdatePlan, kUpdateArms> unsited_;
  plan::UpdateRequest seen_;  // of the latest period
  Told told_;
};

}  // namespace stripline::update
