#include "server/meters.h"

#include <array>
#include <cstddef>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "base/command_line.h"
#include "server/clock.h"

namespace stripline::server {
namespace {

struct Name {
  const char* name;
  const char* help;
};

// Each in the order of its enumeration.
constexpr std::array kCounters = {
    Name{"stripline_sessions_opened_total", "Sessions that agents have opened"},
    Name{"stripline_sessions_timed_out_total", "Sessions closed because nothing was heard of them"},
    Name{"stripline_runs_started_total", "Runs given out, repeated ones included"},
    Name{"stripline_runs_finished_total", "Runs whose samples are complete"},
    Name{"stripline_runs_lost_total", "Attempts at runs that were given up"},
    Name{"stripline_batches_stored_total", "Sample batches stored"},
    Name{"stripline_batches_refused_total", "Sample batches that a node may not send"},
    Name{"stripline_samples_stored_total", "Samples stored"},
    Name{"stripline_commits_failed_total", "Steps that could not be stored"},
    Name{"stripline_calls_refused_total", "Calls without a valid token or certificate, or role"},
    Name{"stripline_enrolments_total", "Nodes enrolled"},
    Name{"stripline_enrolments_refused_total", "Enrolments refused"},
    Name{"stripline_campaigns_failed_total", "Campaigns that ended without what they were for"},
    Name{"stripline_campaigns_deleted_total", "Campaigns deleted because of their age or for room"},
    Name{"stripline_samples_deleted_total", "Samples deleted with them"},
    Name{"stripline_nodes_changed_total",
         "Agents that came under the name of another machine, or after a restart of their host"},
};
constexpr std::array kGauges = {
    Name{"stripline_sessions", "Agents connected"},
    Name{"stripline_nodes_held", "Nodes that operators keep from runs"},
    Name{"stripline_runs_active", "Runs being measured"},
    Name{"stripline_campaigns_open", "Campaigns that have not ended"},
    Name{"stripline_fits_waiting", "Campaigns that wait for their model to be fitted"},
    Name{"stripline_models_stale",
         "Versions of models that a label names, and that do not hold any more"},
    Name{"stripline_models_unreadable",
         "Models that nodes are not offered, because they cannot be read"},
    Name{"stripline_storage_failing", "1 while steps cannot be stored"},
    Name{"stripline_ready", "1 while /readyz says so"},
    Name{"stripline_database_bytes", "Size of the database file"},
    Name{"stripline_database_free_bytes", "Room in the database file for what is stored next"},
    Name{"stripline_log_bytes", "Size of the database's write-ahead log"},
    Name{"process_resident_memory_bytes", "Memory that the server occupies"},
    Name{"stripline_certificate_days_left", "Days until the server's certificate ends"},
    Name{"stripline_authority_days_left", "Days until the server's authority ends"},
    Name{"stripline_admin_token_days_left",
         "Days until no token of an administrator is valid any more"},
    Name{"stripline_node_certificate_days_left",
         "Days until the first certificate of a node ends, negative once one has"},
};
constexpr std::array kTimes = {
    Name{"stripline_commit_seconds", "Storing a step, synced to disk"},
    Name{"stripline_step_seconds", "Deciding what is next, and doing it"},
    Name{"stripline_lock_wait_seconds", "Waiting until an agent's message can be seen to"},
    Name{"stripline_acknowledgement_seconds", "From a batch's arrival until it is acknowledged"},
    Name{"stripline_fit_seconds", "Fitting a model"},
};

// From a fast disk's commit to a long fit.
const prometheus::Histogram::BucketBoundaries& buckets() {
  static const prometheus::Histogram::BucketBoundaries kBuckets = {
      0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100};
  return kBuckets;
}

}  // namespace

class Meters::Impl {
 public:
  Impl() {
    for (size_t i = 0; i < kCounters.size(); ++i) {
      counters[i] = &prometheus::BuildCounter()
                         .Name(kCounters[i].name)
                         .Help(kCounters[i].help)
                         .Register(registry)
                         .Add({});
    }
    for (size_t i = 0; i < kGauges.size(); ++i) {
      gauges[i] = &prometheus::BuildGauge()
                       .Name(kGauges[i].name)
                       .Help(kGauges[i].help)
                       .Register(registry)
                       .Add({});
    }
    for (size_t i = 0; i < kTimes.size(); ++i) {
      times[i] = &prometheus::BuildHistogram()
                      .Name(kTimes[i].name)
                      .Help(kTimes[i].help)
                      .Register(registry)
                      .Add({}, buckets());
    }
    prometheus::BuildGauge()
        .Name("stripline_info")
        .Help("1, with the version of the server")
        .Register(registry)
        .Add({{"version", std::string(program_version())}})
        .Set(1);
    prometheus::BuildGauge()
        .Name("process_start_time_seconds")
        .Help("When the server was started, in seconds since 1970")
        .Register(registry)
        .Add({})
        .Set(unix_seconds());
  }

  prometheus::Registry registry;
  std::array<prometheus::Counter*, kCounters.size()> counters{};
  std::array<prometheus::Gauge*, kGauges.size()> gauges{};
  std::array<prometheus::Histogram*, kTimes.size()> times{};
};

Meters::Meters() : impl_(std::make_unique<Impl>()) {}
Meters::~Meters() = default;

void Meters::count(Counter counter, double by) {
  impl_->counters.at(static_cast<size_t>(counter))->Increment(by);
}

void Meters::set(Gauge gauge, double value) {
  impl_->gauges.at(static_cast<size_t>(gauge))->Set(value);
}

void Meters::observe(Time time, double seconds) {
  impl_->times.at(static_cast<size_t>(time))->Observe(seconds);
}

std::string Meters::text() const {
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

Stopwatch::Stopwatch(Meters& meters, Meters::Time time)
    : meters_(meters), time_(time), start_s_(steady_seconds()) {}

Stopwatch::~Stopwatch() { meters_.observe(time_, steady_seconds() - start_s_); }

}  // namespace stripline::server
