// Starts ranks on this host and speaks with them (docs/worker-protocol.md). It reports what happens
// as events and decides nothing: run_job() (local_job.h) is the policy of a job on one host, an
// agent has its own.
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
#include "base/process_state.h"
#include "base/result.h"
#include "base/subprocess.h"
#include "runtime/bootstrap/operation_record.h"
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
  std::string claims_folder = machine::kClaimsFolder;  ///< jobs with the same one keep off each
                                                       ///< other's processors
  /// Asked now and then while ranks are being started; true: no more are.
  std::function<bool()> interrupted;
  std::optional<int> stdout_fd;  ///< redirect the ranks' output; default: this process's
  std::optional<int> stderr_fd;
  /// Puts the rank's number in front of each line of that (labelled_output.h). Outlives the ranks.
  LabelledOutput* labels = nullptr;
};

/// Something that happened to one rank.
struct RankEvent {
  enum class Kind {
    joined,   ///< `address` and `host` are set; its endpoint is open
    message,  ///< any message of another type, in `message`
    failed,   ///< the rank says that it is about to exit because of `error`
    left,     ///< it has left the job in good order
    closed,   ///< its channel ended although it neither left nor failed, or it sent garbage
              ///< (`error`)
    exited,   ///< the process ended with `status`; the last event of a rank
  };
  Kind kind = Kind::message;
  uint32_t rank = 0;
  std::string address;
  std::string host;
  Json message;
  std::optional<Error> error;
  ExitStatus status;
  std::string last_operation;  ///< of a rank that was killed (OperationRecords); empty: unknown
};

class Launcher {
 public:
  /// Starts all ranks, or as many as it can before one of them fails or `options.interrupted`: then
  /// running() is less than ranks(), and next() tells of the failure. Errors: invalid_argument for
  /// impossible numbers, not_found and failed_precondition if the program cannot be started,
  /// resource_exhausted.
  static Result<Launcher> start(const LaunchOptions& options);

  Launcher(Launcher&&) noexcept = default;
  Launcher& operator=(Launcher&&) = delete;
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  /// Kills the ranks that still run.
  ~Launcher();

  /// The next event, in order per rank. Waits at most `timeout_s` (< 0: for ever), or until the
  /// descriptor `wake_fd` (if >= 0) is readable; nullopt then, when no rank runs any more, and when
  /// the last of unread() has taken all it was sent. Meanwhile it writes what send() has kept.
  std::optional<RankEvent> next(double timeout_s, int wake_fd = -1);

  /// Tells every rank that the job is complete. addresses[i] is rank i's, as the events gave it.
  Status send_ready(std::span<const std::string> addresses);

  /// Sends one message to one rank (by its number in the job). Never blocks: what its socket does
  /// not take goes out while next() waits. Errors: unavailable if it has closed its channel.
  Status send(uint32_t rank, const Json& message);

  /// Sends one message to all ranks whose channels are open, as send(). Errors: of the first that
  /// has one; the others get it all the same.
  Status send_to_all(const Json& message);

  /// Ranks (by their numbers in the job) that do not read: parts of what they were sent do not fit
  /// their sockets.
  std::vector<uint32_t> unread() const;

  /// Tells every rank that still runs that the job ends. Ranks that are not reading do not notice:
  /// kill them afterwards. Never blocks.
  void send_abort(const Error& reason);

  /// Sends a signal to the process groups of all ranks that run.
  void signal(int signal_number);

  /// The process of a rank (by its number in the job).
  pid_t pid(uint32_t rank) const { return processes_.at(rank - first_rank_).process.pid(); }
  /// What the kernel says of a rank's process (by its number in the job): of the one that joined,
  /// if that is a child of the one started here; nullopt where /proc cannot be read, and if the
  /// rank was not started.
  struct Process {
    pid_t pid = 0;
    ProcessState state;
  };
  std::optional<Process> process(uint32_t rank) const;
  /// What the rank has recorded (OperationRecords).
  std::string operation(uint32_t rank) const {
    return operations_.last_operation(rank - first_rank_);
  }
  uint64_t waits(uint32_t rank) const { return operations_.waits(rank - first_rank_); }

  /// Ranks whose processes run.
  uint32_t running() const { return running_; }
  uint32_t first_rank() const { return first_rank_; }
  /// That were to be started.
  uint32_t ranks() const { return ranks_; }
  /// With Bind::core, why ranks are not bound all the same; empty if they are.
  const std::string& why_unbound() const { return why_unbound_; }
  const std::string& job_id() const { return job_id_; }

 private:
  struct Rank {
    Subprocess process;
    JsonChannel channel;
    UniqueFd exit_fd;      // pidfd: readable when the process has ended
    pid_t joined_as = 0;   // the process that joined; a wrapper may have started it
    bool open = true;      // the channel
    bool done = false;     // its exit has been reported
    bool excused = false;  // it said how it ends: left or failed
  };

  explicit Launcher(uint32_t ranks) : operations_(ranks), ranks_(ranks) {}
  bool has_bad_news();
  void read_channel(uint32_t index);
  void read_exit(uint32_t index);
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
