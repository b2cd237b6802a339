// What a campaign will take and how surely it will know, predicted before it starts: its rule is
// carried out with the pace that is expected in place of runs. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "optimizer/campaign/next_run.h"
#include "optimizer/campaign/pace.h"

namespace stripline::campaign {

/// How widely a campaign like it was spread.
struct EarlierWidth {
  double width = 0;   ///< achieved_width() at its end, above 0.
  uint32_t runs = 0;  ///< That it took, at least 1.
};

struct Forecast {
  uint32_t runs = 0;
  uint32_t runs_of_all = 0;  ///< Runs that measure all points of the plan.
  uint64_t points = 0;       ///< In all runs.
  double seconds = 0;        ///< Time of running.
  double node_s = 0;         ///< By the nodes of a group.
  StopReason reason = StopReason::max_runs;
  bool usable = true;           ///< Enough runs are made for a result, if a provisional one.
  std::optional<double> width;  ///< Interval width at the end; nullopt: nothing tells.
};

/// Each run takes what `pace` says. With an earlier width the intervals are expected to narrow with
/// the root of the number of runs, and a rule that asks for a width ends when it is reached;
/// without one it makes Rule::runs. Points at breaks, and racing, are left out: no one knows of
/// them yet.
Forecast forecast(const Rule& rule, const Pace& pace, const std::optional<EarlierWidth>& earlier);

}  // namespace stripline::campaign
