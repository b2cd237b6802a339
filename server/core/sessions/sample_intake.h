// Batches of samples that agents send: read, stored by Ingest, and acknowledged when they are on
// disk.
//
// Thread-safe. The state's lock is not held while samples are read or written.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/campaign/point_table.h"
#include "proto/agent_protocol/messages.h"
#include "server/core/core_state.h"
#include "server/core/sessions/ingest.h"

namespace stripline::server {

/// What batches hold, beside results of points.
struct BatchContent {
  uint64_t samples = 0;  ///< How many values.
  std::string note;      ///< The first series without time.
  void add(const experiment::SampleSeries& series);
};

class SampleIntake {
 public:
  /// `state` must outlive it.
  explicit SampleIntake(CoreState& state);

  void receive(uint64_t session, const SampleBatch& batch) STRIPLINE_EXCLUDES(state_.mutex);
  /// What still waits is not stored, nor acknowledged.
  void stop() { ingest_.stop(); }

 private:
  // What a batch says, read and copied without the lock: batches have megabytes.
  struct ReadBatch {
    std::vector<experiment::SampleSeries> series;
    Arrival arrival;                               // its results: by place, once that is known
    std::optional<Error> refusal;                  // why it is not accepted
    std::optional<std::string> sampler;            // the node that may send it; nullopt: none
    std::shared_ptr<const PlannedPoints> planned;  // nullptr: of no active run
  };

  static ReadBatch read_content(const SampleBatch& batch, const RunKey& run, double received_s);
  static Status check_content(const SampleBatch& batch, ReadBatch& read);
  // `points`: that the run has, if it is active; `node` has sent the batch.
  Status ask_store(const SampleBatch& batch, uint32_t points, const std::string& node,
                   ReadBatch& read) STRIPLINE_EXCLUDES(state_.mutex);
  static Status find_places(const SampleBatch& batch, ReadBatch& read);
  void take(Session& session, const SampleBatch& batch, ReadBatch& read)
      STRIPLINE_REQUIRES(state_.mutex);
  bool handle(Session& session, const SampleBatch& batch, ReadBatch& read)
      STRIPLINE_REQUIRES(state_.mutex);
  bool take_batch(Session& session, ActiveRun& active, const SampleBatch& batch, ReadBatch& read)
      STRIPLINE_REQUIRES(state_.mutex);
  bool take_late_batch(Session& session, const SampleBatch& batch, ReadBatch& read)
      STRIPLINE_REQUIRES(state_.mutex);
  bool not_stored(const Session& session, const RunKey& run, const Error& error)
      STRIPLINE_REQUIRES(state_.mutex);
  bool refuse(Session& session, const SampleBatch& batch, const RunKey& run, const Failure& why)
      STRIPLINE_REQUIRES(state_.mutex);
  void cancel(Session& session, const RunKey& run, uint64_t fence, const std::string& why)
      STRIPLINE_REQUIRES(state_.mutex);
  void on_stored(const std::vector<Arrival>& group) STRIPLINE_EXCLUDES(state_.mutex);
  void acknowledge(const ActiveRun& active) STRIPLINE_REQUIRES(state_.mutex);
  Status count_late_samples(const RunKey& run, uint64_t samples) STRIPLINE_REQUIRES(state_.mutex);

  CoreState& state_;
  Ingest ingest_;
};

}  // namespace stripline::server
