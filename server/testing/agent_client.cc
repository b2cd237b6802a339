#include "server/testing/agent_client.h"

#include <utility>

#include "base/json.h"
#include "optimizer/experiment/json.h"
#include "server/testing/experiments.h"

namespace stripline::server {
namespace {

std::chrono::duration<double> seconds(double value) { return std::chrono::duration<double>(value); }

}  // namespace

v1::Hello test_hello(const std::string& node, const std::string& instance) {
  v1::Hello hello;
  hello.set_node(node);
  hello.set_instance_id(instance);
  hello.set_agent_version("0.1.0");
  hello.set_protocol_min(1);
  hello.set_protocol_max(1);
  (*hello.mutable_fingerprint())["cpu.model"] = "synthetic";
  (*hello.mutable_fingerprint())["host"] = node;
  hello.add_fabrics("tcp");
  for (const auto& declaration : test_experiments()) {
    hello.add_experiments_json(experiment::to_json(declaration).dump());
  }
  return hello;
}

AgentClient::AgentClient(const std::string& address, const v1::Hello& hello)
    : AgentClient(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()), hello) {}

AgentClient::AgentClient(const std::shared_ptr<grpc::Channel>& channel, const v1::Hello& hello)
    : stub_(v1::Agents::NewStub(channel)) {
  stream_ = stub_->Session(&context_);
  v1::AgentMessage message;
  *message.mutable_hello() = hello;
  stream_->Write(message);
  reader_ = std::thread([this] {
    v1::ServerMessage in;
    while (stream_->Read(&in)) {
      const std::lock_guard lock(mutex_);
      received_.push_back(in);
      changed_.notify_all();
    }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  });
}

AgentClient::~AgentClient() {
  vanish();
  reader_.join();
}

bool AgentClient::send(const v1::AgentMessage& message) { return stream_->Write(message); }

void AgentClient::heartbeat(const std::string& assignment, uint64_t fence) {
  v1::AgentMessage message;
  message.mutable_heartbeat()->set_assignment(assignment);
  message.mutable_heartbeat()->set_fence(fence);
  send(message);
}

void AgentClient::join(const v1::Assignment& assignment, uint32_t rank) {
  v1::AgentMessage message;
  v1::GroupJoin& join = *message.mutable_group_join();
  join.set_assignment(assignment.name());
  join.set_fence(assignment.fence());
  join.set_rank(rank);
  join.set_address("address-" + std::to_string(rank));
  send(message);
}

void AgentClient::batch(const std::string& assignment, uint64_t fence, uint64_t seq,
                        const std::string& data, uint32_t points_done) {
  v1::AgentMessage message;
  v1::SampleBatch& batch = *message.mutable_sample_batch();
  batch.set_assignment(assignment);
  batch.set_fence(fence);
  batch.set_seq(seq);
  batch.set_codec("json");
  batch.set_data(data);
  batch.set_points_done(points_done);
  send(message);
}

void AgentClient::update(const v1::Assignment& assignment, v1::AssignmentUpdate::State state,
                         const std::string& code, const std::string& text) {
  v1::AgentMessage message;
  v1::AssignmentUpdate& update = *message.mutable_assignment_update();
  update.set_assignment(assignment.name());
  update.set_fence(assignment.fence());
  update.set_state(state);
  update.set_code(code);
  update.set_message(text);
  send(message);
}

std::optional<v1::ServerMessage> AgentClient::receive(double timeout_s) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, seconds(timeout_s), [&] { return ended_ || !received_.empty(); });
  if (received_.empty()) return std::nullopt;
  v1::ServerMessage message = std::move(received_.front());
  received_.pop_front();
  return message;
}

std::optional<v1::ServerMessage> AgentClient::receive(v1::ServerMessage::MessageCase kind,
                                                      double timeout_s) {
  const auto deadline = std::chrono::steady_clock::now() + seconds(timeout_s);
  while (true) {
    const std::chrono::duration<double> left = deadline - std::chrono::steady_clock::now();
    auto message = receive(left.count());
    if (!message || message->message_case() == kind) return message;
  }
}

void AgentClient::vanish() { context_.TryCancel(); }

grpc::Status AgentClient::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, seconds(kTestPatienceS), [&] { return ended_; });
  lock.unlock();
  return stream_->Finish();
}

AutoAgent::AutoAgent(std::string address, std::string node, const Options& options)
    : node_(std::move(node)), options_(options), address_(std::move(address)) {
  thread_ = std::thread([this] { run(); });
}

