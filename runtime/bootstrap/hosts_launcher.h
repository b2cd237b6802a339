// Starts the ranks of a job on several hosts through ssh, and tells what happens to them as
// Launcher does of those of one host. On each host runs the program of host_share.h; messages
// (host_messages.h), what ranks print and what rank 0 reads go through ssh's standard input and
// output, and nothing but the program's path stands in its command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/bootstrap/host_link.h"
#include "runtime/bootstrap/host_list.h"
#include "runtime/bootstrap/host_messages.h"
#include "runtime/bootstrap/launcher.h"
#include "runtime/bootstrap/launcher_streams.h"

namespace stripline::bootstrap {

struct HostsOptions {
  std::vector<HostRanks> shares;           ///< all ranks of the job, in order
  std::vector<std::string> ssh = {"ssh"};  ///< the command, and options for it
  std::string program;                     ///< of every host, which serves its share
  std::string folder;                      ///< where ranks start, if the host has it
  bool label = false;                      ///< put the rank's number in front of lines
  /// Hosts that have not answered within this time after they were called cannot be reached.
  double answer_limit_s = 60;
  /// A host, or for a host the launcher, of which nothing is heard for this long is lost.
  double silence_limit_s = 120;
  /// Called with what a person should know, a line without end.
  std::function<void(const std::string&)> warn;
};

class HostsLauncher final : public StartedRanks {
 public:
  /// Calls all hosts, lets them look whether they can start their ranks, and then starts all.
  /// `launch` is of the whole job; its program should be the same for every host. Blocks SIGPIPE.
  /// Errors: of the first host that cannot be reached (unavailable), has no such program
  /// (not_found), has not the memory (resource_exhausted), or another version
  /// (failed_precondition); deadline_exceeded; cancelled if `launch.interrupted`.
  static Result<std::unique_ptr<StartedRanks>> start(const LaunchOptions& launch,
                                                     const HostsOptions& options);

  /// Writes what ranks have printed, gives up when nothing is taken for 5 s, and ends what runs on
  /// the hosts.
  ~HostsLauncher() override;
  HostsLauncher(const HostsLauncher&) = delete;
  HostsLauncher& operator=(const HostsLauncher&) = delete;

  std::optional<RankEvent> next(double timeout_s, int wake_fd = -1) override;
  Status send_ready(std::span<const std::string> addresses) override;
  Status send(uint32_t rank, const Json& message) override;
  Status send_to_all(const Json& message) override;
  std::vector<uint32_t> unread() const override;
  void send_abort(const Error& reason) override;
  void signal(int signal_number) override;
  std::vector<RankSight> look(bool with_operations) override;
  uint32_t running() const override { return running_; }
  uint32_t first_rank() const override { return 0; }
  uint32_t ranks() const override { return static_cast<uint32_t>(host_of_rank_.size()); }
  std::string host_of(uint32_t rank) const override;
  std::string why_unbound() const override;

 private:
  enum class Phase { calling, greeted, prepared, started, done, gone };
  struct Host {
    HostRanks share;
    HostLink link;
    Phase phase = Phase::calling;
    HostGreeting greeting = {};
    double heard_s = 0;
    std::vector<bool> ended = {};  // ranks of which the last event has come
    std::vector<uint32_t> unread = {};
    std::vector<RankSight> sights = {};
    uint32_t looks_owed = 0;  // answers to look()
    std::string why_unbound = {};
  };

  explicit HostsLauncher(const HostsOptions& options);
  Status call(const LaunchOptions& launch);
  Status prepare(const LaunchOptions& launch);
  Status wait_for(Phase phase, const LaunchOptions& launch, double until_s);
  std::string address_for(const Host& host) const;
  bool turn(double wait_s, int wake_fd);
  void hear(Host& host);
  Status handle(Host& host, const Json& message);
  Status handle_event(Host& host, const Json& message);
  Status handle_started(Host& host, const Json& message);
  void beat();
  void lose(Host& host, const Error& error);
  void give_input();
  void took(size_t owner, bool is_output, size_t bytes);
  void end_rank(Host& host, uint32_t rank);
  void post_to_all(const Json& message);

  HostsOptions options_;
  std::vector<Host> hosts_;
  std::vector<size_t> host_of_rank_;
  std::deque<RankEvent> events_;
  OutputQueue out_;
  OutputQueue err_;
  std::optional<Error> failure_;  // the first host's that was lost
  uint32_t running_ = 0;          // none until all are asked to start
  bool all_read_ = false;         // since next() has looked
  bool wants_input_ = false;      // rank 0's host
  double beat_s_;
  double next_beat_s_ = 0;
  std::optional<double> killed_s_;  // when ranks were sent SIGKILL
  uint64_t progress_ = 0;           // messages and bytes that have come and gone
};

}  // namespace stripline::bootstrap
