#include "agent/run_load.h"

#include <sys/resource.h>

#include "base/clock.h"
#include "base/formatted.h"

namespace stripline::agent {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// Processor time, in seconds, of the child processes that have ended and were waited for: the
// kernel does not count others here. After a run its workers are among them.
double children_s() {
  rusage usage{};
  if (::getrusage(RUSAGE_CHILDREN, &usage) != 0) return 0;
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::string text(double value) { return formatted("%.3g", value); }

}  // namespace

void RunLoad::begin() {
  load_ = read_host_load();
  times_ = read_processor_times();
  children_s_ = children_s();
  begun_s_ = steady_seconds();
}

std::map<std::string, std::string> RunLoad::facts() const {
  const auto times = read_processor_times();
  const double elapsed_s = steady_seconds() - begun_s_;
  if (!load_ || !times_ || !times || !(elapsed_s > 0)) return {};
  return {
      {"load.average", text(load_->average)},
      {"load.running", text(load_->running)},
      {"load.processors", std::to_string(load_->processors)},
      {"load.in_use", text((times->used_s - times_->used_s) / elapsed_s)},
      {"load.own", text((children_s() - children_s_) / elapsed_s)},
      {"load.stolen", text((times->stolen_s - times_->stolen_s) / elapsed_s / load_->processors)}};
}

}  // namespace stripline::agent
