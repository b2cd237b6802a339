// How elements of an owner get to those who read them: by the planner, or as the program says.
#pragma once

#include <cstdint>
#include <optional>

#include <stripline/gather_plan.h>

#include "optimizer/model/paths.h"
#include "optimizer/plan/gather.h"
#include "optimizer/plan/score_map.h"
#include "runtime/gather/inspector.h"
#include "runtime/gather/packing.h"

namespace stripline::gathers {

/// How the elements of an owner get to this rank: of the one of which it gets most, for traces.
struct OwnerChoice {
  rank_t owner = 0;
  plan::GatherRequest request;
  plan::GatherDecision decision;
  model::Path path = model::Path::network;
  bool by_planner = false;  ///< the decision is what the planner says of the request
  /// What the decision is compared with while gathers are carried out (in_step.h).
  std::optional<plan::GatherDecision> baseline{};
};

class Choices {
 public:
  /// How the elements of an owner get to this rank.
  struct Chosen {
    plan::GatherMethod method = plan::GatherMethod::pack;
    bool compared = false;  ///< with the baseline, while gathers are carried out
  };

  /// All outlive it.
  Choices(Context& context, const detail::GatherRequest& request, const GatherOptions& options,
          CallSite site);

  /// True if there is something to decide by: a model, or rules of a score map. The same on every
  /// rank, as the options and the model are.
  bool by_model() const;
  /// True if the number of an owner's readers decides how it serves them, beside what each of them
  /// needs. The same on every rank.
  bool counts_readers() const;
  /// True if methods may be compared while gathers are carried out: by a model, which may be wrong.
  bool compares() const;
  /// False: the method is out of the question. The same on every rank.
  bool may_be(GatherMethod method) const { return options_.method == method || by_model(); }

  /// What this rank needs of an owner with `readers` readers: pack, bound or pull. `copied_on`: it
  /// receives for others, too, who wait for what is sent.
  Chosen method(const OwnerReads& reads, uint32_t readers, bool copied_on);
  /// True if the ranks of this node are to get each element of an owner once. `together`: what they
  /// need; `elements`: what each needs, added up.
  bool shares(const OwnerReads& together, uint32_t ranks, uint64_t elements) const;
  /// False: to pass it on would not pay even if all other ranks needed of an owner what this one
  /// needs, which receives this many elements in all, or is out of the question.
  bool may_be_passed_on(const OwnerReads& reads, uint64_t receives) const;
  /// True if `readers` of this rank that need the same, one of which is `reader`, are to pass it
  /// on. That one receives this many elements in all.
  bool broadcasts(const Selection& needed, rank_t reader, uint32_t readers,
                  uint64_t receives) const;
  /// The same of elements beside which each of these needs at most this many others. What it saves,
  /// for comparisons; 0: they are not to.
  double passing_on_saves(const Selection& hot, rank_t reader, uint32_t readers, uint64_t besides,
                          uint64_t receives) const;

  /// The largest that method() has decided about; none: it was not asked.
  const std::optional<OwnerChoice>& largest() const { return largest_; }
  /// The largest that is compared, and the bytes of all that are.
  const std::optional<OwnerChoice>& largest_compared() const { return largest_compared_; }
  uint64_t compared_bytes() const { return compared_bytes_; }
  /// Why what this rank does not decide about by method() is what it is.
  plan::Reason reason() const { return best() ? plan::Reason::tuned : plan::Reason::forced; }
  /// GatherStatistics::saved_s, of what method() has decided about.
  double saved_s() const { return one_by_one_s_ - slowest_s_; }

 private:
  bool best() const { return options_.method == GatherMethod::best; }
  const plan::ScoreMap& forced() const;
  plan::GatherRequest request_of(rank_t peer, uint64_t elements, uint64_t runs,
                                 uint64_t span) const;
  const plan::CompiledPath* model_to(rank_t peer) const;
  plan::GatherRequest request_of_alike(const Selection& needed, rank_t reader, uint32_t readers,
                                       uint64_t receives) const;
  plan::GatherDecision decide_on(const plan::GatherRequest& request, rank_t peer) const;

  Context& context_;
  const detail::GatherRequest& request_;
  const GatherOptions& options_;
  const uint64_t uses_;  // gathers that the plan is expected to be used for; 0: not known
  std::optional<OwnerChoice> largest_;
  std::optional<OwnerChoice> largest_compared_;
  uint64_t compared_bytes_ = 0;
  double one_by_one_s_ = 0;  // what is read of the owners that the model knows about
  double slowest_s_ = 0;     // until the elements of one of them are here
};

}  // namespace stripline::gathers
