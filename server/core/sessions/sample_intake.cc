#include "server/core/sessions/sample_intake.h"

#include <set>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/quantity.h"
#include "server/clock.h"
#include "server/core/campaigns/campaign_records.h"
#include "server/core/models/fit_job.h"
#include "server/store/point_records.h"

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

}  // namespace

void BatchContent::add(const experiment::SampleSeries& series) {
  samples += series.values.size();
  if (is_without_time(series) && note.empty()) {
    note = point_key(series.point) +
           (series.values.empty() ? " was " + series.note : " took no time in any repetition");
  }
}

SampleIntake::SampleIntake(CoreState& state)
    : state_(state),
      ingest_(state.store, [this](const std::vector<Arrival>& group) { on_stored(group); }) {}

// The state's lock is taken once for a batch of an active run. Twice only if the store has to be
// asked in between: for the plan, when the first samples come, and for who may send those of an
// attempt that is not active.
void SampleIntake::receive(uint64_t id, const SampleBatch& batch) {
  const double received_s = steady_seconds();
  const auto run = parse_run_name(batch.assignment.name);
  // Other sessions need not wait until megabytes have been read.
  ReadBatch read = run ? read_content(batch, *run, received_s) : ReadBatch();
  std::string node;
  uint32_t points = 0;
  {
    const double asked_s = steady_seconds();
    const MutexLock lock(state_.mutex);
    state_.meters.observe(Meters::Time::lock_wait, steady_seconds() - asked_s);
    Session* session = state_.sessions.heard(id);
    if (session == nullptr || !run) return;
    node = session->record.name;
    const auto found = state_.active.find(run->campaign);
    if (found != state_.active.end() && found->second.group.run() == *run &&
        found->second.group.fence() == batch.assignment.fence) {
      read.sampler = found->second.group.rank_nodes().front();
      read.planned = found->second.planned;
      points = found->second.points;
    }
    if (read.sampler && (read.planned || read.sampler != node)) return take(*session, batch, read);
  }
  const Status found = ask_store(batch, points, node, read);
  const MutexLock lock(state_.mutex);
  Session* session = state_.sessions.heard(id);
  if (session == nullptr) return;
  if (found.ok()) return take(*session, batch, read);
  if (not_stored(*session, *run, found.error())) state_.want_step();
}

// What can be said of a batch by itself. A refusal is what makes it one that the run may not send.
SampleIntake::ReadBatch SampleIntake::read_content(const SampleBatch& batch, const RunKey& run,
                                                   double received_s) {
  ReadBatch read;
  Arrival& arrival = read.arrival;
  arrival.received_s = received_s;
  arrival.batch.run = run;
  arrival.batch.fence = batch.assignment.fence;
  arrival.batch.seq = batch.seq;
  arrival.batch.received_unix_s = unix_seconds();
  const Status status = check_content(batch, read);
  if (status.ok()) {
    arrival.batch.data = *batch.data;
  } else {
    read.refusal = status.error();
  }
  return read;
}

Status SampleIntake::check_content(const SampleBatch& batch, ReadBatch& read) {
  if (batch.codec != "json") {
    return Error(ErrorCode::unimplemented,
                 "sample codec '" + batch.codec + "' is not known to this server; it reads 'json'");
  }
  if (batch.seq == 0 || batch.seq > kMaxBatches) {
    return Error(ErrorCode::data_loss,
                 "sample batches are numbered from 1 on, this one is " + std::to_string(batch.seq));
  }
  if (batch.data->size() > kMaxBatchBytes) {
    return Error(ErrorCode::data_loss, "a sample batch of " + std::to_string(batch.data->size()) +
                                           " bytes; at most " + std::to_string(kMaxBatchBytes) +
                                           " are accepted");
  }
  STRIPLINE_ASSIGN_OR_RETURN(read.series, series_of_batch(*batch.data));
  Arrival& arrival = read.arrival;
  const uint32_t run = arrival.batch.run.run;
  BatchContent content;
  for (const auto& one : read.series) {
    if (one.run != run) {
      return Error(ErrorCode::data_loss, "sample series of run " + std::to_string(one.run) +
                                             " in a batch of run " + std::to_string(run));
    }
    content.add(one);
    arrival.results.push_back(campaign::result_of(one, 0));
  }
  arrival.batch.samples = content.samples;
  arrival.note = std::move(content.note);
  return {};
}

