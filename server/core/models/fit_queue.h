// The thread that fits models: campaigns that have measured all, and operations that somebody has
// asked for, one after the other. Users that wait for a campaign come first.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "server/core/models/fit_job.h"

namespace stripline::server {

/// Thread-safe.
class FitQueue {
 public:
  using Task = std::function<void(int64_t number)>;

  /// `retry_s`: the pause after which storage is tried again.
  FitQueue(Fitter fitter, double retry_s) : fitter_(std::move(fitter)), retry_s_(retry_s) {}
  FitQueue(const FitQueue&) = delete;
  FitQueue& operator=(const FitQueue&) = delete;
  ~FitQueue() { stop(); }

  /// The tasks are called on its thread, without its lock.
  void start(Task fit_campaign, Task carry_out_operation);
  /// Asks the fit in progress to end, and waits for the thread. The next start of the server takes
  /// up what waits.
  void stop();

  void add_campaign(int64_t number);
  void add_operation(int64_t number);
  /// It is not carried out, if it has not begun.
  void remove_operation(int64_t number);
  size_t waiting_campaigns();
  size_t waiting_operations();

  /// For tasks. Whatever becomes of the fit, the server goes on.
  Result<FittedModel> fit(const FitJob& job, const std::stop_token& stop) const;
  /// For tasks: is requested when the queue stops.
  std::stop_token stop_token() const { return stop_.get_token(); }
  /// For tasks that could not be stored. False if the queue stops: what is named stays as it is.
  bool wait_for_storage(const std::string& name, std::string_view task, const Error& error);

 private:
  void run();

  const Fitter fitter_;
  const double retry_s_;
  Task fit_campaign_;
  Task carry_out_operation_;
  std::stop_source stop_;
  Mutex mutex_;
  std::condition_variable_any wakes_;
  bool stopping_ STRIPLINE_GUARDED_BY(mutex_) = false;
  std::deque<int64_t> campaigns_ STRIPLINE_GUARDED_BY(mutex_);
  std::deque<int64_t> operations_ STRIPLINE_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace stripline::server
