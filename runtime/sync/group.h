// The teams of a job: which ranks, and what they count together.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/am/active_messages.h"
#include "runtime/sync/barrier.h"
#include "runtime/sync/collective_order.h"

namespace stripline::sync {

/// One team. Ranks of a team count from 0; world() names them in the job.
struct Group {
  /// `members` by rank of the team, in the job; empty: all ranks of the job, in order.
  Group(am::ActiveMessages& messages, uint32_t team, Rank me_in_team, Rank ranks,
        std::vector<Rank> ranks_in_job, Rank me_in_job, const fabric::FailureHandler& fail);

  Rank world(Rank rank) const { return members.empty() ? rank : members[rank]; }
  /// The rank in the team of a rank of the job. O(log n).
  std::optional<Rank> from_world(Rank rank) const;

  const uint32_t id;  ///< the same on every member, and of no other team that any member is in
  const Rank me;
  const Rank size;
  const std::vector<Rank> members;
  CollectiveOrder order;
  Barrier barrier;

 private:
  std::vector<Rank> by_world_;  // ranks of the team, ascending by their rank in the job
};

/// The teams that this rank is in, and how messages reach them.
class Groups {
 public:
  /// With the team of all ranks, whose id is 0. `fail` ends the job.
  Groups(am::ActiveMessages& messages, Rank me, Rank ranks, fabric::FailureHandler fail);

  Group& world() { return *world_; }
  /// Null: this rank is in no such team.
  Group* find(uint32_t id);

  /// For all teams, those to come too. As Barrier::use().
  void use(BarrierPattern pattern);

  /// The lowest id that this rank has not seen yet.
  uint32_t next_id() const { return next_id_; }
  /// Ids below this one are taken.
  void reserve_ids(uint32_t next) { next_id_ = next; }

  /// Adds a team of at least one rank. Messages of it may arrive from then on: the members agree
  /// that all of them have added it before one of them uses it.
  Group& add(uint32_t id, Rank me_in_team, std::vector<Rank> members);
  /// After the last message of the team: each of its operations has ended on this rank.
  void remove(uint32_t id);

  /// Debug mode's check of these and of later teams; null: none.
  void set_check(CollectiveCheck* check);

 private:
  am::ActiveMessages& messages_;
  Rank me_;
  fabric::FailureHandler fail_;
  uint32_t next_id_ = 1;
  CollectiveCheck* check_ = nullptr;
  BarrierPattern pattern_ = BarrierPattern::dissemination;
  std::unique_ptr<Group> world_;
  std::map<uint32_t, std::unique_ptr<Group>> teams_;
};

}  // namespace stripline::sync
