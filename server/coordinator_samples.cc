// The coordinator's side of sample batches.
#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/quantity.h"
#include "server/clock.h"
#include "server/coordinator.h"

namespace stripline::server {
namespace {

// Far above what a run sends, far below where sequence numbers would overflow.
constexpr uint64_t kMaxBatches = 1'000'000'000;
// Agents close a batch at 512 KiB.
constexpr size_t kMaxBatchBytes = size_t{4} << 20;
// Batches hold points; the last may hold none.
constexpr uint64_t kSpareBatches = 16;
// Samples of a campaign that ended longer ago are not waited for by anybody.
constexpr double kLateS = 3600;
constexpr double kProgressEventS = 0.5;

}  // namespace

void Coordinator::receive_samples(uint64_t id, const SampleBatch& batch) {
  const double received_s = steady_seconds();
  std::string node;
  {
    const std::lock_guard lock(mutex_);
    meters_.observe(Meters::Time::lock_wait, steady_seconds() - received_s);
    const Session* session = heard(id);
    if (session == nullptr) return;
    node = session->record.name;
  }
  const auto run = parse_run_name(batch.assignment);
  if (!run) return;
  // Other sessions need not wait until megabytes have been read.
  const auto read = read_batch(batch, *run, node);
  const std::lock_guard lock(mutex_);
  Session* session = heard(id);
  if (session == nullptr) return;
  const bool changed =
      read.ok() ? handle(*session, batch, *read) : not_stored(*session, *run, read.error());
  meters_.observe(Meters::Time::acknowledgement, steady_seconds() - received_s);
  if (changed) step();
}

// Without the lock. Errors: the store's.
Result<Coordinator::ReadBatch> Coordinator::read_batch(const SampleBatch& batch, const RunKey& run,
                                                       const std::string& node) {
  ReadBatch read;
  read.run = run;
  STRIPLINE_ASSIGN_OR_RETURN(read.sampler, store_.sampling_node(run, batch.fence));
  if (read.sampler != node) return read;  // Nobody asks what is in it.
  STRIPLINE_ASSIGN_OR_RETURN(read.planned, planned_points(run, batch.fence, node));
  if (const Status status = read_content(batch, read); !status.ok()) read.refusal = status.error();
  return read;
}

// What the active run is to measure; nullptr when it is not this one. A plan has megabytes, too: it
// is read once, without the lock, when the first samples have come.
Result<std::shared_ptr<const PlannedPoints>> Coordinator::planned_points(const RunKey& run,
                                                                         uint64_t fence,
                                                                         const std::string& node) {
  uint32_t points = 0;
  {
    const std::lock_guard lock(mutex_);
    const ActiveRun* active = active_run(run, fence, node);
    if (active == nullptr) return std::shared_ptr<const PlannedPoints>();
    if (active->planned) return active->planned;
    points = active->points;
  }
  STRIPLINE_ASSIGN_OR_RETURN(const std::string plan, store_.run_plan(run));
  STRIPLINE_ASSIGN_OR_RETURN(PlannedPoints read, PlannedPoints::read(plan, points));
  return std::make_shared<const PlannedPoints>(std::move(read));
}

void Coordinator::add_series(ReadBatch& read, const experiment::SampleSeries& series) {
  if (!is_without_time(series)) {
    read.samples += series.values.size();
  } else if (read.note.empty()) {
    read.note = point_key(series.point) +
                (series.values.empty() ? " was " + series.note : " took no time in any repetition");
  }
}

// Errors: what makes the batch one that the run may not send.
Status Coordinator::read_content(const SampleBatch& batch, ReadBatch& read) {
  if (batch.codec != "json") {
    return Error(ErrorCode::unimplemented,
                 "sample codec '" + batch.codec + "' is not known to this server; it reads 'json'");
  }
  if (batch.seq == 0 || batch.seq > kMaxBatches) {
    return Error(ErrorCode::data_loss,
                 "sample batches are numbered from 1 on, this one is " + std::to_string(batch.seq));
  }
  if (batch.data.size() > kMaxBatchBytes) {
    return Error(ErrorCode::data_loss, "a sample batch of " + std::to_string(batch.data.size()) +
                                           " bytes; at most " + std::to_string(kMaxBatchBytes) +
                                           " are accepted");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto series, series_of_batch(batch.data));
  for (const auto& one : series) {
    if (one.run != read.run.run) {
      return Error(ErrorCode::data_loss, "sample series of run " + std::to_string(one.run) +
                                             " in a batch of run " + std::to_string(read.run.run));
    }
    add_series(read, one);
  }
  if (!read.planned) return {};
  if (batch.seq > read.planned->size() + kSpareBatches) {
    return Error(ErrorCode::data_loss, "batch " + std::to_string(batch.seq) + " of a run of " +
                                           count_text(read.planned->size(), "point"));
  }
  STRIPLINE_ASSIGN_OR_RETURN(read.places, read.planned->find(series));
  return {};
}

// A batch is not acknowledged, so the agent keeps it; ending the session makes it send it again.
bool Coordinator::not_stored(Session& session, const RunKey& run, const Error& error) {
  spdlog::error("{}: cannot store samples: {}", run_name(run), error.message());
  drop_session(sessions_.find(session.id),
               Problem{ErrorCode::unavailable, "STORAGE", error.message(), {}});
  return true;
}

// Samples come from the node of rank 0, and from no other: (run, fence, seq) names a batch, and
// what another node stored under that name would take the place of the real one.
bool Coordinator::handle(Session& session, const SampleBatch& batch, const ReadBatch& read) {
  const RunKey& run = read.run;
  const std::string& node = session.record.name;
  ActiveRun* active = active_run(run, batch.fence, node);
  if (!read.sampler) {
    send_cancel(session, run, batch.fence, "the server does not know this assignment");
    return false;
  }
  if (*read.sampler != node) {
    return refuse_samples(session, batch, run,
                          {node_name(node) + " sent samples of it, which only " +
                               node_name(*read.sampler) + " may do, where its rank 0 is",
                           false, std::nullopt});
  }
  if (read.refusal) {
    return refuse_samples(
        session, batch, run,
        {"malformed samples from " + node_name(node) + ": " + read.refusal->message(), true,
         std::nullopt});
  }
  if (active != nullptr && !read.planned) {
    return not_stored(session, run, Error(ErrorCode::unavailable, "it has just been given out"));
  }
  const auto same = store_.has_batch(run, batch.fence, batch.seq, batch.data);
  if (!same.ok()) return not_stored(session, run, same.error());
  if (*same && !**same) {
    return refuse_samples(session, batch, run,
                          {node_name(node) + " sent batch " + std::to_string(batch.seq) +
                               " again, with other samples than before",
                           false, std::nullopt});
  }
  if (!*same && active != nullptr && active->measured.contains_any(read.places)) {
    return refuse_samples(session, batch, run,
                          {node_name(node) + " sent samples of a point twice, the second time in " +
                               "batch " + std::to_string(batch.seq),
                           false, std::nullopt});
  }
  if (!*same && active == nullptr) {
    const auto campaign = store_.campaign(run.campaign);
    const auto runs = store_.runs(run.campaign);
    if (!campaign.ok()) return not_stored(session, run, campaign.error());
    if (!runs.ok()) return not_stored(session, run, runs.error());
    const auto record = std::ranges::find(*runs, run, &RunRecord::key);
    if ((is_final((*campaign)->state) && unix_seconds() > (*campaign)->updated_unix_s + kLateS) ||
        batch.seq > record->points_all + kSpareBatches) {
      send_cancel(session, run, batch.fence, "it ended long ago, and its samples come too late");
      return false;
    }
  }
  if (!*same) {
    const Status stored = store_batch(batch, read, active);
    if (!stored.ok()) return not_stored(session, run, stored.error());
    meters_.count(Meters::Counter::batches_stored);
    meters_.count(Meters::Counter::samples_stored, static_cast<double>(read.samples));
  }
  const auto contiguous = store_.contiguous_batches(run, batch.fence);
  if (!contiguous.ok()) return not_stored(session, run, contiguous.error());
  if (*contiguous > 0) {
    session.link->send(SampleAck{batch.assignment, batch.fence, *contiguous});
  }
  if (active != nullptr) {
    active->group.renew(node, steady_seconds());
  } else {
    send_cancel(session, run, batch.fence, "the assignment was given to others");
  }
  return false;
}

// Neither stores nor acknowledges it. A member of the active group fails its run by it; any other
// node is told to stop.
bool Coordinator::refuse_samples(Session& session, const SampleBatch& batch, const RunKey& run,
                                 const Failure& why) {
  spdlog::error("{}: {}", run_name(run), why.reason);
  meters_.count(Meters::Counter::batches_refused);
  if (ActiveRun* active = active_run(run, batch.fence, session.record.name)) {
    fail(*active, {why.reason, why.for_good, session.record.name});
    return true;
  }
  send_cancel(session, run, batch.fence, why.reason);
  return false;
}

// Stores a batch that is not stored yet; as an orphan unless it belongs to the active attempt.
Status Coordinator::store_batch(const SampleBatch& batch, const ReadBatch& read,
                                ActiveRun* active) {
  const RunKey& key = read.run;
  STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft(key.campaign));
  d.changes.batches.push_back({0, key, batch.fence, batch.seq, active == nullptr, unix_seconds(),
                               read.samples, batch.data});
  d.campaign.samples += read.samples;
  if (active == nullptr) return commit(d, "");

  const double now_s = steady_seconds();
  const auto measured = static_cast<uint32_t>(active->measured.size() + read.places.size());
  active->pace.report(now_s, measured);
  RunRecord& run = d.run(key.run);
  run.points_done = measured;
  run.duration_s = active_seconds(key.campaign).value_or(0);
  run.start_s = active->pace.start_s();
  std::string event;
  if (now_s >= active->last_progress_event_s + kProgressEventS ||
      run.points_done == run.points_total) {
    active->last_progress_event_s = now_s;
    event = "run " + std::to_string(key.run) + " of " + std::to_string(d.runs.size()) + ": " +
            std::to_string(run.points_done) + " of " + count_text(run.points_total, "point") +
            budget_warning(d);
  }
  STRIPLINE_RETURN_IF_ERROR(commit(d, event));
  active->planned = read.planned;
  active->measured.add(read.places);
  active->samples += read.samples;
  if (active->note.empty()) active->note = read.note;
  return {};
}

}  // namespace stripline::server
