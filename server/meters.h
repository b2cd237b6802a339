// What the server counts and times while it works, in the form that Prometheus reads
// (docs/server.md lists the names).
//
// Thread-safe: any method from any thread. Counting takes a few atomic operations.
#pragma once

#include <memory>
#include <string>

namespace stripline::server {

class Meters {
 public:
  /// Only ever grow.
  enum class Counter {
    sessions_opened,
    sessions_timed_out,
    runs_started,
    runs_finished,
    runs_lost,
    batches_stored,
    batches_refused,
    samples_stored,
    commits_failed,
    calls_refused,
    enrolments,
    enrolments_refused,
    campaigns_failed,
    campaigns_deleted,
    samples_deleted,
    nodes_changed  ///< names under which another machine, or a restarted one, came
  };
  /// Go up and down; set when they are asked for.
  enum class Gauge {
    sessions,
    nodes_held,
    runs_active,
    campaigns_open,  ///< that have not ended
    fits_waiting,
    models_stale,  ///< versions that a label names, and that do not hold any more
    models_unreadable,
    storage_failing,
    ready,
    database_bytes,
    free_bytes,
    log_bytes,
    resident_bytes,
    certificate_days,  ///< until the server's ends
    authority_days,
    admin_token_days,      ///< until the last token of an administrator ends
    node_certificate_days  ///< until the first certificate of a node ends
  };
  /// Durations, counted in buckets.
  enum class Time {
    commit,
    step,
    lock_wait,
    acknowledgement,  ///< of a batch, from when the server has received it
    fit
  };

  Meters();
  ~Meters();
  Meters(const Meters&) = delete;
  Meters& operator=(const Meters&) = delete;

  void count(Counter counter, double by = 1);
  void set(Gauge gauge, double value);
  void observe(Time time, double seconds);

  /// All of them in Prometheus' text format.
  std::string text() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Observes how long it lives.
class Stopwatch {
 public:
  Stopwatch(Meters& meters, Meters::Time time);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  Meters& meters_;
  Meters::Time time_;
  double start_s_;
};

}  // namespace stripline::server
