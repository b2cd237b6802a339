#include "server/core/coordinator.h"

#include <utility>

#include <spdlog/spdlog.h>

#include "server/core/campaigns/recovery.h"
#include "server/core/models/feedback.h"
#include "server/core/models/heed_losses.h"

namespace stripline::server {

Coordinator::Coordinator(Store& store, WatchHub& hub, Meters& meters, Fitter fitter,
                         const CoordinatorOptions& options)
    : state_(store, hub, meters, options),
      models_(store),
      fits_(std::move(fitter), options.storage_retry_s),
      orders_(store, options.lease_s, options.join_timeout_s),
      steps_(state_, orders_, models_, fits_),
      campaign_fits_(state_, fits_),
      operations_(store, fits_),
      planning_(state_, steps_, fits_),
      campaigns_(state_, steps_),
      fleet_(state_, steps_, models_),
      samples_(state_),
      sessions_(state_, orders_, models_, samples_,
                [this](const std::string& node, const FeedbackReport& report) {
                  heed_feedback(node, report);
                }) {}

Coordinator::~Coordinator() { stop(); }

Status Coordinator::start() {
  STRIPLINE_RETURN_IF_ERROR(fleet_.recover());
  STRIPLINE_RETURN_IF_ERROR(models_.recover());
  STRIPLINE_RETURN_IF_ERROR(operations_.recover());
  STRIPLINE_RETURN_IF_ERROR(recover_runs(state_, fits_));
  steps_.start();
  fits_.start([this](int64_t campaign) { campaign_fits_.fit(campaign); },
              [this](int64_t operation) { operations_.carry_out(operation); });
  return {};
}

void Coordinator::stop() {
  {
    const MutexLock lock(state_.mutex);
    if (state_.stopping) return;
    state_.report(state_.save_nodes());
    state_.report(state_.save_ends());
    state_.stopping = true;
  }
  sessions_.close_all();
  samples_.stop();
  state_.timer_wakes.notify_all();
  fits_.stop();
  steps_.join();
}

void Coordinator::drain() {
  const MutexLock lock(state_.mutex);
  state_.draining = true;
}

bool Coordinator::idle() {
  const MutexLock lock(state_.mutex);
  return state_.active.empty();
}

void Coordinator::measure() {
  const auto set = [&](Meters::Gauge gauge, size_t value) {
    state_.meters.set(gauge, static_cast<double>(value));
  };
  set(Meters::Gauge::fits_waiting, fits_.waiting_campaigns());
  set(Meters::Gauge::models_stale, models_.count_stale());
  set(Meters::Gauge::models_unreadable, models_.unreadable().size());
  const MutexLock lock(state_.mutex);
  set(Meters::Gauge::sessions, state_.sessions.size());
  set(Meters::Gauge::nodes_held, state_.holds.size());
  set(Meters::Gauge::runs_active, state_.active.size());
  set(Meters::Gauge::campaigns_open, state_.open.size());
}

std::optional<StorageOutage> Coordinator::storage_outage() {
  if (auto outage = state_.store.outage()) return outage;
  const MutexLock lock(state_.mutex);
  return state_.storage.outage();
}

void Coordinator::offer_models() {
  if (const Status read = models_.refresh(); !read.ok()) {
    const MutexLock lock(state_.mutex);
    return state_.report(read);
  }
  steps_.step();
}

void Coordinator::heed_feedback(const std::string& node, const FeedbackReport& report) {
  const auto version = take_feedback(state_.store, report.content, node);
  if (!version) {
    spdlog::warn("a report of a run on {} is dropped: {}", node, version.problem().message);
    return;
  }
  spdlog::info("{} tells what a run saw of {}", node, version_name(*version));
  const auto heeded = heed_losses(*this, state_.store, *version);
  if (!heeded) spdlog::error("{}: {}", version_name(*version), heeded.problem().message);
}

}  // namespace stripline::server
