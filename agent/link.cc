#include "agent/link.h"

#include <optional>
#include <utility>

#include "proto/agent_protocol/wire.h"
#include "proto/rpc_error.h"
#include "stripline/v1/agents.pb.h"

namespace stripline::agent {
namespace {

constexpr const char* kMethod = "/stripline.v1.Agents/Session";

}  // namespace

Link::Link(std::vector<HostAndPort> servers, const Credentials& credentials)
    : servers_(std::move(servers)), credentials_(credentials) {}
Link::~Link() = default;

int Link::fd() const { return connection_ ? connection_->fd() : -1; }
short Link::poll_events() const { return connection_ ? connection_->poll_events() : short{0}; }

void Link::on_ready() {
  if (connection_) pump();
}

bool Link::take_received() { return connection_ && connection_->take_received(); }

std::string Link::local_address() const {
  return connection_ ? connection_->local_address() : std::string();
}

std::vector<LinkEvent> Link::take_events() { return std::exchange(events_, {}); }

void Link::open(const Hello& hello) {
  abandon();
  const HostAndPort& server = servers_[attempts_ % servers_.size()];
  connection_ = std::make_unique<Connection>(server, kMethod, credentials_.transport(server),
                                             attempts_ / servers_.size());
  ++attempts_;
  connection_->call().send(to_wire(hello).SerializeAsString());
  pump();
}

void Link::send(const AgentMessage& message) {
  if (!connection_) return;
  connection_->call().send(to_wire(message).SerializeAsString());
  connection_->write();
  close_if_ended();
}

bool Link::is_drained() const { return !connection_ || connection_->call().is_drained(); }

void Link::abandon() {
  connection_.reset();
  events_.clear();
}

void Link::finish() {
  if (!connection_) return;
  connection_->call().finish();
  connection_->write();
  close_if_ended();
}

void Link::pump() {
  connection_->advance();
  for (const std::string& text : connection_->call().take_messages()) {
    v1::ServerMessage wire;
    if (!wire.ParseFromString(text)) {
      connection_->call().connection_lost("the server sent what is not of this protocol");
      break;
    }
    if (auto message = from_wire(std::move(wire))) events_.emplace_back(std::move(*message));
  }
  close_if_ended();
}

void Link::close_if_ended() {
  const std::optional<GrpcStatus>& status = connection_->call().status();
  if (!status) return;
  LinkClosed closed{Error(ErrorCode::unavailable, "the server ended the session"), ""};
  if (status->code != 0) {
    RpcError error = rpc_error_from(status->code, status->message, status->details);
    closed = {std::move(error.error), std::move(error.reason)};
  }
  events_.emplace_back(std::move(closed));
  connection_.reset();
}

}  // namespace stripline::agent
