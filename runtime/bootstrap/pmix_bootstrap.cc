#include "runtime/bootstrap/pmix_bootstrap.h"

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <unistd.h>

#include <stripline/global_ptr.h>

#include "base/exit_codes.h"
#include "base/host_name.h"
#include "base/quantity.h"
#include "base/unguessable.h"
#include "runtime/bootstrap/pmix_library.h"

namespace stripline::bootstrap {
namespace {

constexpr int kDefaultJoinSeconds = 60;

// Read at start-up only, before the program has reason to change its environment.
const char* variable(const char* name) {
  return std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
}

Result<int> join_seconds() {
  const char* text = variable("STRIPLINE_JOIN_TIMEOUT");
  if (text == nullptr || *text == '\0') return kDefaultJoinSeconds;
  // More than a PMIx server counts would wrap there.
  constexpr TimeRange kRange{.least_s = kTimeLimits.least_s, .most_s = 1e6};
  const auto seconds = parse_seconds(text, kRange);
  if (!seconds.ok()) return seconds.error().with_context("STRIPLINE_JOIN_TIMEOUT");
  return static_cast<int>(std::ceil(*seconds));  // what PMIx can tell
}

/// One attribute of a PMIx call.
pmix_info_t attribute(const char* key, pmix_data_type_t type) {
  pmix_info_t info{};
  std::strncpy(info.key, key, PMIX_MAX_KEYLEN);
  info.value.type = type;
  return info;
}

/// A value that PMIx allocated for its caller.
class OwnedValue {
 public:
  OwnedValue() = default;
  ~OwnedValue() {
    if (value_ == nullptr) return;
    if (value_->type == PMIX_BYTE_OBJECT) std::free(value_->data.bo.bytes);  // NOLINT
    if (value_->type == PMIX_STRING) std::free(value_->data.string);         // NOLINT
    std::free(value_);                                                       // NOLINT
  }
  OwnedValue(const OwnedValue&) = delete;
  OwnedValue& operator=(const OwnedValue&) = delete;

  pmix_value_t** out() { return &value_; }
  const pmix_value_t* operator->() const { return value_; }
  explicit operator bool() const { return value_ != nullptr; }

 private:
  pmix_value_t* value_ = nullptr;
};

/// Called by a thread of PMIx when the server is gone: no one is left to end this rank or to hear
/// of it. Its message comes as the handler's object.
void end_without_server(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t info[],
                        size_t info_count, pmix_info_t*, size_t,
                        pmix_event_notification_cbfunc_fn_t, void*) {
  for (size_t i = 0; i < info_count; ++i) {
    if (std::string_view(info[i].key) != PMIX_EVENT_RETURN_OBJECT) continue;
    const auto* message = static_cast<const std::string*>(info[i].value.data.ptr);
    std::fprintf(stderr, "error: %s\n", message->c_str());
  }
  ::_exit(kExitRankDied);
}

// What this process leaves in its environment for those that it starts: which place in which job is
// taken, and by whom. PMIx would take a child for the rank. Not for users, who set STRIPLINE_*.
constexpr const char* kPlaceVariable = "_STRIPLINE_PMIX_PLACE";
constexpr const char* kProcessVariable = "_STRIPLINE_PMIX_PROCESS";
std::string place_in_job() {
  const auto text = [](const char* name) {
    const char* const value = variable(name);
    return std::string(value == nullptr ? "" : value);
  };
  return text("PMIX_NAMESPACE") + "." + text("PMIX_RANK");
}

class PmixJob final : public Bootstrap {
 public:
  PmixJob(const PmixJob&) = delete;
  PmixJob& operator=(const PmixJob&) = delete;
  ~PmixJob() override { unwatch_server(); }

