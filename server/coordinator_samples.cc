// The coordinator's side of sample batches.
#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "server/clock.h"
#include "server/coordinator.h"

namespace stripline::server {
namespace {

// Far above what a run sends, far below where sequence numbers would overflow.
constexpr uint64_t kMaxBatches = 1'000'000'000;
// Agents close a batch at 512 KiB.
constexpr size_t kMaxBatchBytes = size_t{4} << 20;
constexpr double kProgressEventS = 0.5;

// The values of a batch and its first note, if it is what the run may send.
Result<std::pair<uint64_t, std::string>> read_content(const SampleBatch& batch, const RunKey& run) {
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
  uint64_t samples = 0;
  std::string note;
  for (const auto& one : series) {
    if (one.run != run.run) {
      return Error(ErrorCode::data_loss, "sample series of run " + std::to_string(one.run) +
                                             " in a batch of run " + std::to_string(run.run));
    }
    samples += one.values.size();
    if (one.values.empty() && note.empty()) note = point_key(one.point) + " was " + one.note;
  }
  return std::pair(samples, std::move(note));
}

}  // namespace

// Nullopt where it names no run.
std::optional<Coordinator::ReadBatch> Coordinator::read_batch(const SampleBatch& batch) {
  const auto run = parse_run_name(batch.assignment);
  if (!run) return std::nullopt;
  auto content = read_content(batch, *run);
  if (!content.ok()) return ReadBatch{*run, content.error()};
  return ReadBatch{*run, ReadBatch::Content{content->first, std::move(content->second)}};
}

// Samples come from the node of rank 0, and from no other: (run, fence, seq) names a batch, and
// what another node stored under that name would take the place of the real one.
bool Coordinator::handle(Session& session, const SampleBatch& batch, const ReadBatch& read) {
  const RunKey& run = read.run;
  const std::string& node = session.record.name;
  ActiveRun* active = active_run(run, batch.fence, node);
  // Not acknowledged, so the agent keeps the batch; ending the session makes it send it again.
  const auto not_stored = [&](const Error& error) {
    spdlog::error("{}: cannot store samples: {}", run_name(run), error.message());
    drop_session(sessions_.find(session.id),
                 Problem{ErrorCode::unavailable, "STORAGE", error.message(), {}});
    return true;
  };
  const auto sampler = store_.sampling_node(run, batch.fence);
  if (!sampler.ok()) return not_stored(sampler.error());
  if (!*sampler) {
    send_cancel(session, run, batch.fence, "the server does not know this assignment");
    return false;
  }
  if (**sampler != node) {
    return refuse_samples(session, batch, run,
                          {node_name(node) + " sent samples of it, which only " +
                               node_name(**sampler) + " may do, where its rank 0 is",
                           false});
  }
  if (!read.content.ok()) {
    return refuse_samples(
        session, batch, run,
        {"malformed samples from " + node_name(node) + ": " + read.content.error().message(),
         true});
  }
  const auto same = store_.has_batch(run, batch.fence, batch.seq, batch.data);
  if (!same.ok()) return not_stored(same.error());
  if (*same && !**same) {
    return refuse_samples(session, batch, run,
                          {node_name(node) + " sent batch " + std::to_string(batch.seq) +
                               " again, with other samples than before",
                           false});
  }
  if (!*same) {
    const Status stored = store_batch(batch, read, active);
    if (!stored.ok()) return not_stored(stored.error());
  }
  const auto contiguous = store_.contiguous_batches(run, batch.fence);
  if (!contiguous.ok()) return not_stored(contiguous.error());
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
  if (ActiveRun* active = active_run(run, batch.fence, session.record.name)) {
    active->failure = why;
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
                               read.content->samples, batch.data});
  d.campaign.samples += read.content->samples;
  std::string event;
  if (active != nullptr) {
    RunRecord& run = d.run(key.run);
    run.points_done = std::max(run.points_done, std::min(batch.points_done, run.points_total));
    const double now_s = steady_seconds();
    if (now_s >= active->last_progress_event_s + kProgressEventS ||
        run.points_done == run.points_total) {
      active->last_progress_event_s = now_s;
      event = "run " + std::to_string(key.run) + " of " + std::to_string(d.runs.size()) + ": " +
              std::to_string(run.points_done) + " of " + std::to_string(run.points_total) +
              " points" + budget_warning(d);
    }
  }
  STRIPLINE_RETURN_IF_ERROR(commit(d, event));
  if (active != nullptr) {
    active->samples += read.content->samples;
    if (active->note.empty()) active->note = read.content->note;
  }
  return {};
}

}  // namespace stripline::server
