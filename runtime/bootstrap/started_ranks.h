// The ranks of a job as run_job() (job.h) sees them, wherever they run: on this host (launcher.h)
// or on several (hosts_launcher.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/subprocess.h"
#include "runtime/bootstrap/job_watch.h"

namespace stripline::bootstrap {

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
    lost,     ///< its host was lost (`error`), and with it all news of the rank; the last event of
              ///< a rank
  };
  Kind kind = Kind::message;
  uint32_t rank = 0;
  std::string address;
  std::string host;
  Json message;
  std::optional<Error> error;
  ExitStatus status;
  std::string last_operation;  ///< of a rank that was killed (OperationRecords); empty: unknown
  uint64_t points = 0;         ///< that a rank which failed or exited had begun (RankSight::points)
};

/// Ranks are named by their numbers in the job. One thread at a time.
class StartedRanks {
 public:
  StartedRanks() = default;
  StartedRanks(const StartedRanks&) = delete;
  StartedRanks& operator=(const StartedRanks&) = delete;
  /// Ends the ranks that still run.
  virtual ~StartedRanks() = default;

  /// The next event, in order per rank. Waits at most `timeout_s` (< 0: for ever), or until the
  /// descriptor `wake_fd` (if >= 0) is readable; nullopt then, when no rank runs any more, and when
  /// the last of unread() has taken all it was sent. Meanwhile it writes what send() has kept.
  virtual std::optional<RankEvent> next(double timeout_s, int wake_fd = -1) = 0;

  /// Tells every rank that the job is complete. addresses[i] is rank i's, as the events gave it.
  virtual Status send_ready(std::span<const std::string> addresses) = 0;

  /// Sends one message to one rank. Never blocks: what is not taken at once goes out while next()
  /// waits. Errors: unavailable if it has closed its channel.
  virtual Status send(uint32_t rank, const Json& message) = 0;

  /// Sends one message to all ranks whose channels are open, as send(). Errors: of the first that
  /// has one; the others get it all the same.
  virtual Status send_to_all(const Json& message) = 0;

  /// Ranks that do not read: parts of what they were sent do not fit their sockets.
  virtual std::vector<uint32_t> unread() const = 0;

  /// Tells every rank that still runs that the job ends. Ranks that are not reading do not notice:
  /// kill them afterwards. Never blocks.
  virtual void send_abort(const Error& reason) = 0;

  /// Sends a signal to the process groups of all ranks that run.
  virtual void signal(int signal_number) = 0;

  /// What can be seen of the processes, by rank from first_rank() on: all but RankSight::stage;
  /// what ranks are in only if it is asked for. Of ranks that have ended, only the latter.
  virtual std::vector<RankSight> look(bool with_operations) = 0;

  /// Ranks whose processes run.
  virtual uint32_t running() const = 0;
  virtual uint32_t first_rank() const = 0;
  /// That were to be started.
  virtual uint32_t ranks() const = 0;
  /// The name of the host where the rank was to be started.
  virtual std::string host_of(uint32_t rank) const = 0;
  /// Why ranks are not bound to processors although they were to be; empty if they are.
  virtual std::string why_unbound() const = 0;

 protected:
  StartedRanks(StartedRanks&&) noexcept = default;
};

}  // namespace stripline::bootstrap
