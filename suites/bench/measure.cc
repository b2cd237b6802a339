#include "suites/bench/measure.h"

#include <optional>
#include <sstream>
#include <utility>

#include "base/exit_codes.h"
#include "base/json.h"
#include "base/random.h"
#include "optimizer/experiment/json.h"
#include "runtime/bootstrap/job.h"
#include "runtime/fabric/emulated/profile.h"
#include "runtime/machine/preflight.h"
#include "suites/bench/failure.h"

namespace stripline::suites::bench {
namespace {

// What a job's ranks said.
struct Collected {
  std::vector<experiment::SampleSeries> series;
  bool finished = false;
  std::optional<Error> garbled;

  void take(const Json& message) {
    const auto type = get_string(message, "type", "worker message");
    if (!type.ok()) return fail(type.error());
    if (*type == "finished") finished = true;
    if (*type != "samples") return;
    const auto list = get_array(message, "series", "worker message");
    if (!list.ok()) return fail(list.error());
    for (const Json& element : **list) {
      auto parsed = experiment::sample_series_from_json(element);
      if (!parsed.ok()) return fail(parsed.error());
      series.push_back(*std::move(parsed));
    }
  }
  void fail(const Error& error) {
    if (!garbled) garbled = error;
  }
};

// Where no time of the host is reported, the ranks need not be processes.
bool runs_as_fibers(const Target& target) {
  const auto request = fabric::resolve_profile(target.fabric);
  return !depends_on_host(target) && request.ok() && !request->host_delays_seed;
}

std::string limit_message(const Target& target) {
  std::ostringstream text;
  text << "a run has reached its time limit of " << target.time_limit_s
       << " s; measure fewer points or repetitions, or give it more time (--timeout)";
  return text.str();
}

}  // namespace

bool depends_on_host(const Target& target) {
  if (target.clock != "virtual") return true;
  const auto request = fabric::resolve_profile(target.fabric);
  return !request.ok() || (request->compute != fabric::ComputeMode::declared &&
                           request->compute != fabric::ComputeMode::none);
}

Result<std::vector<experiment::SampleSeries>> measure_run(
    const Target& target, uint32_t run, const experiment::StopRule& rule,
    const std::vector<experiment::Point>& points) {
  experiment::Assignment assignment;
  assignment.name = "bench";
  assignment.fabric = target.fabric;
  assignment.clock = target.clock;
  assignment.ranks = target.ranks;
  assignment.run = run;
  assignment.seed = target.seed * kGoldenRatio + run;
  assignment.deadline_s = target.time_limit_s;
  assignment.stop_rule = rule;
  assignment.points = points;
  const Json work = {{"type", "work"}, {"assignment", to_json(assignment)}};

  Collected collected;
  bool measuring = false;
  bootstrap::JobOptions job;
  job.launch.argv = {target.worker};
  const bool fibers = runs_as_fibers(target);
  job.launch.ranks = fibers ? 1 : target.ranks;
  job.launch.environment = {{"STRIPLINE_FABRIC", target.fabric},
                            {"STRIPLINE_CLOCK", target.clock},
                            {"STRIPLINE_SAME_NODE", target.same_node},
                            {"STRIPLINE_MODEL", target.model_path},
                            {"STRIPLINE_SEED", std::to_string(assignment.seed)}};
  if (fibers) job.launch.environment["STRIPLINE_FIBERS"] = "1";
  if (!target.matrix_path.empty()) {
    job.launch.environment["STRIPLINE_MATRIX"] = target.matrix_path;
  }
  if (!target.segment_bytes.empty()) {
    job.launch.environment["STRIPLINE_SEGMENT_BYTES"] = target.segment_bytes;
  }
  // More than the worker's own limit: this one is for workers that are stuck beyond signals.
  // Fibers take what they touch.
  const machine::JobPlan plan = machine::plan_job(target.ranks, job.launch.environment);
  const auto refused = machine::check_host(plan, machine::HostRoom::read()).refusal;
  if (refused && !fibers) return *refused;
  job.time_limit_s = target.time_limit_s + 10;
  STRIPLINE_ASSIGN_OR_RETURN(job.watch, bootstrap::watch_settings(job.launch.environment));
  job.cancel_fd = target.cancel_fd;
  job.suspend_fd = target.suspend_fd;
  job.on_ready = [&](bootstrap::StartedRanks& ranks) {
    measuring = true;
    // If a rank is gone, the job ends with that.
    [[maybe_unused]] const Status sent = ranks.send_to_all(work);
  };
  job.on_message = [&](uint32_t, const Json& message, bootstrap::StartedRanks&) {
    collected.take(message);
  };
  const bootstrap::JobOutcome outcome = bootstrap::run_job(job);
  if (outcome.exit_code != kExitOk) {
    std::string message = outcome.message;
    if (message.empty()) {
      message = "the ranks ended with exit code " + std::to_string(outcome.exit_code);
    }
    if (outcome.exit_code == kExitTimeout && measuring) message = limit_message(target);
    return Error(error_code_of(outcome.exit_code), message);
  }
  if (collected.garbled) return *collected.garbled;
  if (!collected.finished) {
    return Error(ErrorCode::internal, "the worker ended without saying that it had finished");
  }
  return std::move(collected.series);
}

}  // namespace stripline::suites::bench