  static Result<std::unique_ptr<PmixJob>> join() {
    STRIPLINE_ASSIGN_OR_RETURN(const int timeout_s, join_seconds());
    STRIPLINE_ASSIGN_OR_RETURN(const pmix::Library library, pmix::Library::load());
    // PMIx keeps what a process has put: a second round would read the addresses of the first.
    static std::atomic<bool> joined = false;
    const char* const place = variable(kPlaceVariable);
    if (place != nullptr && std::string_view(place) == place_in_job()) {
      const char* const process = variable(kProcessVariable);
      if (process != nullptr && std::to_string(::getpid()) != process) {
        return Error(ErrorCode::failed_precondition,
                     std::string("this process was started by a rank of a job (process ") +
                         process +
                         "), which has joined the job itself; a child of a rank is not one: for a "
                         "job of its own start it without PMIX_NAMESPACE in its environment");
      }
    }
    if (joined.exchange(true)) {
      return Error(ErrorCode::failed_precondition,
                   "this process has already been a rank of the job that mpirun or srun started; "
                   "create one Context per process");
    }
    auto job = std::unique_ptr<PmixJob>(new PmixJob(library, timeout_s));  // NOLINT
    const pmix_status_t status = library.init(&job->self_, nullptr, 0);
    if (status != PMIX_SUCCESS) {
      return Error(ErrorCode::unavailable,
                   "PMIx_Init: " + job->text(status) +
                       "; PMIX_NAMESPACE is set, but no PMIx server answers: start the ranks "
                       "directly with mpirun or 'srun --mpi=pmix', or unset PMIX_NAMESPACE for a "
                       "job of one rank");
    }
    ::setenv(kPlaceVariable, place_in_job().c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    ::setenv(kProcessVariable, std::to_string(::getpid()).c_str(),
             1);  // NOLINT(concurrency-mt-unsafe)
    // From here on a failure is one of the job: the others wait for this rank.
    const std::string name = "rank " + std::to_string(job->rank()) + " on " + host_name();
    job->watch_server(name);
    const Status complete = job->introduce();
    if (complete.ok()) return job;
    const Error located = complete.error().with_context(name);
    job->report_failure(located);
    return located.as_shown();
  }

  uint32_t rank() const override { return self_.rank; }
  uint32_t ranks() const override { return ranks_; }
  const std::string& job_id() const override { return job_id_; }

  Result<std::vector<std::string>> exchange(const std::string& address) override {
    STRIPLINE_RETURN_IF_ERROR(publish("stripline.address", address));
    STRIPLINE_RETURN_IF_ERROR(fence());
    std::vector<std::string> addresses;
    for (uint32_t peer = 0; peer < ranks_; ++peer) {
      STRIPLINE_ASSIGN_OR_RETURN(std::string theirs, published("stripline.address", peer));
      addresses.push_back(std::move(theirs));
    }
    return addresses;
  }

  bool report_failure(const Error& error) override {
    // Before the launcher hears of it, because it may end this process at once.
    std::fprintf(stderr, "error: %s\n", error.message().c_str());
    std::fflush(stderr);
    library_.abort(exit_code_for(error.code()), error.message().c_str(), nullptr, 0);
    return true;
  }

  void left() override {
    // A server that is gone by now has nothing left to do for this rank.
    unwatch_server();
    library_.finalize(nullptr, 0);
  }

  JsonChannel* control() override { return nullptr; }

  bool tells_of_stalls() const override { return false; }

 private:
  PmixJob(const pmix::Library& library, int timeout_s) : library_(library), timeout_s_(timeout_s) {}

  std::string text(pmix_status_t status) const {
    const char* name = library_.error_string(status);
    return (name != nullptr ? std::string(name) : std::string("error")) + " (" +
           std::to_string(status) + ")";
  }

  /// Ends this rank when the server does. A server that cannot tell leaves that to whoever ends the
  /// ranks of its host.
  void watch_server(const std::string& name) {
    orphaned_ = name + ": the process that started this rank (mpirun, srun) is gone";
    pmix_status_t code = PMIX_ERR_LOST_CONNECTION;
    pmix_info_t object = attribute(PMIX_EVENT_RETURN_OBJECT, PMIX_POINTER);
    object.value.data.ptr = &orphaned_;
    handler_ =
        library_.register_event_handler(&code, 1, &object, 1, end_without_server, nullptr, nullptr);
  }

  /// Returns when the handler does not run and will not: it reads orphaned_.
  void unwatch_server() {
    if (handler_ < 0) return;
    library_.deregister_event_handler(static_cast<size_t>(handler_), nullptr, nullptr);
    handler_ = -1;
  }

  /// Learns the size and the id of the job.
  Status introduce() {
    pmix_proc_t whole_job = self_;
    whole_job.rank = PMIX_RANK_WILDCARD;
    OwnedValue size;
    const pmix_status_t status = library_.get(&whole_job, PMIX_JOB_SIZE, nullptr, 0, size.out());
    if (status != PMIX_SUCCESS || !size || size->type != PMIX_UINT32) {
      return Error(ErrorCode::unavailable,
                   "the PMIx server does not say how large the job is: " + text(status));
    }
    ranks_ = size->data.uint32;
    if (ranks_ == 0 || ranks_ > kMaxRanks || self_.rank >= ranks_) {
      return Error(ErrorCode::invalid_argument,
                   "rank " + std::to_string(self_.rank) + " of " + std::to_string(ranks_) +
                       " is not possible; a job has 1 to " + std::to_string(kMaxRanks) + " ranks");
    }
    if (self_.rank == 0) {
      STRIPLINE_RETURN_IF_ERROR(
          publish("stripline.job", std::to_string(::getpid()) + "-" + unguessable_text()));
    }
    STRIPLINE_RETURN_IF_ERROR(fence());
    STRIPLINE_ASSIGN_OR_RETURN(job_id_, published("stripline.job", 0));
    return {};
  }

  /// Gives `bytes` to all ranks; they can read it after the next fence.
  Status publish(const char* key, const std::string& bytes) const {
    pmix_value_t value{};
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = const_cast<char*>(bytes.data());  // only read
    value.data.bo.size = bytes.size();
    pmix_status_t status = library_.put(PMIX_GLOBAL, key, &value);
    if (status == PMIX_SUCCESS) status = library_.commit();
    if (status == PMIX_SUCCESS) return {};
    return Error(ErrorCode::unavailable,
                 "PMIx does not take " + std::string(key) + ": " + text(status));
  }

  /// Waits for all ranks and brings what they have published.
  Status fence() const {
    pmix_info_t attributes[] = {attribute(PMIX_COLLECT_DATA, PMIX_BOOL),
                                attribute(PMIX_TIMEOUT, PMIX_INT)};
    attributes[0].value.data.flag = true;
    attributes[1].value.data.integer = timeout_s_;
    const pmix_status_t status = library_.fence(nullptr, 0, attributes, 2);
    if (status == PMIX_SUCCESS) return {};
    if (status == PMIX_ERR_TIMEOUT) {
      return Error(ErrorCode::deadline_exceeded,
                   "some of the " + std::to_string(ranks_) +
                       " ranks have not joined the job within " + exact_seconds_text(timeout_s_) +
                       "; they hang before or in Context::init, or need longer "
                       "(STRIPLINE_JOIN_TIMEOUT)");
    }
    return Error(ErrorCode::unavailable,
                 "PMIx_Fence, waiting for the other ranks of the job: " + text(status));
  }

  Result<std::string> published(const char* key, uint32_t peer) const {
    pmix_proc_t process = self_;
    process.rank = peer;
    pmix_info_t timeout = attribute(PMIX_TIMEOUT, PMIX_INT);
    timeout.value.data.integer = timeout_s_;
    OwnedValue value;
    const pmix_status_t status = library_.get(&process, key, &timeout, 1, value.out());
    if (status != PMIX_SUCCESS || !value || value->type != PMIX_BYTE_OBJECT) {
      return Error(ErrorCode::unavailable, "PMIx has no " + std::string(key) + " of rank " +
                                               std::to_string(peer) + ": " + text(status));
    }
    return std::string(value->data.bo.bytes, value->data.bo.size);
  }

  pmix::Library library_;
  int timeout_s_;
  pmix_proc_t self_{};
  uint32_t ranks_ = 0;
  std::string job_id_;
  std::string orphaned_;        // the last words of a rank without server
  pmix_status_t handler_ = -1;  // of that event; < 0: none
};

}  // namespace

bool started_by_pmix() {
  return variable("PMIX_NAMESPACE") != nullptr && variable("PMIX_RANK") != nullptr;
}

Result<std::unique_ptr<Bootstrap>> join_pmix_job() {
  STRIPLINE_ASSIGN_OR_RETURN(std::unique_ptr<Bootstrap> job, PmixJob::join());
  return job;
}

}  // namespace stripline::bootstrap