// Without the lock. A plan has megabytes, too: it is read once, when the first samples have come.
// Errors: the store's.
Status SampleIntake::ask_store(const SampleBatch& batch, uint32_t points, const std::string& node,
                               ReadBatch& read) {
  if (!read.sampler) {
    STRIPLINE_ASSIGN_OR_RETURN(
        read.sampler, state_.store.sampling_node(read.arrival.batch.run, batch.assignment.fence));
  }
  if (read.sampler != node || points == 0 || read.planned) return {};
  STRIPLINE_ASSIGN_OR_RETURN(const std::string plan, state_.store.run_plan(read.arrival.batch.run));
  STRIPLINE_ASSIGN_OR_RETURN(PlannedPoints planned, PlannedPoints::read(plan, points));
  read.planned = std::make_shared<const PlannedPoints>(std::move(planned));
  return {};
}

// Errors: what makes the batch one that the run may not send.
Status SampleIntake::find_places(const SampleBatch& batch, ReadBatch& read) {
  if (batch.seq > read.planned->size() + kSpareBatches) {
    return Error(ErrorCode::data_loss, "batch " + std::to_string(batch.seq) + " of a run of " +
                                           count_text(read.planned->size(), "point"));
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto places, read.planned->find(read.series));
  std::vector<campaign::PointResult>& results = read.arrival.results;
  std::vector<campaign::PointResult> planned;
  for (size_t i = 0; i < read.series.size(); ++i) {
    if (read.planned->is_beside(read.series[i].point)) continue;
    results[i].place = places[planned.size()];
    planned.push_back(results[i]);
  }
  results = std::move(planned);
  return {};
}

void SampleIntake::take(Session& session, const SampleBatch& batch, ReadBatch& read) {
  if (read.planned && !read.refusal) {
    if (const Status status = find_places(batch, read); !status.ok()) read.refusal = status.error();
  }
  if (handle(session, batch, read)) state_.want_step();
}

// A batch is not acknowledged, so the agent keeps it; ending the session makes it send it again.
bool SampleIntake::not_stored(const Session& session, const RunKey& run, const Error& error) {
  spdlog::error("{}: cannot store samples: {}", run_name(run), error.message());
  state_.drop_session(session.id, Problem{ErrorCode::unavailable, "STORAGE", error.message(), {}});
  return true;
}

// Samples come from the node of rank 0, and from no other: (run, fence, seq) names a batch, and
// what another node stored under that name would take the place of the real one.
bool SampleIntake::handle(Session& session, const SampleBatch& batch, ReadBatch& read) {
  const RunKey run = read.arrival.batch.run;
  const std::string& node = session.record.name;
  ActiveRun* active = state_.active_run(run, batch.assignment.fence, node);
  if (!read.sampler) {
    cancel(session, run, batch.assignment.fence, "the server does not know this assignment");
    return false;
  }
  if (*read.sampler != node) {
    return refuse(session, batch, run,
                  {node_name(node) + " sent samples of it, which only " + node_name(*read.sampler) +
                       " may do, where its rank 0 is",
                   false, std::nullopt});
  }
  if (read.refusal) {
    return refuse(session, batch, run,
                  {"malformed samples from " + node_name(node) + ": " + read.refusal->message(),
                   true, std::nullopt});
  }
  if (active == nullptr) return take_late_batch(session, batch, read);
  if (!read.planned) {
    return not_stored(session, run, Error(ErrorCode::unavailable, "it has just been given out"));
  }
  return take_batch(session, *active, batch, read);
}

// A batch of an active run goes to the disk without the lock, and is acknowledged from there.
bool SampleIntake::take_batch(Session& session, ActiveRun& active, const SampleBatch& batch,
                              ReadBatch& read) {
  const std::string& node = session.record.name;
  Arrival& arrival = read.arrival;
  const RunKey& run = arrival.batch.run;
  active.group.renew(node, steady_seconds());
  if (active.in_flight.contains(batch.seq)) return false;
  if (batch.seq <= active.contiguous || active.out_of_order.contains(batch.seq)) {
    const auto same = state_.store.has_batch(run, batch.assignment.fence, batch.seq, *batch.data);
    if (!same.ok()) return not_stored(session, run, same.error());
    if (!same->value_or(false)) {
      return refuse(session, batch, run,
                    {node_name(node) + " sent batch " + std::to_string(batch.seq) +
                         " again, with other samples than before",
                     false, std::nullopt});
    }
    acknowledge(active);
    return false;
  }
  if (active.measured.contains_any(arrival.results)) {
    return refuse(session, batch, run,
                  {node_name(node) + " sent samples of a point twice, the second time in " +
                       "batch " + std::to_string(batch.seq),
                   false, std::nullopt});
  }
  active.planned = read.planned;
  active.measured.add(arrival.results);
  active.in_flight.insert(batch.seq);
  arrival.node = node;
  ingest_.add(std::move(arrival));
  return false;
}

