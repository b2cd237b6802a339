// What a rank keeps between the points of a run: its context, the number of the run, and the active
// messages that the experiments share (a context registers handlers once, for good).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <stripline/context.h>

#include "base/result.h"

namespace stripline::suites {

class InnerSession;

class Session {
 public:
  /// Collective: registers the active messages. `run` is Assignment::run; it numbers the series.
  /// The context must outlive the session.
  Session(Context& context, uint32_t run);
  /// Collective, where on_node() was called.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Context& context() { return context_; }
  uint32_t run() const { return run_; }

  /// A Matrix Market file for kernels that are to take one; empty: none.
  const std::string& matrix_file() const { return matrix_file_; }
  void set_matrix_file(std::string path) { matrix_file_ = std::move(path); }

  /// Sends a payload that the target sends back, and returns when it is back.
  void ping(rank_t target, std::span<const std::byte> payload);

  /// As ping(), and compares what comes back with the pattern of `seed` (pattern.h).
  bool checked_ping(rank_t target, std::span<const std::byte> payload, uint64_t seed);

  /// Sends a payload that the target only counts. Returns when it is issued.
  void send_counted(rank_t target, std::span<const std::byte> payload);
  /// Sends a payload that the target counts, and counts as good if it is the pattern of kSeed.
  void send_checked(rank_t target, std::span<const std::byte> payload);
  static constexpr uint64_t kSeed = 0x5171;

  /// What a target has received from send_counted() and send_checked() since it was last asked.
  struct Received {
    uint64_t messages = 0;
    uint64_t bytes = 0;
    uint64_t good = 0;  ///< messages whose pattern agreed
  };
  /// Waits until everything sent to `target` before has been served, and returns what it received;
  /// the target starts again from zero.
  Received take_received(rank_t target);

  /// What repetitions of kernels have taken this rank since it was last asked, warm-up included, in
  /// seconds.
  double take_kernel_s() { return std::exchange(kernel_s_, 0); }
  void add_kernel_s(double seconds) { kernel_s_ += seconds; }

  /// Collective. The session of the ranks on rank 0's node that reach each other thus ("mapped",
  /// "cma"): a job of its own, opened when it is first asked for, in which they have other numbers.
  /// Null on ranks of other nodes, which go on at once. Errors as InnerSession::open_on_node().
  Result<Session*> on_node(const std::string& path);

  /// Collective. The session of all ranks through the network where `progress` ("manual",
  /// "thread") serves them: likewise a job of its own. Errors as InnerSession::open_served().
  Result<Session*> served(const std::string& progress);

 private:
  Context& context_;
  uint32_t run_;
  std::string matrix_file_;
  double kernel_s_ = 0;
  using Inner = std::map<std::string, Result<std::unique_ptr<InnerSession>>>;
  Inner nodes_;
  Inner served_;
  uint32_t echo_ = 0;
  uint32_t echo_answer_ = 0;
  uint32_t count_ = 0;
  uint32_t check_ = 0;
  uint32_t ask_received_ = 0;
  uint32_t received_answer_ = 0;

  // At the initiator.
  uint64_t answers_ = 0;
  bool comparing_ = false;
  bool echo_agrees_ = false;
  uint64_t echo_seed_ = 0;
  Received answer_;
  // At the target.
  Received received_;
};

}  // namespace stripline::suites
