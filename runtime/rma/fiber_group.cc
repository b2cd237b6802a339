#include "runtime/rma/fiber_group.h"

#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "runtime/bootstrap/bootstrap.h"
#include "runtime/bootstrap/fiber.h"
#include "runtime/fabric/crew.h"
#include "runtime/rma/context_state.h"

namespace stripline::bootstrap {
namespace {

std::string unique_id() {
  return "fibers-" + std::to_string(::getpid()) + "-" +
         std::to_string(std::chrono::steady_clock::now().time_since_epoch().count());
}

/// What the fibers share. Has the process's job id, by which others know it.
class Job final : public fabric::Crew {
 public:
  Job(Fibers& fibers, uint32_t ranks, Bootstrap* process)
      : fibers_(fibers),
        process_(process),
        addresses_(ranks),
        id_(process != nullptr ? process->job_id() : unique_id()) {}

  uint32_t ranks() const { return static_cast<uint32_t>(addresses_.size()); }
  const std::string& id() const { return id_; }
  void resume(uint32_t rank) override { fibers_.resume(rank); }
  void yield() override { fibers_.yield(); }
  Result<std::shared_ptr<std::byte>> shared_memory(size_t bytes) override;

  Result<std::vector<std::string>> exchange(uint32_t rank, const std::string& address) {
    addresses_[rank] = address;
    ++arrived_;
    while (!failed_ && arrived_ < addresses_.size()) yield();
    if (failed_) return Error(ErrorCode::aborted, "another rank could not join");
    return addresses_;
  }

  // The first one explains those of the others.
  bool fail(const Error& error) {
    const bool first = !std::exchange(failed_, true);
    if (process_ == nullptr) return false;
    return !first || process_->report_failure(error);
  }

 private:
  Fibers& fibers_;
  Bootstrap* process_;
  std::vector<std::string> addresses_;
  size_t arrived_ = 0;
  bool failed_ = false;
  const std::string id_;
  std::weak_ptr<std::byte> shared_;  // as long as a rank has it
  size_t shared_bytes_ = 0;
};

Result<std::shared_ptr<std::byte>> Job::shared_memory(size_t bytes) {
  if (std::shared_ptr<std::byte> memory = shared_.lock()) {
    if (bytes == shared_bytes_) return memory;
    return Error(ErrorCode::invalid_argument, "ranks of one process share " +
                                                  std::to_string(shared_bytes_) + " bytes, not " +
                                                  std::to_string(bytes));
  }
  // Ranks touch a part of their segments, so the whole need not fit the host's memory.
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return Error(ErrorCode::resource_exhausted,
                 "cannot reserve " + std::to_string(bytes) + " bytes for the segments of " +
                     std::to_string(ranks()) + " ranks (" + std::generic_category().message(errno) +
                     "); ask for smaller segments (STRIPLINE_SEGMENT_BYTES), or start fewer ranks");
  }
  std::shared_ptr<std::byte> shared(static_cast<std::byte*>(memory),
                                    [bytes](std::byte* base) { ::munmap(base, bytes); });
  shared_ = shared;
  shared_bytes_ = bytes;
  return shared;
}

class FiberRank final : public Bootstrap {
 public:
  FiberRank(Job& job, uint32_t rank) : job_(job), rank_(rank) {}

  uint32_t rank() const override { return rank_; }
  uint32_t ranks() const override { return job_.ranks(); }
  const std::string& job_id() const override { return job_.id(); }
  Result<std::vector<std::string>> exchange(const std::string& address) override {
    return job_.exchange(rank_, address);
  }
  bool report_failure(const Error& error) override { return job_.fail(error); }
  void left() override {}
  JsonChannel* control() override { return nullptr; }
  fabric::Crew* crew() override { return &job_; }

 private:
  Job& job_;
  uint32_t rank_;
};

}  // namespace

Status run_fibers(const FiberGroupOptions& options, const std::function<void(Context&)>& body) {
  if (options.context.clock != "virtual") {
    return Error(ErrorCode::invalid_argument,
                 "ranks that are fibers of one thread need the virtual clock, not '" +
                     options.context.clock + "': they run one at a time");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const std::unique_ptr<Fibers> fibers, Fibers::create(options.ranks));
  Job job(*fibers, options.ranks, options.process);
  std::vector<Status> outcomes(options.ranks);
  fibers->run([&](uint32_t rank) {
    auto context = detail::ContextState::join(options.context,
                                              std::make_unique<FiberRank>(job, rank), am::Config());
    if (context.ok()) {
      body(**context);
    } else {
      outcomes[rank] = context.error();
    }
  });
  // The rank that could not join explains the errors of those that were only notified.
  for (const bool cause : {true, false}) {
    for (const Status& outcome : outcomes) {
      if (!outcome.ok() && (outcome.error().code() != ErrorCode::aborted) == cause) return outcome;
    }
  }
  return {};
}

}  // namespace stripline::bootstrap
