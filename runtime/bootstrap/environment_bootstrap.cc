#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <signal.h>
#include <string_view>
#include <sys/prctl.h>
#include <unistd.h>

#include <stripline/global_ptr.h>

#include "base/cut_text.h"
#include "base/descriptors.h"
#include "base/hex.h"
#include "base/host_name.h"
#include "base/json_channel.h"
#include "base/number_text.h"
#include "runtime/bootstrap/bootstrap.h"
#include "runtime/bootstrap/pmix_bootstrap.h"

namespace stripline::bootstrap {
namespace {

constexpr const char* kControlVariable = "STRIPLINE_CONTROL_FD";

/// A job of this process alone.
class SingleProcess final : public Bootstrap {
 public:
  SingleProcess() {
    const auto ticks = std::chrono::steady_clock::now().time_since_epoch().count();
    job_id_ = "single-" + std::to_string(::getpid()) + "-" + std::to_string(ticks);
  }

  uint32_t rank() const override { return 0; }
  uint32_t ranks() const override { return 1; }
  const std::string& job_id() const override { return job_id_; }
  Result<std::vector<std::string>> exchange(const std::string& address) override {
    return std::vector<std::string>{address};
  }
  bool report_failure(const Error&) override { return false; }
  void left() override {}
  JsonChannel* control() override { return nullptr; }
  // There is one segment, and who allocates it looks whether it fits.
  bool room_is_known() const override { return true; }

 private:
  std::string job_id_;
};

/// A rank with a launcher at the other end of a socket.
class Launched final : public Bootstrap {
 public:
  Launched(uint32_t rank, uint32_t ranks, std::string job_id, int control_fd)
      : rank_(rank),
        ranks_(ranks),
        job_id_(std::move(job_id)),
        channel_(UniqueFd(control_fd)),
        records_(rank_records_from_environment()) {}

  uint32_t rank() const override { return rank_; }
  uint32_t ranks() const override { return ranks_; }
  const std::string& job_id() const override { return job_id_; }

  Result<std::vector<std::string>> exchange(const std::string& address) override {
    STRIPLINE_RETURN_IF_ERROR(channel_.write({{"type", "join"},
                                              {"rank", rank_},
                                              {"address", to_hex(address)},
                                              {"host", host_name()},
                                              {"pid", ::getpid()}}));
    const auto answer = channel_.read(-1);
    if (!answer.ok()) return answer.error().with_context("waiting for the other ranks of the job");
    return addresses_of(**answer);
  }

  bool report_failure(const Error& error) override {
    return channel_
        .write({{"type", "failed"},
                {"code", std::string(to_string(error.code()))},
                {"message", error.message()}})
        .ok();
  }

  void left() override {
    // A launcher that is gone by now has nothing left to do for this rank.
    [[maybe_unused]] const Status sent = channel_.write({{"type", "left"}});
  }

  bool end_job(int status, const std::string& why) override {
    return channel_.write({{"type", "end"}, {"status", status}, {"message", why}}).ok();
  }

  JsonChannel* control() override { return &channel_; }

  OperationMemory* operation_memory() override { return records_.own; }

  // What starts ranks so asks machine::check_host() before.
  bool room_is_known() const override { return true; }

  // A launcher that hands down records reads them (JobWatch).
  bool notices_stopped() const override { return records_.own != nullptr; }
  bool computes(uint32_t rank) const override { return records_.computes(rank_, rank); }

 private:
  Result<std::vector<std::string>> addresses_of(const Json& answer) const {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string type, get_string(answer, "type", "launcher"));
    if (type == "abort") {
      STRIPLINE_ASSIGN_OR_RETURN(const std::string code, get_string(answer, "code", "abort"));
      STRIPLINE_ASSIGN_OR_RETURN(std::string message, get_string(answer, "message", "abort"));
      return Error(error_code_from_string(code).value_or(ErrorCode::aborted), std::move(message));
    }
    if (type != "ready") {
      return Error(ErrorCode::data_loss, "the launcher answered " + quoted_text(type) +
                                             " instead of 'ready'; its version does not fit");
    }
    STRIPLINE_ASSIGN_OR_RETURN(const Json* list, get_array(answer, "addresses", "ready"));
    std::vector<std::string> addresses;
    for (const Json& item : *list) {
      std::optional<std::string> address;
      if (item.is_string()) address = from_hex(item.get_ref<const std::string&>());
      if (!address) {
        return Error(ErrorCode::data_loss, "the launcher sent an address that is not hexadecimal");
      }
      addresses.push_back(*std::move(address));
    }
    if (addresses.size() != ranks_) {
      return Error(ErrorCode::data_loss, "the launcher sent " + std::to_string(addresses.size()) +
                                             " addresses for " + std::to_string(ranks_) + " ranks");
    }
    return addresses;
  }

