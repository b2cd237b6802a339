// Chooses the method of an epoch's updates, from one end to the next. It is the same on every rank:
// locks do not protect from what owners carry out. Rank 0 decides for all, by what all ranks
// have done, and by the time from one end to the next.
//
// The first updates at a place of the program go as without a model, and are counted. From then on
// the planner decides, and methods that it cannot distinguish are raced (runtime/decide/race.h).
//
// Adding up what all ranks have done, and announcing what is decided, takes as long as a small
// epoch. So rank 0 decides on several periods at a time: as many as make that cheap, up to the time
// that changes what comes next, the last one of a comparison. Between them nothing is said.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <stripline/update.h>

#include "optimizer/plan/update.h"
#include "runtime/decide/group_execution.h"
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
  bool is_new = false;    ///< no period of the latest decision is known
  double baseline_s = 0;  ///< the least that a period took before the first decision; 0: none
  uint64_t baseline_updates = 0;  ///< and its updates, of all ranks
  uint64_t periods = 0;           ///< from one end to the next, with updates
  uint64_t look_again = 0;        ///< the period from which on one is to be counted closely
  uint32_t strange = 0;           ///< the latest times that they were not as the request
  bool has_gaps = false;          ///< there was a period without updates among others
  bool taken = false;             ///< by an epoch that is open
};
using UpdateSites = decide::SiteTable<UpdateSite>;

class Chooser {
 public:
  /// `request` says what is known of the updates before there are any; `type` is a hash of the type
  /// and the operator, whose cells are counted in units of `unit` bytes.
  Chooser(Context& context, UpdateSites& sites, const plan::UpdateRequest& request, uint64_t type,
          uint32_t unit, CallSite call);
  ~Chooser();
  Chooser(const Chooser&) = delete;
  Chooser& operator=(const Chooser&) = delete;

  /// Collective, before the first update.
  void begin();
  /// A period is over: all updates of all ranks are complete. True if ranks add up now, by next()
  /// or finish().
  bool ended(Tally& mine);
  /// Collective.
  void next(const Tally& mine);
  /// The same when there will be no more.
  void finish(const Tally& mine);

  /// The method of the period that begins.
  const plan::UpdateCandidate& candidate() const {
    return announced_.candidates[announced_.others >> period_ & 1U];
  }
  /// It is to be counted closely.
  bool closely() const { return announced_.closely; }
  /// Memory of each owner that updates are lately among.
  uint64_t span_bytes() const { return announced_.span_bytes; }

  /// As a mechanism (runtime/decide/group_execution.h), on rank 0.
  plan::UpdatePlan make(decide::Arm arm, double /*compute_s*/) const {
    return plan_of(*site_, arm);
  }

 private:
  // What rank 0 announces to the others of the next `periods` periods; `others` has a bit for each.
  struct Announcement {
    std::array<plan::UpdateCandidate, 2> candidates;
    uint32_t others = 0;
    uint32_t periods = 1;
    bool closely = false;
    uint64_t span_bytes = 0;
  };
  void announce();
  void start();
  void start_unknown(const UpdateSite* other);
  void plan_ahead();
  bool announce_also(const plan::UpdateCandidate& candidate);
  void learn(std::span<const uint64_t> sums);
  plan::UpdateRequest request_of(std::span<const uint64_t> sums, uint64_t periods) const;
  void record(std::span<const uint64_t> of_periods);
  uint64_t worth_adding() const;
  plan::UpdatePlan plan_of(const UpdateSite& site, decide::Arm arm) const;
  void decide();
  void note(decide::Trace& trace, const plan::UpdateRequest& request, uint32_t period,
            uint64_t updates) const;
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
  Announcement announced_;
  uint32_t period_ = 0;  // of those that were sent

  // Rank 0.
  UpdateSite* site_ = nullptr;  // taken
  // The plan of updates that nothing is known of, or that are not to be compared.
  std::optional<plan::UpdatePlan> given_;
  plan::UpdateRequest seen_;  // lately
  decide::GroupExecution<plan::UpdatePlan, kUpdateArms> periods_;
  double adding_s_ = 0;  // what adding up and announcing took last
  double period_s_ = 0;  // the least of the latest periods
};

}  // namespace stripline::update