AutoAgent::~AutoAgent() {
  stopping_ = true;
  thread_.join();
}

std::set<AutoAgent::Batch> AutoAgent::acknowledged() const {
  const std::lock_guard lock(mutex_);
  return acknowledged_;
}

void AutoAgent::set_address(const std::string& address) {
  const std::lock_guard lock(mutex_);
  address_ = address;
}

void AutoAgent::run() {
  while (!stopping_) {
    std::string address;
    {
      const std::lock_guard lock(mutex_);
      address = address_;
    }
    AgentClient client(address, test_hello(node_, "auto-" + node_));
    if (client.receive(v1::ServerMessage::kHelloAck, 2)) serve(client);
    if (!stopping_) std::this_thread::sleep_for(seconds(0.05));
  }
}

// Works until the stream ends or the test does.
void AutoAgent::serve(AgentClient& client) {
  auto last = std::chrono::steady_clock::now();
  while (!stopping_) {
    const auto message = client.receive(0.02);
    if (message && message->has_assignment()) {
      work_on(client, message->assignment());
    } else if (message && message->has_cancel_assignment()) {
      v1::Assignment cancelled;
      cancelled.set_name(message->cancel_assignment().assignment());
      cancelled.set_fence(message->cancel_assignment().fence());
      client.update(cancelled, v1::AssignmentUpdate::CANCELLED);
    }
    const auto now = std::chrono::steady_clock::now();
    if (now - last < seconds(0.05)) continue;
    last = now;
    v1::AgentMessage heartbeat;
    heartbeat.mutable_heartbeat();
    if (!client.send(heartbeat)) return;
  }
}

void AutoAgent::work_on(AgentClient& client, const v1::Assignment& assignment) {
  v1::AgentMessage running;
  v1::AssignmentUpdate& update = *running.mutable_assignment_update();
  update.set_assignment(assignment.name());
  update.set_fence(assignment.fence());
  update.set_state(v1::AssignmentUpdate::RUNNING);
  (*update.mutable_facts())["fabric.provider"] = options_.provider;
  client.send(running);
  bool streams = false;
  for (const uint32_t rank : assignment.ranks()) {
    client.join(assignment, rank);
    streams = streams || rank == 0;
  }
  while (!stopping_) {
    const auto message = client.receive(0.05);
    if (!message) {
      v1::AgentMessage heartbeat;
      heartbeat.mutable_heartbeat()->set_assignment(assignment.name());
      heartbeat.mutable_heartbeat()->set_fence(assignment.fence());
      if (!client.send(heartbeat)) return;
      continue;
    }
    if (message->has_cancel_assignment()) {
      client.update(assignment, v1::AssignmentUpdate::CANCELLED);
      return;
    }
    if (message->has_group_ready()) break;
  }
  if (!streams || send_samples(client, assignment)) {
    client.update(assignment, v1::AssignmentUpdate::FINISHED);
  }
}

// False when it was told to stop or lost the server.
bool AutoAgent::send_samples(AgentClient& client, const v1::Assignment& assignment) {
  const auto work = *experiment::assignment_from_json(Json::parse(assignment.assignment_json()));
  uint64_t seq = 0;
  Json batch = Json::array();
  for (size_t i = 0; i < work.points.size(); ++i) {
    batch.push_back(
        experiment::to_json(measure(options_.machine, work.points[i], work.run, work.seed)));
    if (batch.size() < options_.series_per_batch && i + 1 < work.points.size()) continue;
    std::this_thread::sleep_for(seconds(options_.batch_delay_s));
    client.batch(assignment.name(), assignment.fence(), ++seq, batch.dump(),
                 static_cast<uint32_t>(i + 1));
    batch = Json::array();
  }
  uint64_t acknowledged = 0;
  while (acknowledged < seq && !stopping_) {
    const auto message = client.receive(5);
    if (!message) return false;
    if (message->has_cancel_assignment()) {
      client.update(assignment, v1::AssignmentUpdate::CANCELLED);
      return false;
    }
    if (!message->has_sample_ack()) continue;
    acknowledged = message->sample_ack().seq();
    acknowledge(message->sample_ack());
  }
  return acknowledged == seq;
}

void AutoAgent::acknowledge(const v1::SampleAck& ack) {
  const std::lock_guard lock(mutex_);
  for (uint64_t seq = 1; seq <= ack.seq(); ++seq) {
    acknowledged_.emplace(ack.assignment(), ack.fence(), seq);
  }
}

}  // namespace stripline::server
