// The decision for a nest with its reasons: every alternative that the planner considered, by loop,
// step and schedule, with its predicted time and what its tiles travel by; where the nest cannot be
// cut and why; the parameters and the margin. As a value, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "optimizer/plan/nest.h"

namespace stripline::plan {

struct NestExplanation {
  struct Alternative {
    NestCandidate candidate;
    double predicted_s = 0;
    NestPlan plan;  ///< that runs it: its steps, tiles, methods and buffers
  };
  /// A loop that the nest cannot be cut at.
  struct Closed {
    uint32_t loop = 0;
    access::Failure why;
  };
  /// The parameters for the contiguous tiles of the chosen plan.
  struct Entry {
    uint8_t link = 0;
    Direction direction = Direction::get;
    uint64_t bytes = 0;
    cost::MessageCosts message;
  };

  /// As asked, but for its pointers: the distributed arrays and the costs of the caller.
  NestRequest request;
  NestPlan plan;
  bool has_model = false;                 ///< the times below are known
  double compute_s = 0;                   ///< computation of the whole nest
  std::vector<Alternative> alternatives;  ///< the vectorised nest first, then as considered
  std::vector<NestPruned> pruned;
  std::vector<Closed> closed;
  std::vector<Sensitivity> sensitivities;  ///< of the fastest decomposition's gain
  std::vector<Entry> entries;
  uint32_t queue_depth = 0;
  double minimum_gain = 0;
};

/// Plans as plan_nest does and collects the reasons. What the request points to lives at least as
/// long as the explanation.
NestExplanation explain(const NestRequest& request);

/// For people: several lines, times in readable units.
std::string to_text(const NestExplanation& explanation);

/// For programs: SI units, member names as in the structs.
Json to_json(const NestExplanation& explanation);

}  // namespace stripline::plan
