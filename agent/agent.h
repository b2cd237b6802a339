// The node daemon: one session with the server, at most one assignment at a time. Connects the
// state machines (session.h, assignment_runner.h) with the link, the workers and the clock in one
// loop that sleeps in poll() until something happens.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/description.h"
#include "agent/server_address.h"
#include "agent/session.h"
#include "agent/stay.h"
#include "agent/targets.h"
#include "base/result.h"

namespace stripline::agent {

struct AgentOptions {
  std::vector<HostAndPort> servers;  ///< One serves; the others stand by.
  std::string identity_file = {};    ///< credentials.h; empty: no certificate is shown
  std::string cluster = {};          ///< of the form of a node's name; empty: the server's default
  std::string node;                  ///< a resource name segment, without "nodes/"
  std::string worker;                ///< path of stripline-worker
  std::string models_folder = {};    ///< for what the server pushes; empty: it pushes nothing
  TargetOptions targets = {};        ///< other runtimes
  double target_pause_s = 600;       ///< from one look at their versions to the next
  std::string version;
  SessionLimits session;
  StayLimits stay;     ///< times of steady_seconds()
  double drain_s = 0;  ///< what is being measured may go on for this long after stop()
  /// Called by run() after hang_up().
  std::function<void()> on_hang_up = [] {};
};

class Agent {
 public:
  Agent(AgentOptions options, Description description);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  /// Serves until stopped; the exit code (base/exit_codes.h): kExitOk when stopped while idle,
  /// kExitCancelled when a measurement was cut short, or the code of the server's refusal.
  /// Call it from the main thread: workers die with the thread that started them.
  int run();

  /// Ends run() in good order: no new runs are taken, and what is being measured may go on for
  /// AgentOptions::drain_s, or to the job's end if `patiently`; then workers are ended, which takes
  /// about a second, and the server is notified. Said again, it ends at once. Async-signal-safe,
  /// callable from any thread.
  void stop(bool patiently = false);

  /// Has run() call on_hang_up(). Async-signal-safe, callable from any thread.
  void hang_up();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stripline::agent
