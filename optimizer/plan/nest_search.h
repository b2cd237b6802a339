// The search for the fastest candidate of a nest: at which loop it is cut, into how large steps,
// and by which schedule these are carried out. For the files of this folder.
#pragma once

#include <array>
#include <cstddef>
#include <limits>

#include "optimizer/plan/nest.h"
#include "optimizer/plan/nest_evaluator.h"
#include "optimizer/plan/nest_tiles.h"

namespace stripline::plan::detail {

// The nest as without a model, whose steps these tiles are.
inline NestCandidate baseline_with(const Tiles& tiles) {
  return {Schedule::vectorised, tiles.cut, 1, false};
}

// The fastest candidate so far, with its tiles and steps, and room for those of the next one.
class FastestNest {
 public:
  struct Trial {
    Tiles tiles;
    Steps steps;
  };

  const NestCandidate& candidate() const { return candidate_; }
  double predicted_s() const { return predicted_s_; }
  const Tiles& tiles() const { return pair_[best_].tiles; }
  Steps& steps() { return pair_[best_].steps; }
  // No candidate is faster than the baseline.
  bool keeps_baseline() const {
    return candidate_.schedule == Schedule::vectorised && !candidate_.tunes_tiles;
  }

  Trial& tried() { return pair_[1 - best_]; }
  // Takes the candidate if it is the fastest so far: true, and keep() has to follow before other
  // tiles are tried.
  bool take(const NestCandidate& candidate, double predicted_s) {
    if (!(predicted_s < predicted_s_)) return false;
    predicted_s_ = predicted_s;
    candidate_ = candidate;
    return true;
  }
  // What was tried is that of the fastest candidate.
  void keep() { best_ = 1 - best_; }

 private:
  std::array<Trial, 2> pair_;
  size_t best_ = 0;
  NestCandidate candidate_;
  double predicted_s_ = std::numeric_limits<double>::infinity();
};

// Compares the baseline, whose steps are `uncut`; the same with tiles of many regions as the model
// says; and cuts at every loop. With a model of all that moves. `record` is given each candidate,
// and cuts that cannot be faster.
FastestNest search_nest(const NestRequest& request, const NestEvaluator& evaluator,
                        const Tiles& baseline, const Steps& uncut, double baseline_s,
                        NoRecord& record);
FastestNest search_nest(const NestRequest& request, const NestEvaluator& evaluator,
                        const Tiles& baseline, const Steps& uncut, double baseline_s,
                        NestRecord& record);

}  // namespace stripline::plan::detail
