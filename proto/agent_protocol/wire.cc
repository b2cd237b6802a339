#include "proto/agent_protocol/wire.h"

#include <array>
#include <utility>

#include "stripline/v1/agents.pb.h"

namespace stripline {
namespace {

using State = AssignmentUpdate::State;
constexpr std::array kStates = {
    std::pair{State::running, v1::AssignmentUpdate::RUNNING},
    std::pair{State::finished, v1::AssignmentUpdate::FINISHED},
    std::pair{State::failed, v1::AssignmentUpdate::FAILED},
    std::pair{State::cancelled, v1::AssignmentUpdate::CANCELLED},
};

template <typename Wire>
void set_id(const AssignmentId& id, Wire& wire) {
  wire.set_assignment(id.name);
  wire.set_fence(id.fence);
}

template <typename Wire>
AssignmentId id_of(const Wire& wire) {
  return {wire.assignment(), wire.fence()};
}

std::shared_ptr<const std::string> shared(std::string* text) {
  return std::make_shared<const std::string>(std::move(*text));
}

// A member of AgentMessage or ServerMessage for each kind of message, and what is read from it.

void write(const Hello& hello, v1::AgentMessage& out) {
  v1::Hello& wire = *out.mutable_hello();
  wire.set_node(hello.node);
  wire.set_instance_id(hello.instance_id);
  wire.set_agent_version(hello.agent_version);
  wire.set_protocol_min(hello.protocol_min);
  wire.set_protocol_max(hello.protocol_max);
  wire.mutable_fingerprint()->insert(hello.fingerprint.begin(), hello.fingerprint.end());
  wire.mutable_fabrics()->Assign(hello.fabrics.begin(), hello.fabrics.end());
  wire.mutable_experiments_json()->Assign(hello.experiments_json.begin(),
                                          hello.experiments_json.end());
  set_id(hello.assignment, wire);
  wire.set_available_s(hello.available_s);
  wire.set_leaving(hello.leaving);
  wire.set_cluster(hello.cluster);
  wire.set_takes_models(hello.models.has_value());
  wire.set_max_ranks(hello.max_ranks);
  wire.set_installing(hello.installing);
  if (hello.models) wire.mutable_models()->insert(hello.models->begin(), hello.models->end());
}

Hello read(const v1::Hello& wire) {
  Hello hello;
  hello.node = wire.node();
  hello.instance_id = wire.instance_id();
  hello.agent_version = wire.agent_version();
  hello.protocol_min = wire.protocol_min();
  hello.protocol_max = wire.protocol_max();
  hello.fingerprint = {wire.fingerprint().begin(), wire.fingerprint().end()};
  hello.fabrics = {wire.fabrics().begin(), wire.fabrics().end()};
  hello.experiments_json = {wire.experiments_json().begin(), wire.experiments_json().end()};
  hello.assignment = id_of(wire);
  hello.available_s = wire.available_s();
  hello.leaving = wire.leaving();
  hello.cluster = wire.cluster();
  if (wire.takes_models()) hello.models.emplace(wire.models().begin(), wire.models().end());
  hello.max_ranks = wire.max_ranks();
  hello.installing = wire.installing();
  return hello;
}

void write(const Heartbeat& heartbeat, v1::AgentMessage& out) {
  set_id(heartbeat.assignment, *out.mutable_heartbeat());
  out.mutable_heartbeat()->set_leaving(heartbeat.leaving);
  out.mutable_heartbeat()->set_installing(heartbeat.installing);
  if (!heartbeat.host_load) return;
  v1::HostLoad& load = *out.mutable_heartbeat()->mutable_host_load();
  load.set_average(heartbeat.host_load->average);
  load.set_running(heartbeat.host_load->running);
  load.set_processors(heartbeat.host_load->processors);
}

Heartbeat read(const v1::Heartbeat& wire) {
  Heartbeat heartbeat{id_of(wire), wire.leaving(), std::nullopt, wire.installing()};
  if (!wire.has_host_load()) return heartbeat;
  const v1::HostLoad& load = wire.host_load();
  heartbeat.host_load = HostLoad{load.average(), load.running(), load.processors()};
  return heartbeat;
}

void write(const GroupJoin& join, v1::AgentMessage& out) {
  v1::GroupJoin& wire = *out.mutable_group_join();
  set_id(join.assignment, wire);
  wire.set_rank(join.rank);
  wire.set_address(join.address);
}

void write(const SampleBatch& batch, v1::AgentMessage& out) {
  v1::SampleBatch& wire = *out.mutable_sample_batch();
  set_id(batch.assignment, wire);
  wire.set_seq(batch.seq);
  wire.set_codec(batch.codec);
  wire.set_data(*batch.data);
  wire.set_points_done(batch.points_done);
  wire.set_points_total(batch.points_total);
}

SampleBatch read(v1::SampleBatch& wire) {
  return {id_of(wire),        wire.seq(),          shared(wire.mutable_data()),
          wire.points_done(), wire.points_total(), wire.codec()};
}

void write(const AssignmentUpdate& update, v1::AgentMessage& out) {
  v1::AssignmentUpdate& wire = *out.mutable_assignment_update();
  set_id(update.assignment, wire);
  for (const auto& [ours, theirs] : kStates) {
    if (ours == update.state) wire.set_state(theirs);
  }
  wire.set_code(update.code);
  wire.set_message(update.message);
  wire.mutable_facts()->insert(update.facts.begin(), update.facts.end());
  wire.set_experiment(update.experiment);
}

AssignmentUpdate read(const v1::AssignmentUpdate& wire) {
  AssignmentUpdate update{id_of(wire),
                          State::unspecified,
                          wire.code(),
                          wire.message(),
                          {wire.facts().begin(), wire.facts().end()},
                          wire.experiment()};
  for (const auto& [ours, theirs] : kStates) {
    if (theirs == wire.state()) update.state = ours;
  }
  return update;
}

void write(const RenewCertificate& renew, v1::AgentMessage& out) {
  out.mutable_renew_certificate()->set_request_pem(renew.request_pem);
}

void write(const ModelAck& ack, v1::AgentMessage& out) {
  v1::ModelAck& wire = *out.mutable_model_ack();
  wire.set_version(ack.version);
  wire.set_state(ack.applied ? v1::ModelAck::APPLIED : v1::ModelAck::REJECTED);
  wire.set_reason(ack.reason);
}

void write(const FeedbackReport& report, v1::AgentMessage& out) {
  out.mutable_feedback_report()->set_content(report.content);
}

void write(const HelloAck& ack, v1::ServerMessage& out) {
  v1::HelloAck& wire = *out.mutable_hello_ack();
  wire.set_protocol(ack.protocol);
  wire.set_heartbeat_interval_s(ack.heartbeat_interval_s);
  wire.set_reconnect_spread_s(ack.reconnect_spread_s);
}

void write(const Assignment& order, v1::ServerMessage& out) {
  v1::Assignment& wire = *out.mutable_assignment();
  wire.set_name(order.id.name);
  wire.set_fence(order.id.fence);
  wire.set_lease_s(order.lease_s);
  wire.set_assignment_json(*order.assignment_json);
  wire.mutable_ranks()->Assign(order.ranks.begin(), order.ranks.end());
  wire.mutable_rank_nodes()->Assign(order.rank_nodes.begin(), order.rank_nodes.end());
  wire.set_join_timeout_s(order.join_timeout_s);
  wire.set_job_id(order.job_id);
}

Assignment read(v1::Assignment& wire) {
  return {{wire.name(), wire.fence()},
          wire.lease_s(),
          shared(wire.mutable_assignment_json()),
          {wire.ranks().begin(), wire.ranks().end()},
          {wire.rank_nodes().begin(), wire.rank_nodes().end()},
          wire.join_timeout_s(),
          wire.job_id()};
}

void write(const GroupReady& ready, v1::ServerMessage& out) {
  v1::GroupReady& wire = *out.mutable_group_ready();
  set_id(ready.assignment, wire);
  wire.mutable_addresses()->Assign(ready.addresses->begin(), ready.addresses->end());
}

void write(const CancelAssignment& cancel, v1::ServerMessage& out) {
  set_id(cancel.assignment, *out.mutable_cancel_assignment());
  out.mutable_cancel_assignment()->set_message(cancel.message);
}

void write(const SampleAck& ack, v1::ServerMessage& out) {
  set_id(ack.assignment, *out.mutable_sample_ack());
  out.mutable_sample_ack()->set_seq(ack.seq);
}

void write(const NewCertificate& answer, v1::ServerMessage& out) {
  out.mutable_new_certificate()->set_certificate_pem(answer.certificate_pem);
}

void write(const ModelOffer& offer, v1::ServerMessage& out) {
  v1::ModelOffer& wire = *out.mutable_model_offer();
  wire.set_version(offer.version);
  wire.set_sha256(offer.sha256);
  wire.set_label(offer.label);
  wire.set_fabric(offer.fabric);
  wire.set_content(*offer.content);
}

void write(const ModelWithdrawal& withdrawal, v1::ServerMessage& out) {
  v1::ModelWithdrawal& wire = *out.mutable_model_withdrawal();
  wire.set_fabric(withdrawal.fabric);
  wire.set_sha256(withdrawal.sha256);
  wire.set_reason(withdrawal.reason);
}

template <typename Wire, typename Message>
Wire written(const Message& message) {
  Wire wire;
  std::visit([&](const auto& alternative) { write(alternative, wire); }, message);
  return wire;
}

}  // namespace

v1::AgentMessage to_wire(const AgentMessage& message) { return written<v1::AgentMessage>(message); }

v1::ServerMessage to_wire(const ServerMessage& message) {
  return written<v1::ServerMessage>(message);
}

std::optional<AgentMessage> from_wire(v1::AgentMessage&& wire) {
  switch (wire.message_case()) {
    case v1::AgentMessage::kHello:
      return read(wire.hello());
    case v1::AgentMessage::kHeartbeat:
      return read(wire.heartbeat());
    case v1::AgentMessage::kGroupJoin: {
      const v1::GroupJoin& join = wire.group_join();
      return GroupJoin{id_of(join), join.rank(), join.address()};
    }
    case v1::AgentMessage::kSampleBatch:
      return read(*wire.mutable_sample_batch());
    case v1::AgentMessage::kAssignmentUpdate:
      return read(wire.assignment_update());
    case v1::AgentMessage::kRenewCertificate:
      return RenewCertificate{wire.renew_certificate().request_pem()};
    case v1::AgentMessage::kModelAck:
      return ModelAck{wire.model_ack().version(), wire.model_ack().state() == v1::ModelAck::APPLIED,
                      wire.model_ack().reason()};
    case v1::AgentMessage::kFeedbackReport:
      return FeedbackReport{std::move(*wire.mutable_feedback_report()->mutable_content())};
    case v1::AgentMessage::MESSAGE_NOT_SET:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<ServerMessage> from_wire(v1::ServerMessage&& wire) {
  switch (wire.message_case()) {
    case v1::ServerMessage::kHelloAck:
      return HelloAck{wire.hello_ack().protocol(), wire.hello_ack().heartbeat_interval_s(),
                      wire.hello_ack().reconnect_spread_s()};
    case v1::ServerMessage::kAssignment:
      return read(*wire.mutable_assignment());
    case v1::ServerMessage::kGroupReady: {
      const auto& addresses = wire.group_ready().addresses();
      return GroupReady{id_of(wire.group_ready()), std::make_shared<const std::vector<std::string>>(
                                                       addresses.begin(), addresses.end())};
    }
    case v1::ServerMessage::kCancelAssignment:
      return CancelAssignment{id_of(wire.cancel_assignment()), wire.cancel_assignment().message()};
    case v1::ServerMessage::kSampleAck:
      return SampleAck{id_of(wire.sample_ack()), wire.sample_ack().seq()};
    case v1::ServerMessage::kNewCertificate:
      return NewCertificate{wire.new_certificate().certificate_pem()};
    case v1::ServerMessage::kModelOffer: {
      v1::ModelOffer& offer = *wire.mutable_model_offer();
      return ModelOffer{offer.version(), offer.sha256(), offer.label(), offer.fabric(),
                        shared(offer.mutable_content())};
    }
    case v1::ServerMessage::kModelWithdrawal:
      return ModelWithdrawal{wire.model_withdrawal().fabric(), wire.model_withdrawal().sha256(),
                             wire.model_withdrawal().reason()};
    case v1::ServerMessage::MESSAGE_NOT_SET:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace stripline
