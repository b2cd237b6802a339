#include "server/core/models/fit_queue.h"

#include <chrono>
#include <exception>

#include <spdlog/spdlog.h>

#include "base/quantity.h"

namespace stripline::server {

void FitQueue::start(Task fit_campaign, Task carry_out_operation) {
  fit_campaign_ = std::move(fit_campaign);
  carry_out_operation_ = std::move(carry_out_operation);
  thread_ = std::thread([this] { run(); });
}

void FitQueue::stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wakes_.notify_all();
  stop_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void FitQueue::add_campaign(int64_t number) {
  const MutexLock lock(mutex_);
  campaigns_.push_back(number);
  wakes_.notify_all();
}

void FitQueue::add_operation(int64_t number) {
  const MutexLock lock(mutex_);
  operations_.push_back(number);
  wakes_.notify_all();
}

void FitQueue::remove_operation(int64_t number) {
  const MutexLock lock(mutex_);
  std::erase(operations_, number);
}

size_t FitQueue::waiting_campaigns() {
  const MutexLock lock(mutex_);
  return campaigns_.size();
}

size_t FitQueue::waiting_operations() {
  const MutexLock lock(mutex_);
  return operations_.size();
}

void FitQueue::run() {
  MutexLock lock(mutex_);
  while (true) {
    wakes_.wait(lock, [&]() STRIPLINE_REQUIRES(mutex_) {
      return stopping_ || !campaigns_.empty() || !operations_.empty();
    });
    if (stopping_) return;
    const bool is_campaign = !campaigns_.empty();
    std::deque<int64_t>& queue = is_campaign ? campaigns_ : operations_;
    const int64_t next = queue.front();
    queue.pop_front();
    lock.unlock();
    if (is_campaign) {
      fit_campaign_(next);
    } else {
      carry_out_operation_(next);
    }
    lock.lock();
  }
}

Result<FittedModel> FitQueue::fit(const FitJob& job, const std::stop_token& stop) const {
  try {
    return fitter_(job, stop);
  } catch (const std::exception& failure) {
    return Error(ErrorCode::internal, failure.what());
  }
}

bool FitQueue::wait_for_storage(const std::string& name, std::string_view task,
                                const Error& error) {
  spdlog::error("{}: cannot {}: {}; trying again in {}", name, task, error.message(),
                exact_seconds_text(retry_s_));
  MutexLock lock(mutex_);
  return !wakes_.wait_for(lock, std::chrono::duration<double>(retry_s_),
                          [&]() STRIPLINE_REQUIRES(mutex_) { return stopping_; });
}

}  // namespace stripline::server
