// How elements of an owner get to those who read them: by the planner, or as the program says.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

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

/// What one rank has decided about elements that several receive. It is sent to the others as it
/// is, whose traces show it: all ranks run one program.
struct GroupChoice {
  plan::GatherRequest request;
  plan::GatherDecision decision;
};
static_assert(std::is_trivially_copyable_v<GroupChoice>);

/// The number of words of a GroupChoice that is sent.
template <typename Word>
inline constexpr size_t kWordsOfChoice = sizeof(GroupChoice) / sizeof(Word);

template <typename Word>
std::array<Word, kWordsOfChoice<Word>> words_of(const GroupChoice& choice) {
  return std::bit_cast<std::array<Word, kWordsOfChoice<Word>>>(choice);
}
/// The other end of words_of(): the first words are those of the choice.
template <typename Word>
GroupChoice choice_of_words(std::span<const Word> words) {
  std::array<Word, kWordsOfChoice<Word>> first;
  std::ranges::copy(words.first(first.size()), first.begin());
  return std::bit_cast<GroupChoice>(first);
}

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
  /// The decision that the ranks of this node are to get each element of an owner once; none: they
  /// are not to. `together`: what they need; `elements`: what each needs, added up.
  std::optional<GroupChoice> shares(const OwnerReads& together, uint32_t ranks,
                                    uint64_t elements) const;
  /// False: to pass it on would not pay even if all other ranks needed of an owner what this one
  /// needs, which receives this many elements in all, or is out of the question.
  bool may_be_passed_on(const OwnerReads& reads, uint64_t receives) const;
  /// The decision that `readers` of this rank that need the same, one of which is `reader`, are to
  /// pass it on; none: they are not to. That one receives this many elements in all. `besides`: of
  /// others, each of them needs at most this many.
  std::optional<GroupChoice> broadcasts(const Selection& needed, rank_t reader, uint32_t readers,
                                        uint64_t receives, uint64_t besides = 0) const;
  /// What passing on saves, for comparisons.
  double saved_by(const GroupChoice& broadcast) const;
  /// What another rank has decided about elements of an owner that this one receives, for traces.
  OwnerChoice of_group(rank_t owner, const GroupChoice& choice) const;

  /// The largest that method() has decided about; none: it was not asked.
  const std::optional<OwnerChoice>& largest() const { return largest_; }
  /// The largest that is compared, and the bytes of all that are.
  const std::optional<OwnerChoice>& largest_compared() const { return largest_compared_; }
  uint64_t compared_bytes() const { return compared_bytes_; }
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
  std::optional<GroupChoice> if_chosen(const plan::GatherRequest& request, rank_t peer,
                                       GatherMethod method) const;

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
