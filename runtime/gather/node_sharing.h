// What the ranks of a node need of a rank of another node, put together: one of them, the leader
// for that owner, receives each element once, and the others, its followers, copy what they need
// from its memory. Ranks of a node lead for owners in turn. (Bienz, Gropp and Olson, Node aware
// sparse matrix-vector multiplication, 2019, on the side of those who receive.)
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <stripline/context.h>

#include "runtime/gather/choices.h"
#include "runtime/gather/inspector.h"
#include "runtime/rma/turns.h"

namespace stripline::gathers {

class NodeSharing {
 public:
  /// This rank gets the elements of an owner from its leader.
  struct Followed {
    rank_t leader = 0;
    std::vector<uint32_t> positions;  ///< among what the leader receives of the owner
    GroupChoice choice;               ///< the leader's
    rma::Landing landing;             ///< the leader's; known after tell_followers()
    global_ptr<uint64_t> done;        ///< likewise: its word for this rank
  };
  /// This rank leads for another one.
  struct Led {
    rank_t follower = 0;
    rank_t owner = 0;
  };
  /// `together`: what the ranks need, each element once; `elements`: what each needs, added up.
  using Decide = std::function<std::optional<GroupChoice>(const OwnerReads& together,
                                                          uint32_t ranks, uint64_t elements)>;

  NodeSharing(Context& context, CallSite site);

  /// Some ranks reach each other's memory, others do not. The same on every rank.
  static bool possible(Context& context);

  /// Collective. Where this rank leads, and `decide` decides so, the reads that `found` names of
  /// the owner become those of all who follow, with slots of its own reads among them.
  void agree(Inspection& found, const Decide& decide);
  /// Null: what this rank needs of the owner comes to itself.
  const Followed* followed(rank_t owner) const;
  std::span<const Led> led() const { return led_; }
  /// Collective, when this rank's memory is there: `landing_of(owner)` is where the elements of an
  /// owner for which it leads land, `done_of(follower)` the word for the follower.
  void tell_followers(const std::function<rma::Landing(rank_t owner)>& landing_of,
                      const std::function<global_ptr<uint64_t>(rank_t follower)>& done_of);

 private:
  rank_t leader_of(rank_t owner) const { return mates_[owner % mates_.size()]; }

  Context& context_;
  const CallSite site_;
  std::vector<rank_t> mates_;            // ranks of this node
  std::map<rank_t, Followed> followed_;  // by owner
  std::vector<Led> led_;
};

}  // namespace stripline::gathers
