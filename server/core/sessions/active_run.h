// A run that has been given out to a group of nodes. A value: the time is the steady clock's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "optimizer/campaign/point_table.h"
#include "optimizer/campaign/run_pace.h"
#include "server/core/campaigns/planned_points.h"
#include "server/core/sessions/fingerprint_rules.h"
#include "server/core/sessions/ingest.h"
#include "server/core/sessions/run_group.h"

namespace stripline::server {

/// Why a run is given up.
struct Failure {
  std::string reason;
  bool for_good = false;            ///< Another attempt there would fail, too.
  std::optional<std::string> node;  ///< To blame.
  bool at_will = false;             ///< Somebody wanted it: the campaign is not charged.
  std::string experiment = {};      ///< A point of which was measured, if that is what failed.
};

struct ActiveRun {
  ActiveRun(RunGroup given_out, uint32_t points_of_plan)
      : group(std::move(given_out)),
        points(points_of_plan),
        last_progress_event_s(group.started_s()),
        pace(group.started_s()) {}

  /// The next step gives the run up. The first failure counts.
  void fail(Failure why);
  /// A batch that came has been stored, or could not be.
  void note_stored(const Arrival& arrival);
  /// For how long it has been measuring. `outage_since_s`: nothing can be stored since then.
  double measured_s(std::optional<double> outage_since_s) const;
  /// Its progress is news by now.
  bool tells_progress(double now_s) const;
  /// When it will be; nullopt: nothing has happened.
  std::optional<double> next_progress_s() const;

  RunGroup group;
  uint32_t points = 0;             ///< The first ones of the plan.
  std::optional<Failure> failure;  ///< Reported or seen; the next step gives the run up.
  std::map<std::string, std::string> instances;  ///< The agent's at each node.
  MeasuredFacts facts;                           ///< Each node's.
  double budget_end_s = 0;                       ///< When the campaign's time budget ends.
  double last_progress_event_s = 0;
  std::optional<double> ended_s;  ///< Its part is over; storing that may take longer.
  double outage_s = 0;            ///< In which nothing could be stored.
  campaign::RunPace pace;
  std::shared_ptr<const PlannedPoints> planned;  ///< Once its first samples have come.
  PointSet measured;                             ///< Points planned: stored, or in flight.
  uint32_t stored_points = 0;
  std::vector<campaign::PointResult> results;  ///< Stored, by place in the run's plan.
  uint64_t samples = 0;                        ///< Stored.
  std::string note;                            ///< Why the first point without time has none.
  uint64_t contiguous = 0;                     ///< The highest of the batches stored from 1 on.
  std::set<uint64_t> out_of_order;             ///< Others that are stored.
  std::set<uint64_t> in_flight;                ///< Batches that will be.
  std::shared_ptr<const std::vector<std::string>>
      addresses;            ///< Where ranks are, once it is ready.
  bool progressed = false;  ///< Since the last event about it.
};

}  // namespace stripline::server
