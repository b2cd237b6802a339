// What follows from what agents say and users ask, and from leases, timeouts and budgets that end:
// one thread takes a snapshot, asks decide() (scheduler.h), stores the consequence, and then
// informs agents and watchers. It sleeps for ever when nothing is in progress.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include "server/core/campaigns/scheduler.h"
#include "server/core/core_state.h"
#include "server/core/models/fit_queue.h"
#include "server/core/models/model_registry.h"
#include "server/core/sessions/run_orders.h"

namespace stripline::server {

class CampaignSteps {
 public:
  /// All must outlive it.
  CampaignSteps(CoreState& state, RunOrders& orders, ModelRegistry& models, FitQueue& fits)
      : state_(state), orders_(orders), models_(models), fits_(fits) {}
  CampaignSteps(const CampaignSteps&) = delete;
  CampaignSteps& operator=(const CampaignSteps&) = delete;
  ~CampaignSteps() = default;

  /// Decides and acts until nothing is left to do, and from now on whenever something is due.
  void start();
  /// Waits for its thread, which ends when the state says that the server stops.
  void join();

  /// Decides and acts until nothing is left to do.
  void step() STRIPLINE_EXCLUDES(state_.mutex);

 private:
  void run() STRIPLINE_EXCLUDES(state_.mutex);
  void make_step() STRIPLINE_REQUIRES(state_.mutex);

  // Time.
  std::optional<double> lease_grace_end_s() const STRIPLINE_REQUIRES(state_.mutex);
  std::optional<double> next_deadline_s() const STRIPLINE_REQUIRES(state_.mutex);
  std::optional<double> next_drain_s() const STRIPLINE_REQUIRES(state_.mutex);
  void extend_leases_after_stall(double now_s) STRIPLINE_REQUIRES(state_.mutex);
  void end_outage(double now_s) STRIPLINE_REQUIRES(state_.mutex);
  void close_late_streams(double now_s) STRIPLINE_REQUIRES(state_.mutex);
  bool close_silent_sessions(double now_s) STRIPLINE_REQUIRES(state_.mutex);
  void end_drained_runs() STRIPLINE_REQUIRES(state_.mutex);

  // Decisions.
  Snapshot take_snapshot(double now_s) STRIPLINE_REQUIRES(state_.mutex);
  Result<bool> carry_out(const Decision& decision) STRIPLINE_REQUIRES(state_.mutex);
  Status place(const PlaceRun& place) STRIPLINE_REQUIRES(state_.mutex);
  Status give_up(const LoseRun& lose) STRIPLINE_REQUIRES(state_.mutex);
  std::string leave_out(CampaignRecord& campaign, const LoseRun& lose)
      STRIPLINE_REQUIRES(state_.mutex);
  Status complete_run(const CompleteRun& complete) STRIPLINE_REQUIRES(state_.mutex);
  Status finish_measuring(const FinishMeasuring& finish) STRIPLINE_REQUIRES(state_.mutex);
  Status note_waiting(const Wait& wait) STRIPLINE_REQUIRES(state_.mutex);
  std::string budget_warning(const Draft& draft) const STRIPLINE_REQUIRES(state_.mutex);

  // News.
  Status note_progress(double now_s) STRIPLINE_REQUIRES(state_.mutex);
  void send_offers() STRIPLINE_REQUIRES(state_.mutex);

  CoreState& state_;
  RunOrders& orders_;
  ModelRegistry& models_;
  FitQueue& fits_;
  std::thread thread_;
};

}  // namespace stripline::server