// A batch of an attempt that was given up is kept as an orphan, within limits.
bool SampleIntake::take_late_batch(Session& session, const SampleBatch& batch, ReadBatch& read) {
  const RunKey run = read.arrival.batch.run;
  const auto same = state_.store.has_batch(run, batch.assignment.fence, batch.seq, *batch.data);
  if (!same.ok()) return not_stored(session, run, same.error());
  if (*same && !**same) {
    return refuse(session, batch, run,
                  {node_name(session.record.name) + " sent batch " + std::to_string(batch.seq) +
                       " again, with other samples than before",
                   false, std::nullopt});
  }
  if (!*same) {
    const auto known = state_.store.campaign(run.campaign);
    if (!known.ok()) return not_stored(session, run, known.error());
    if (!*known) {
      cancel(session, run, batch.assignment.fence, "its campaign was deleted");
      return false;
    }
    auto d = draft_of(state_, run.campaign);
    if (!d.ok()) return not_stored(session, run, d.error());
    if ((is_final(d->campaign.state) && unix_seconds() > d->campaign.updated_unix_s + kLateS) ||
        batch.seq > d->run(run.run).points_all + kSpareBatches) {
      cancel(session, run, batch.assignment.fence,
             "it ended long ago, and its samples come too late");
      return false;
    }
    const uint64_t samples = read.arrival.batch.samples;
    read.arrival.batch.orphan = true;
    d->changes.batches.push_back(std::move(read.arrival.batch));
    d->campaign.samples += samples;
    const Status stored = commit(state_, *d, "");
    if (!stored.ok()) return not_stored(session, run, stored.error());
    state_.meters.count(Meters::Counter::batches_stored);
    state_.meters.count(Meters::Counter::samples_stored, static_cast<double>(samples));
  }
  const auto contiguous = state_.store.contiguous_batches(run, batch.assignment.fence);
  if (!contiguous.ok()) return not_stored(session, run, contiguous.error());
  if (*contiguous > 0) {
    session.link->send(SampleAck{batch.assignment, *contiguous});
  }
  cancel(session, run, batch.assignment.fence, "the assignment was given to others");
  return false;
}

// On the thread that writes samples. What has been stored is noted and acknowledged.
void SampleIntake::on_stored(const std::vector<Arrival>& group) {
  const MutexLock lock(state_.mutex);
  if (state_.stopping) return;
  std::set<int64_t> touched;
  for (const Arrival& arrival : group) {
    const RunKey& run = arrival.batch.run;
    ActiveRun* active = state_.active_run(run, arrival.batch.fence, arrival.node);
    if (active != nullptr) {
      active->note_stored(arrival);
      touched.insert(run.campaign);
    } else if (arrival.stored.ok()) {
      // It has been given up meanwhile, and the store has made an orphan of it.
      state_.report(count_late_samples(run, arrival.batch.samples));
    }
    const Session* const session = state_.sessions.of_node(arrival.node);
    if (!arrival.stored.ok() && session != nullptr) {
      not_stored(*session, run, arrival.stored.error());
    }
  }
  for (const int64_t campaign : touched) acknowledge(state_.active.at(campaign));
  state_.want_step();
  for (const Arrival& arrival : group) {
    if (!arrival.stored.ok()) continue;
    state_.meters.count(Meters::Counter::batches_stored);
    state_.meters.count(Meters::Counter::samples_stored,
                        static_cast<double>(arrival.batch.samples));
    state_.meters.observe(Meters::Time::acknowledgement, steady_seconds() - arrival.received_s);
  }
}

void SampleIntake::acknowledge(const ActiveRun& active) {
  const RunGroup& group = active.group;
  const Session* const session = state_.sessions.of_node(group.rank_nodes().front());
  if (active.contiguous == 0 || session == nullptr) return;
  session->link->send(SampleAck{{run_name(group.run()), group.fence()}, active.contiguous});
}

Status SampleIntake::count_late_samples(const RunKey& run, uint64_t samples) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto known, state_.store.campaign(run.campaign));
  if (!known) return {};  // It was deleted meanwhile.
  STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft_of(state_, run.campaign));
  d.campaign.samples += samples;
  return commit(state_, d, "");
}

// Neither stores nor acknowledges it. A member of the active group fails its run by it; any other
// node is asked to stop.
bool SampleIntake::refuse(Session& session, const SampleBatch& batch, const RunKey& run,
                          const Failure& why) {
  spdlog::error("{}: {}", run_name(run), why.reason);
  state_.meters.count(Meters::Counter::batches_refused);
  if (ActiveRun* active = state_.active_run(run, batch.assignment.fence, session.record.name)) {
    active->fail({why.reason, why.for_good, session.record.name});
    return true;
  }
  cancel(session, run, batch.assignment.fence, why.reason);
  return false;
}

void SampleIntake::cancel(Session& session, const RunKey& run, uint64_t fence,
                          const std::string& why) {
  session.send_cancel(run, fence, why, state_.options.lease_s);
}

}  // namespace stripline::server
