// Starts ranks on this host and speaks with them (docs/worker-protocol.md). It reports what happens
// as events and decides nothing: run_job() (job.h) is the policy of a job, an agent has its own.
//
// One thread at a time. Ranks die with the thread that started them (PR_SET_PDEATHSIG), and with
// the Launcher: nothing is left behind.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json_channel.h"
#include "base/point_record.h"
#include "base/result.h"
#include "base/subprocess.h"
#include "runtime/bootstrap/operation_record.h"
#include "runtime/bootstrap/started_ranks.h"
#include "runtime/machine/processor_claims.h"

namespace stripline::bootstrap {

class LabelledOutput;

/// Where ranks may run.
enum class Bind {
  none,  ///< wherever the scheduler puts them
  core,  ///< on processors of their own, spread over cores and NUMA nodes (place_ranks() in
         ///< runtime/machine/placement.h), that no other job has (processor_claims.h); like none if
         ///< there are fewer of those than ranks
};

struct LaunchOptions {
  std::vector<std::string> argv;  ///< the rank's program and arguments
  uint32_t ranks = 1;             ///< to start here
  uint32_t first_rank = 0;        ///< number of the first of them in the job
  uint32_t job_ranks = 0;         ///< size of the job over all hosts; 0: `ranks`
  std::string job_id;             ///< the same on all hosts of the job; empty: made up
  std::map<std::string, std::string> environment;  ///< STRIPLINE_FABRIC and the like
  Bind bind = Bind::core;
  bool records_points = false;  ///< the ranks are workers, and get a PointRecord each
  std::string claims_folder = machine::kClaimsFolder;  ///< jobs with the same one keep off each
                                                       ///< other's processors
  /// Asked now and then while ranks are being started; true: no more are.
  std::function<bool()> interrupted;
  std::optional<int> stdin_fd;   ///< what rank 0 reads; default: this process's, or nothing if
                                 ///< that is a terminal
  std::optional<int> stdout_fd;  ///< redirect the ranks' output; default: this process's
  std::optional<int> stderr_fd;
  /// Puts the rank's number in front of each line of that (labelled_output.h). Outlives the ranks.
  LabelledOutput* labels = nullptr;
};

class Launcher final : public StartedRanks {
 public:
  /// Starts all ranks, or as many as it can before one of them fails or `options.interrupted`: then
  /// running() is less than ranks(), and next() tells of the failure. Errors: invalid_argument for
  /// impossible numbers, not_found and failed_precondition if the program cannot be started,
  /// resource_exhausted.
  static Result<Launcher> start(const LaunchOptions& options);

  Launcher(Launcher&&) noexcept = default;
  Launcher& operator=(Launcher&&) = delete;
  /// Kills the ranks that still run.
  ~Launcher() override;

  std::optional<RankEvent> next(double timeout_s, int wake_fd = -1) override;
  Status send_ready(std::span<const std::string> addresses) override;
  Status send(uint32_t rank, const Json& message) override;
  Status send_to_all(const Json& message) override;
  std::vector<uint32_t> unread() const override;
  void send_abort(const Error& reason) override;
  void signal(int signal_number) override;
  std::vector<RankSight> look(bool with_operations) override;
  uint32_t running() const override { return running_; }
  uint32_t first_rank() const override { return first_rank_; }
  uint32_t ranks() const override { return ranks_; }
  std::string host_of(uint32_t rank) const override;
  std::string why_unbound() const override { return why_unbound_; }

  /// The process of a rank (by its number in the job).
  pid_t pid(uint32_t rank) const { return processes_.at(rank - first_rank_).process.pid(); }
  const std::string& job_id() const { return job_id_; }

 private:
  struct Rank {
    Subprocess process;
    JsonChannel channel;
    UniqueFd exit_fd;      // pidfd: readable when the process has ended
    PointRecord points;    // without memory unless LaunchOptions::records_points
    pid_t joined_as = 0;   // the process that joined; a wrapper may have started it
    bool open = true;      // the channel
    bool done = false;     // its exit has been reported
    bool excused = false;  // it said how it ends: left or failed
  };

  explicit Launcher(uint32_t ranks) : operations_(ranks), ranks_(ranks) {}
  bool has_bad_news();
  void read_channel(uint32_t index);
  void read_exit(uint32_t index);
  void see_process(uint32_t index, RankSight& sight) const;
  std::optional<RankEvent> to_event(uint32_t rank, Json message);

  std::vector<machine::ProcessorClaims> claims_;  // while the ranks run; at most one
  std::string why_unbound_;
  std::vector<Rank> processes_;
  OperationRecords operations_;
  std::deque<RankEvent> events_;
  std::string job_id_;
  uint32_t ranks_ = 0;
  uint32_t first_rank_ = 0;
  uint32_t running_ = 0;
};

}  // namespace stripline::bootstrap
