#include "server/testing/agent_client.h"

#include <algorithm>
#include <random>
#include <utility>

#include "base/host_and_port.h"
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
                         const std::string& code, const std::string& text,
                         const std::string& experiment) {
  v1::AgentMessage message;
  v1::AssignmentUpdate& update = *message.mutable_assignment_update();
  update.set_assignment(assignment.name());
  update.set_fence(assignment.fence());
  update.set_state(state);
  update.set_code(code);
  update.set_message(text);
  update.set_experiment(experiment);
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
    : node_(std::move(node)),
      instance_(std::to_string(std::random_device()())),
      options_(options),
      address_(std::move(address)) {
  thread_ = std::thread([this] { run(); });
}

AutoAgent::~AutoAgent() {
  stopping_ = true;
  thread_.join();
}

std::map<AutoAgent::Batch, std::string> AutoAgent::acknowledged() const {
  const std::lock_guard lock(mutex_);
  return acknowledged_;
}

void AutoAgent::set_address(const std::string& address) {
  const std::lock_guard lock(mutex_);
  address_ = address;
}

void AutoAgent::run() {
  for (size_t attempt = 0; !stopping_; ++attempt) {
    std::string address;
    {
      const std::lock_guard lock(mutex_);
      const auto servers = parse_servers(address_);
      address = servers.ok() ? (*servers)[attempt % servers->size()].text() : address_;
    }
    v1::Hello hello = test_hello(node_, instance_);
    hello.set_takes_models(options_.takes_models);
    if (options_.measures_windows) {
      hello.add_experiments_json(experiment::to_json(test_windows()).dump());
    }
    if (work_) {
      hello.set_assignment(work_->order.name());
      hello.set_fence(work_->order.fence());
    }
    AgentClient client(address, hello);
    if (client.receive(v1::ServerMessage::kHelloAck, 2)) serve(client);
    if (!stopping_) std::this_thread::sleep_for(seconds(0.05));
  }
}

// Works until the stream ends or the test does.
void AutoAgent::serve(AgentClient& client) {
  resume(client);
  auto last = std::chrono::steady_clock::now();
  while (!stopping_) {
    if (const auto message = client.receive(may_measure() ? 0 : 0.02)) {
      handle(client, *message);
    } else if (may_measure()) {
      measure_batch(client);
    }
    const auto now = std::chrono::steady_clock::now();
    if (now - last < seconds(0.05)) continue;
    last = now;
    v1::AgentMessage message;
    v1::Heartbeat& heartbeat = *message.mutable_heartbeat();
    if (work_ && !work_->finished) {
      heartbeat.set_assignment(work_->order.name());
      heartbeat.set_fence(work_->order.fence());
    }
    if (!client.send(message)) return;
  }
}

// Says what the server may not have heard.
void AutoAgent::resume(AgentClient& client) {
  if (!work_) return;
  const v1::Assignment& order = work_->order;
  if (work_->finished) return client.update(order, v1::AssignmentUpdate::FINISHED);
  v1::AgentMessage running;
  v1::AssignmentUpdate& update = *running.mutable_assignment_update();
  update.set_assignment(order.name());
  update.set_fence(order.fence());
  update.set_state(v1::AssignmentUpdate::RUNNING);
  (*update.mutable_facts())["fabric.provider"] = options_.provider;
  client.send(running);
  if (!work_->ready) {
    for (const uint32_t rank : order.ranks()) client.join(order, rank);
  }
  for (const SentBatch& batch : work_->unacknowledged) {
    client.batch(order.name(), order.fence(), batch.seq, batch.data, batch.points_done);
  }
}

void AutoAgent::handle(AgentClient& client, const v1::ServerMessage& message) {
  const auto is_mine = [&](const auto& content) {
    return work_ && content.assignment() == work_->order.name() &&
           content.fence() == work_->order.fence();
  };
  if (message.has_assignment()) {
    Work work;
    work.order = message.assignment();
    work.plan = *experiment::assignment_from_json(Json::parse(work.order.assignment_json()));
    for (const uint32_t rank : work.order.ranks()) work.samples |= rank == 0;
    work_ = std::move(work);
    resume(client);
  } else if (message.has_cancel_assignment()) {
    v1::Assignment cancelled;
    cancelled.set_name(message.cancel_assignment().assignment());
    cancelled.set_fence(message.cancel_assignment().fence());
    if (is_mine(message.cancel_assignment())) work_.reset();
    client.update(cancelled, v1::AssignmentUpdate::CANCELLED);
  } else if (message.has_group_ready() && is_mine(message.group_ready())) {
    work_->ready = true;
    finish_when_done(client);
  } else if (message.has_sample_ack() && is_mine(message.sample_ack())) {
    acknowledge(message.sample_ack());
    finish_when_done(client);
  } else if (message.has_model_offer()) {
    v1::AgentMessage answer;
    answer.mutable_model_ack()->set_version(message.model_offer().version());
    answer.mutable_model_ack()->set_state(v1::ModelAck::APPLIED);
    client.send(answer);
  }
}

bool AutoAgent::may_measure() const {
  return work_ && work_->ready && work_->samples && work_->measured < work_->plan.points.size();
}

void AutoAgent::measure_batch(AgentClient& client) {
  const auto& points = work_->plan.points;
  const size_t end = std::min(points.size(), work_->measured + options_.series_per_batch);
  Json series = Json::array();
  for (; work_->measured < end; ++work_->measured) {
    series.push_back(experiment::to_json(
        measure(options_.machine, points[work_->measured], work_->plan.run, work_->plan.seed)));
  }
  std::this_thread::sleep_for(seconds(options_.batch_delay_s));
  work_->unacknowledged.push_back({++work_->batches, series.dump(), static_cast<uint32_t>(end)});
  const SentBatch& batch = work_->unacknowledged.back();
  client.batch(work_->order.name(), work_->order.fence(), batch.seq, batch.data, batch.points_done);
}

void AutoAgent::finish_when_done(AgentClient& client) {
  if (work_->finished || !work_->ready || may_measure() || !work_->unacknowledged.empty()) return;
  work_->finished = true;
  client.update(work_->order, v1::AssignmentUpdate::FINISHED);
}

void AutoAgent::acknowledge(const v1::SampleAck& ack) {
  auto& batches = work_->unacknowledged;
  const std::lock_guard lock(mutex_);
  for (; !batches.empty() && batches.front().seq <= ack.seq(); batches.pop_front()) {
    acknowledged_.emplace(Batch{ack.assignment(), ack.fence(), batches.front().seq},
                          std::move(batches.front().data));
  }
}

}  // namespace stripline::server
