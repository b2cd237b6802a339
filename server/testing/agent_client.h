// An agent for tests: speaks the Session protocol without workers, either message by message or by
// itself.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>

#include <grpcpp/grpcpp.h>

#include "optimizer/experiment/experiment.h"
#include "server/testing/synthetic_machine.h"
#include "stripline/v1/agents.grpc.pb.h"

namespace stripline::server {

inline constexpr double kTestPatienceS = 20;

/// A Hello that offers tcp and the experiments of testing/experiments.h.
v1::Hello test_hello(const std::string& node, const std::string& instance = "i1");

/// One session's stream, driven by the test.
class AgentClient {
 public:
  AgentClient(const std::string& address, const v1::Hello& hello);
  AgentClient(const std::shared_ptr<grpc::Channel>& channel, const v1::Hello& hello);
  AgentClient(const AgentClient&) = delete;
  AgentClient& operator=(const AgentClient&) = delete;
  ~AgentClient();

  bool send(const v1::AgentMessage& message);
  void heartbeat(const std::string& assignment = "", uint64_t fence = 0);
  void join(const v1::Assignment& assignment, uint32_t rank);
  void batch(const std::string& assignment, uint64_t fence, uint64_t seq, const std::string& data,
             uint32_t points_done = 0);
  void update(const v1::Assignment& assignment, v1::AssignmentUpdate::State state,
              const std::string& code = "", const std::string& message = "",
              const std::string& experiment = "");

  /// The next message; nullopt when the stream ended or nothing came in time.
  std::optional<v1::ServerMessage> receive(double timeout_s = kTestPatienceS);
  /// The next message of this kind, others being dropped.
  std::optional<v1::ServerMessage> receive(v1::ServerMessage::MessageCase kind,
                                           double timeout_s = kTestPatienceS);

  /// Breaks the stream as a killed process would.
  void vanish();
  /// How the stream ended; waits for it.
  grpc::Status finish();

 private:
  grpc::ClientContext context_;
  std::unique_ptr<v1::Agents::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AgentMessage, v1::ServerMessage>> stream_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<v1::ServerMessage> received_;
  bool ended_ = false;
  std::thread reader_;
};

/// An agent that measures a synthetic machine, and remembers what was acknowledged. When it loses
/// the server, it connects again, to the next of the addresses (with commas between them), and goes
/// on with its run.
class AutoAgent {
 public:
  struct Options {
    SyntheticMachine machine;
    double batch_delay_s = 0;            ///< Before each batch.
    std::string provider = "synthetic";  ///< Provider of its fabric.
    size_t series_per_batch = 64;
    bool measures_windows = false;  ///< It offers micro.vis_window, too: decisions to judge by.
    bool takes_models = false;      ///< It says that it has applied each version it is offered.
  };
  /// (assignment, fence, seq)
  using Batch = std::tuple<std::string, uint64_t, uint64_t>;

  AutoAgent(std::string address, std::string node, const Options& options);
  AutoAgent(std::string address, std::string node)
      : AutoAgent(std::move(address), std::move(node), Options{}) {}
  AutoAgent(const AutoAgent&) = delete;
  AutoAgent& operator=(const AutoAgent&) = delete;
  ~AutoAgent();

  /// What it sent in each batch.
  std::map<Batch, std::string> acknowledged() const;
  /// Where to connect next time.
  void set_address(const std::string& address);

 private:
  struct SentBatch {
    uint64_t seq = 0;
    std::string data;
    uint32_t points_done = 0;
  };
  // What it works on, or worked on last: kept, as it is said again in each new session.
  struct Work {
    v1::Assignment order;
    experiment::Assignment plan;
    bool samples = false;  // it has rank 0
    bool ready = false;
    bool finished = false;
    size_t measured = 0;  // points
    uint64_t batches = 0;
    std::deque<SentBatch> unacknowledged;
  };

  void run();
  void serve(AgentClient& client);
  void resume(AgentClient& client);
  void handle(AgentClient& client, const v1::ServerMessage& message);
  bool may_measure() const;
  void measure_batch(AgentClient& client);
  void finish_when_done(AgentClient& client);
  void acknowledge(const v1::SampleAck& ack);

  const std::string node_;
  const std::string instance_;
  const Options options_;
  mutable std::mutex mutex_;
  std::string address_;
  std::map<Batch, std::string> acknowledged_;
  std::optional<Work> work_;  // of the thread's
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace stripline::server
