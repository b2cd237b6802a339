// A collective operation of a team, of one size, for which a model has a rule other than what is
// done without one: by which of the two algorithms it is carried out. All ranks of the team change
// it in step. Rank 0 of the team decides, for some calls ahead (runtime/decide/group_execution.h),
// by the times of the rank that took longest, which it is given between two blocks of calls.
//
// A block has turns, each of one or more calls by the same algorithm. They become longer, up to
// where the two small operations between blocks do not matter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>

#include "optimizer/plan/collective_mechanism.h"
#include "runtime/decide/group_execution.h"
#include "runtime/decide/turn_block.h"
#include "runtime/rma/mechanisms.h"

namespace stripline::rma {

class ComparedCollective {
 public:
  static constexpr size_t kArms = 2;
  /// Seconds of the turns of a block.
  using Times = std::array<double, decide::kMostAhead>;

  /// `planned`: by the rule.
  ComparedCollective(const plan::AskedCollective& request, const plan::CollectivePlan& planned);

  /// The ranks of the team are to agree on the next calls now: times() of the rank that took
  /// longest go to rank 0, and what next() returns there to begin() of all.
  bool is_over() const { return calls_ == block_.executions(); }
  bool has_times() const { return block_.turns > 0; }
  const Times& times() const { return times_; }
  uint64_t next(const decide::Instruments& instruments, const Times& longest);
  void begin(uint64_t block);

  /// The plan of the next call.
  const plan::CollectivePlan& plan() const;
  /// It is over.
  void ended(double seconds);

  const decide::Race& race() const { return site_.race(); }

  /// As a mechanism (runtime/decide/group_execution.h), on rank 0.
  plan::CollectivePlan make(decide::Arm arm, double /*compute_s*/) const {
    return arm == decide::kBaseline ? baseline_ : planned_;
  }

 private:
  const plan::CollectivePlan planned_;
  const plan::CollectivePlan baseline_;
  decide::TurnBlock block_;  // in progress
  uint64_t calls_ = 0;       // of it that are over
  Times times_{};
  // Rank 0 of the team.
  uint32_t blocks_ = 0;
  decide::Site<plan::CollectivePlan> site_;
  decide::GroupExecution<plan::CollectivePlan, kArms> executions_;
};

/// What a rank compares. None is forgotten, as all ranks of a team have to know the same ones.
class ComparedCollectives final : public Mechanism {
 public:
  static constexpr const char kName[] = "collectives";
  explicit ComparedCollectives(detail::ContextState&) {}

  /// `call`: tells calls apart that the model takes for the same operation. Null: of the team, as
  /// many as there may be are compared already.
  ComparedCollective* of(uint32_t team, std::string_view call, const plan::AskedCollective& request,
                         const plan::CollectivePlan& planned);
  /// A team is gone.
  void forget(uint32_t team);
  void add_to(MechanismReport& report) const override;

 private:
  using Key = std::tuple<uint32_t, std::string_view, model::CollectiveOperation, uint64_t>;

  std::map<Key, ComparedCollective> made_;
  std::map<uint32_t, uint32_t> of_team_;  // how many
  decide::Savings of_former_teams_;
};

}  // namespace stripline::rma
