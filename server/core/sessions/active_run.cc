#include "server/core/sessions/active_run.h"

#include <algorithm>

#include "server/clock.h"

namespace stripline::server {
namespace {

// The shortest time between two events about a run's progress.
constexpr double kProgressEventS = 0.5;

}  // namespace

void ActiveRun::fail(Failure why) {
  if (failure) return;
  failure = std::move(why);
  ended_s = steady_seconds();
}

void ActiveRun::note_stored(const Arrival& arrival) {
  in_flight.erase(arrival.batch.seq);
  if (!arrival.stored.ok()) return measured.remove(arrival.results);
  out_of_order.insert(arrival.batch.seq);
  while (out_of_order.erase(contiguous + 1) > 0) ++contiguous;
  stored_points += static_cast<uint32_t>(arrival.results.size());
  results.insert(results.end(), arrival.results.begin(), arrival.results.end());
  samples += arrival.batch.samples;
  if (note.empty()) note = arrival.note;
  pace.report(steady_seconds(), stored_points);
  progressed = true;
}

double ActiveRun::measured_s(std::optional<double> outage_since_s) const {
  const double end_s = ended_s.value_or(outage_since_s.value_or(steady_seconds()));
  return std::max(0.0, end_s - group.started_s() - outage_s);
}

bool ActiveRun::tells_progress(double now_s) const {
  return progressed &&
         (now_s >= last_progress_event_s + kProgressEventS || stored_points == points);
}

std::optional<double> ActiveRun::next_progress_s() const {
  if (!progressed) return std::nullopt;
  return last_progress_event_s + kProgressEventS;
}

}  // namespace stripline::server
