// What the validation of a model is measured by: problems that are drawn by a campaign's seed, lie
// on no grid, and are never fitted. Of a decision all alternatives are measured, what is done
// without a model first, so that what a model chooses can be held against the fastest of them and
// against no model (optimizer/fit/judge_decisions.h). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "optimizer/experiment/experiment.h"

namespace stripline::experiment {

/// What is drawn. Of sizes and bursts, single operations and streams of them, the time is
/// predicted; the others are decisions.
enum class HeldOutKind : uint8_t {
  size,
  burst,
  call,
  window,
  loop,
  nest,
  update,
  gather,
  indirect,
  fine,   ///< single reads of a region
  bulk,   ///< blocking copies of a phase
  shared  ///< updates of cells that the ranks of a node share
};
inline constexpr size_t kHeldOutKinds = 12;
std::string_view to_string(HeldOutKind kind);  ///< The enumerator's name.
/// True if it is a decision.
constexpr bool has_choice(HeldOutKind kind) { return kind >= HeldOutKind::call; }

struct HeldOutProblem {
  HeldOutKind kind = HeldOutKind::size;
  /// The methods to carry it out, what is done without a model first; one where there is no choice.
  /// Factors that are left out have their declaration's default.
  std::vector<Point> points;
};

/// Problems by whose numbers kinds take turns, so that the first 36 hold some of all but shared
/// updates, twenty of them decisions.
inline constexpr size_t kHeldOutInTurn = 256;
/// Behind them, a problem of each irregular kind (updates, gathers, indexed loops, shared updates)
/// and one more, and one more.
inline constexpr size_t kHeldOutRounds = 3;
inline constexpr size_t kIrregularKinds = 4;
/// No campaign measures a problem with this number or a higher one.
inline constexpr size_t kMostHeldOut = kHeldOutInTurn + kHeldOutRounds * kIrregularKinds;

/// The problem number `index` of a campaign with this seed and `ranks` ranks. What a number means
/// stays: stored campaigns have only their seeds.
HeldOutProblem draw_held_out(uint64_t seed, uint32_t ranks, size_t index);

/// The number of the problem that is measured as the one at `place`, of kMostHeldOut: a round of
/// irregular kinds goes before each 36 in turn, as there are rounds.
size_t held_out_at(size_t place);

/// "call: get 37 x 1,240 B, light": for people.
std::string describe(const HeldOutProblem& problem);

/// The points held out among those that a campaign has measured.
class HeldOutPoints {
 public:
  /// `seeds` are those of the campaigns.
  HeldOutPoints(std::span<const uint64_t> seeds, uint32_t ranks);

  struct Place {
    size_t problem = 0;      ///< An index of problems().
    size_t alternative = 0;  ///< One of its points.
  };
  std::optional<Place> find(const Point& point) const;
  const std::vector<HeldOutProblem>& problems() const { return problems_; }

 private:
  std::vector<HeldOutProblem> problems_;
  /// By experiment and variant: the factors that tell its points apart.
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> factors_;
  std::map<std::string, Place> places_;
};

}  // namespace stripline::experiment
