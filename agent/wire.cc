#include "agent/wire.h"

#include "stripline/v1/agents.pb.h"

namespace stripline::agent {
namespace {

template <typename Wire>
void set_id(const AssignmentId& id, Wire& wire) {
  wire.set_assignment(id.name);
  wire.set_fence(id.fence);
}

template <typename Wire>
AssignmentId id_of(const Wire& wire) {
  return {wire.assignment(), wire.fence()};
}

v1::AssignmentUpdate::State state_to_wire(AssignmentUpdate::State state) {
  switch (state) {
    case AssignmentUpdate::State::running:
      return v1::AssignmentUpdate::RUNNING;
    case AssignmentUpdate::State::finished:
      return v1::AssignmentUpdate::FINISHED;
    case AssignmentUpdate::State::failed:
      return v1::AssignmentUpdate::FAILED;
    case AssignmentUpdate::State::cancelled:
      return v1::AssignmentUpdate::CANCELLED;
  }
  return v1::AssignmentUpdate::STATE_UNSPECIFIED;
}

void fill(const Hello& hello, v1::AgentMessage& out) {
  v1::Hello& wire = *out.mutable_hello();
  wire.set_node(hello.node);
  wire.set_instance_id(hello.instance_id);
  wire.set_agent_version(hello.agent_version);
  wire.set_protocol_min(kProtocolMin);
  wire.set_protocol_max(kProtocolMax);
  for (const auto& [field, value] : hello.fingerprint) (*wire.mutable_fingerprint())[field] = value;
  for (const std::string& fabric : hello.fabrics) wire.add_fabrics(fabric);
  for (const std::string& json : hello.experiments_json) wire.add_experiments_json(json);
  set_id(hello.assignment, wire);
  wire.set_available_s(hello.available_s);
  wire.set_leaving(hello.leaving);
  wire.set_cluster(hello.cluster);
  wire.set_takes_models(hello.models.has_value());
  wire.set_max_ranks(hello.max_ranks);
  if (!hello.models) return;
  for (const auto& [fabric, digits] : *hello.models) (*wire.mutable_models())[fabric] = digits;
}

void fill(const Heartbeat& heartbeat, v1::AgentMessage& out) {
  set_id(heartbeat.assignment, *out.mutable_heartbeat());
  out.mutable_heartbeat()->set_leaving(heartbeat.leaving);
  if (!heartbeat.host_load) return;
  v1::HostLoad& load = *out.mutable_heartbeat()->mutable_host_load();
  load.set_average(heartbeat.host_load->average);
  load.set_running(heartbeat.host_load->running);
  load.set_processors(heartbeat.host_load->processors);
}

void fill(const GroupJoin& join, v1::AgentMessage& out) {
  v1::GroupJoin& wire = *out.mutable_group_join();
  set_id(join.assignment, wire);
  wire.set_rank(join.rank);
  wire.set_address(join.address);
}

void fill(const SampleBatch& batch, v1::AgentMessage& out) {
  v1::SampleBatch& wire = *out.mutable_sample_batch();
  set_id(batch.assignment, wire);
  wire.set_seq(batch.seq);
  wire.set_codec("json");
  wire.set_data(*batch.data);
  wire.set_points_done(batch.points_done);
  wire.set_points_total(batch.points_total);
}

void fill(const AssignmentUpdate& update, v1::AgentMessage& out) {
  v1::AssignmentUpdate& wire = *out.mutable_assignment_update();
  set_id(update.assignment, wire);
  wire.set_state(state_to_wire(update.state));
  wire.set_code(update.code);
  wire.set_message(update.message);
  for (const auto& [field, value] : update.facts) (*wire.mutable_facts())[field] = value;
  wire.set_experiment(update.experiment);
}

void fill(const RenewCertificate& renew, v1::AgentMessage& out) {
  out.mutable_renew_certificate()->set_request_pem(renew.request_pem);
}

void fill(const ModelAck& ack, v1::AgentMessage& out) {
  out.mutable_model_ack()->set_version(ack.version);
  out.mutable_model_ack()->set_state(ack.applied ? v1::ModelAck::APPLIED : v1::ModelAck::REJECTED);
  out.mutable_model_ack()->set_reason(ack.reason);
}

void fill(const FeedbackReport& report, v1::AgentMessage& out) {
  out.mutable_feedback_report()->set_content(report.content);
}

}  // namespace

v1::AgentMessage to_wire(const AgentMessage& message) {
  v1::AgentMessage wire;
  std::visit([&](const auto& alternative) { fill(alternative, wire); }, message);
  return wire;
}

std::optional<ServerMessage> from_wire(const v1::ServerMessage& wire) {
  switch (wire.message_case()) {
    case v1::ServerMessage::kHelloAck:
      return HelloAck{wire.hello_ack().protocol(), wire.hello_ack().heartbeat_interval_s(),
                      wire.hello_ack().reconnect_spread_s()};
    case v1::ServerMessage::kAssignment: {
      const v1::Assignment& from = wire.assignment();
      return Assignment{{from.name(), from.fence()},
                        from.lease_s(),
                        from.assignment_json(),
                        {from.ranks().begin(), from.ranks().end()},
                        {from.rank_nodes().begin(), from.rank_nodes().end()},
                        from.join_timeout_s(),
                        from.job_id()};
    }
    case v1::ServerMessage::kGroupReady:
      return GroupReady{
          id_of(wire.group_ready()),
          {wire.group_ready().addresses().begin(), wire.group_ready().addresses().end()}};
    case v1::ServerMessage::kCancelAssignment:
      return CancelAssignment{id_of(wire.cancel_assignment()), wire.cancel_assignment().message()};
    case v1::ServerMessage::kSampleAck:
      return SampleAck{id_of(wire.sample_ack()), wire.sample_ack().seq()};
    case v1::ServerMessage::kNewCertificate:
      return NewCertificate{wire.new_certificate().certificate_pem()};
    case v1::ServerMessage::kModelOffer:
      return ModelOffer{wire.model_offer().version(), wire.model_offer().sha256(),
                        wire.model_offer().fabric(), wire.model_offer().content()};
    case v1::ServerMessage::kModelWithdrawal:
      return ModelWithdrawal{wire.model_withdrawal().fabric(), wire.model_withdrawal().sha256(),
                             wire.model_withdrawal().reason()};
    case v1::ServerMessage::MESSAGE_NOT_SET:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace stripline::agent