  uint32_t rank_;
  uint32_t ranks_;
  std::string job_id_;
  JsonChannel channel_;
  RankRecords records_;
};

// Read at start-up only, before the program has reason to change its environment.
const char* variable(const char* name) {
  return std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
}

/// A launcher that can start tasks without PMIx, and says to each which of how many it is.
struct OtherLauncher {
  const char* name;
  const char* mark;  // a variable that only it sets
  const char* task;
  const char* tasks;
  const char* remedy;  // how it starts one job
};

constexpr const char* kUsualRemedy =
    "'stripline run' (--hosts for several hosts), Open MPI's mpirun or 'srun --mpi=pmix'";

/// Flux and PALS speak PMI-1, too: those that are distinguished by a mark come first.
constexpr std::array<OtherLauncher, 6> kOtherLaunchers = {{
    {"Flux", "FLUX_TASK_RANK", "FLUX_TASK_RANK", "FLUX_JOB_SIZE",
     "'flux run -o pmi=pmix', where the plug-in is installed, or 'stripline run' (--hosts for "
     "several hosts)"},
    {"PALS", "PALS_RANKID", "PALS_RANKID", "PMI_SIZE", "'mpiexec --pmi=pmix'"},
    {"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", kUsualRemedy},
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "the mpirun of Open MPI 4 or newer, or 'stripline run' (--hosts for several hosts)"},
    {"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "'srun --mpi=pmix'"},
    {"a launcher of the MPICH family", "PMI_RANK", "PMI_RANK", "PMI_SIZE", kUsualRemedy},
}};

/// Many tasks without PMIx are each a job of their own, which is mostly a mistake: the first says
/// so.
void warn_of_lonely_tasks() {
  const auto* launcher = std::ranges::find_if(
      kOtherLaunchers, [](const OtherLauncher& one) { return variable(one.mark) != nullptr; });
  if (launcher == kOtherLaunchers.end()) return;
  const char* tasks = variable(launcher->tasks);
  const char* task = variable(launcher->task);
  if (tasks == nullptr || task == nullptr || std::string_view(tasks) == "1" ||
      std::string_view(task) != "0") {
    return;
  }
  std::fprintf(stderr,
               "warning: %s has started %s tasks without PMIx, so that each is a job of one rank; "
               "for one job of all start them with %s\n",
               launcher->name, tasks, launcher->remedy);
}

Result<uint32_t> number(const char* name) {
  const char* text = variable(name);
  if (text == nullptr) {
    return Error(ErrorCode::invalid_argument, std::string("STRIPLINE_RANK is set but ") + name +
                                                  " is not; start ranks with 'stripline run'");
  }
  if (const auto value = number_from_text<uint32_t>(text)) return *value;
  return Error(ErrorCode::invalid_argument, std::string(name) + "=" + quoted_text(text) +
                                                " is not a number; it is set by the launcher");
}

/// What replaces the number of the control channel once this process has taken it. It names the
/// process, so that a child which inherits the environment is recognised.
constexpr std::string_view kTaken = "taken by process ";
std::string taken() { return std::string(kTaken) + std::to_string(::getpid()); }

/// The error of a program that a rank has started, which has joined the job itself.
Error child_of_rank(std::string_view control) {
  return {ErrorCode::failed_precondition,
          "this process was started by rank " + std::string(variable("STRIPLINE_RANK")) +
              " of a job (process " + std::string(control.substr(kTaken.size())) +
              "), which has joined the job itself; a child of a rank is not one: for a job of its "
              "own start it without STRIPLINE_RANK in its environment, or by 'stripline run'"};
}

}  // namespace

Result<std::unique_ptr<Bootstrap>> from_environment() {
  prepare_descriptors();  // of a program that is not ours, and may open one for each peer
  if (variable("STRIPLINE_RANK") == nullptr) {
    if (started_by_pmix()) return join_pmix_job();
    warn_of_lonely_tasks();
    return std::unique_ptr<Bootstrap>(std::make_unique<SingleProcess>());
  }
  if (const char* control = variable(kControlVariable); control != nullptr && control == taken()) {
    return Error(ErrorCode::failed_precondition,
                 "this process is already initialised: it has joined its job, and can do so once; "
                 "make one Context, and hand it to what needs it");
  }
  if (const char* control = variable(kControlVariable);
      control != nullptr && std::string_view(control).starts_with(kTaken)) {
    return child_of_rank(control);
  }
  STRIPLINE_ASSIGN_OR_RETURN(const uint32_t rank, number("STRIPLINE_RANK"));
  STRIPLINE_ASSIGN_OR_RETURN(const uint32_t ranks, number("STRIPLINE_RANKS"));
  STRIPLINE_ASSIGN_OR_RETURN(const uint32_t fd, number(kControlVariable));
  if (ranks == 0 || ranks > kMaxRanks || rank >= ranks) {
    return Error(ErrorCode::invalid_argument,
                 "STRIPLINE_RANK=" + std::to_string(rank) + " of STRIPLINE_RANKS=" +
                     std::to_string(ranks) + " is not possible; a job has 1 to " +
                     std::to_string(kMaxRanks) + " ranks, numbered from 0");
  }
  const char* job_id = variable("STRIPLINE_JOB_ID");
  if (job_id == nullptr || *job_id == '\0') {
    return Error(ErrorCode::invalid_argument,
                 "STRIPLINE_RANK is set but STRIPLINE_JOB_ID is not; start ranks with "
                 "'stripline run'");
  }
  const int control_fd = static_cast<int>(fd);
  const int flags = ::fcntl(control_fd, F_GETFD);
  if (flags < 0 || ::fcntl(control_fd, F_SETFD, flags | FD_CLOEXEC) < 0) {
    return Error(ErrorCode::invalid_argument,
                 "STRIPLINE_CONTROL_FD=" + std::to_string(fd) +
                     " is not an open descriptor; start ranks with 'stripline run', and do not "
                     "wrap them in programs that close inherited descriptors");
  }
  // The launcher has asked for this on behalf of the process that it started; that may be a wrapper
  // (a shell, a profiler), whose end must end the rank.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setenv(kControlVariable, taken().c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  return std::unique_ptr<Bootstrap>(std::make_unique<Launched>(rank, ranks, job_id, control_fd));
}

}  // namespace stripline::bootstrap
