#include "runtime/bootstrap/testing/thread_group.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>

#include "runtime/bootstrap/bootstrap.h"
#include "runtime/bootstrap/testing/mixed_group.h"
#include "runtime/rma/context_state.h"

namespace stripline::bootstrap {
namespace {

/// What the threads of a group share.
class Meeting {
 public:
  explicit Meeting(uint32_t ranks)
      : addresses_(ranks),
        job_id_("threads-" + std::to_string(::getpid()) + "-" +
                std::to_string(std::chrono::steady_clock::now().time_since_epoch().count())) {}

  const std::string& job_id() const { return job_id_; }
  uint32_t ranks() const { return static_cast<uint32_t>(addresses_.size()); }

  Result<std::vector<std::string>> exchange(uint32_t rank, const std::string& address) {
    std::unique_lock lock(mutex_);
    addresses_[rank] = address;
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return failed_ || arrived_ == addresses_.size(); });
    if (failed_) return Error(ErrorCode::aborted, "another rank could not join");
    return addresses_;
  }

  void fail() {
    const std::scoped_lock lock(mutex_);
    failed_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> addresses_;
  size_t arrived_ = 0;
  bool failed_ = false;
  const std::string job_id_;
};

class ThreadRank final : public Bootstrap {
 public:
  ThreadRank(std::shared_ptr<Meeting> meeting, uint32_t rank)
      : meeting_(std::move(meeting)), rank_(rank) {}

  uint32_t rank() const override { return rank_; }
  uint32_t ranks() const override { return meeting_->ranks(); }
  const std::string& job_id() const override { return meeting_->job_id(); }
  Result<std::vector<std::string>> exchange(const std::string& address) override {
    return meeting_->exchange(rank_, address);
  }
  bool report_failure(const Error&) override {
    meeting_->fail();
    return false;
  }
  void left() override {}
  JsonChannel* control() override { return nullptr; }

 private:
  std::shared_ptr<Meeting> meeting_;
  uint32_t rank_;
};

Status run(const std::vector<Options>& of_ranks, const am::Config& am_config,
           const std::function<void(Context&)>& body) {
  const auto ranks = static_cast<rank_t>(of_ranks.size());
  const auto meeting = std::make_shared<Meeting>(ranks);
  std::vector<Status> outcomes(ranks);
  std::vector<std::thread> threads;
  for (rank_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      auto context = detail::ContextState::join(
          of_ranks[rank], std::make_unique<ThreadRank>(meeting, rank), am_config);
      if (context.ok()) {
        body(**context);
      } else {
        outcomes[rank] = context.error();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  // The rank that could not join explains the errors of those that were only notified.
  for (const bool cause : {true, false}) {
    for (const Status& outcome : outcomes) {
      if (!outcome.ok() && (outcome.error().code() != ErrorCode::aborted) == cause) return outcome;
    }
  }
  return {};
}

}  // namespace

Status run_ranks(const ThreadGroupOptions& options, const std::function<void(Context&)>& body) {
  return run(std::vector<Options>(options.ranks, options.context), options.am_config, body);
}

Status run_mixed_ranks(const std::vector<Options>& of_ranks,
                       const std::function<void(Context&)>& body) {
  return run(of_ranks, {}, body);
}

}  // namespace stripline::bootstrap
