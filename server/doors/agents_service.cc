// Agents.Session: one stream per agent, read one message at a time, written from a queue. And
// Agents.Enroll.
#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>
#include <spdlog/spdlog.h>

#include "proto/agent_protocol/wire.h"
#include "server/clock.h"
#include "server/doors/grpc_access.h"
#include "server/doors/long_streams.h"
#include "server/doors/reactor_step.h"
#include "server/doors/rpc_status.h"
#include "server/doors/services.h"
#include "server/doors/unary.h"
#include "server/security/call_limits.h"
#include "server/security/rate_limit.h"
#include "server/security/refusals.h"
#include "stripline/v1/agents.grpc.pb.h"

namespace stripline::server {
namespace {

using SessionStream = grpc::ServerBidiReactor<v1::AgentMessage, v1::ServerMessage>;

// What may wait for an agent to read it: orders have megabytes, a node has few of them.
constexpr size_t kMaxQueued = 1000;
constexpr size_t kMaxQueuedBytes = size_t{64} << 20;
// A token, a name and a certificate request have a few KiB.
constexpr size_t kMaxEnrollBytes = size_t{64} << 10;
// What one session may send, many times what an agent of ours does. Beyond, it is read more slowly.
constexpr Rate kMessageRate{.per_s = 500, .burst = 5000};
constexpr Rate kByteRate{.per_s = 16 << 20, .burst = 64 << 20};

// The writing half, shared with the coordinator, which may hold it longer than the stream lives.
class StreamLink final : public AgentLink, public std::enable_shared_from_this<StreamLink> {
 public:
  explicit StreamLink(SessionStream* stream) : stream_(stream) {}

  void send(ServerMessage message) override {
    const std::lock_guard lock(mutex_);
    if (stream_ == nullptr || closing_) return;
    const size_t bytes = bytes_of(message);
    if (queue_.size() >= kMaxQueued ||
        (!queue_.empty() && queued_bytes_ + bytes > kMaxQueuedBytes)) {
      // It does not read. Nothing is read from it any more, either, so that its session ends.
      queue_.clear();
      closing_ = true;
      final_ = {grpc::StatusCode::RESOURCE_EXHAUSTED, "the agent does not read what it is sent"};
    } else {
      queued_bytes_ += bytes;
      queue_.push_back(std::move(message));
    }
    advance();
  }

  void close(const Problem& problem) override { finish(rpc_status(problem)); }

  // Ends the stream once what is queued has been written.
  void finish(const grpc::Status& status) {
    const std::lock_guard lock(mutex_);
    if (stream_ == nullptr || closing_) return;
    closing_ = true;
    final_ = status;
    advance();
  }

  // Starts to read the next message, after a while, unless the stream is being ended.
  void read(v1::AgentMessage* message, double delay_s) {
    const std::lock_guard lock(mutex_);
    if (stream_ == nullptr || closing_) return;
    if (delay_s <= 0) return stream_->StartRead(message);
    const auto when = std::chrono::system_clock::now() +
                      std::chrono::milliseconds(static_cast<int64_t>(delay_s * 1e3) + 1);
    pause_ = std::make_unique<grpc::Alarm>();  // the one before may still be returning
    // An alarm keeps what it is to call, after it has called it, too: that must not keep its owner.
    pause_->Set(when, [link = weak_from_this(), message](bool) {
      if (const auto self = link.lock()) self->read(message, 0);
    });
  }

  void on_written(bool ok) {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    if (!ok) queue_.clear();  // The agent is gone; the failing read ends the stream.
    advance();
  }

  // The reactor is about to be deleted.
  void detach() {
    const std::lock_guard lock(mutex_);
    stream_ = nullptr;
  }

 private:
  static size_t bytes_of(const ServerMessage& message) {
    size_t bytes = sizeof(ServerMessage);
    if (const auto* order = std::get_if<Assignment>(&message)) {
      bytes += order->assignment_json->size();
    } else if (const auto* offer = std::get_if<ModelOffer>(&message)) {
      bytes += offer->content->size();
    } else if (const auto* ready = std::get_if<GroupReady>(&message)) {
      for (const std::string& address : *ready->addresses) bytes += address.size();
    }
    return bytes;
  }

  void advance() {
    if (writing_ || stream_ == nullptr || finished_) return;
    if (!queue_.empty()) {
      queued_bytes_ -= bytes_of(queue_.front());
      wire_ = to_wire(queue_.front());
      queue_.pop_front();
      writing_ = true;
      stream_->StartWrite(&wire_);
    } else if (closing_) {
      finished_ = true;
      stream_->Finish(final_);
    }
  }

  std::mutex mutex_;
  SessionStream* stream_;
  // Made into what goes over the wire when its turn has come: until then nodes share what is large.
  std::deque<ServerMessage> queue_;
  size_t queued_bytes_ = 0;
  v1::ServerMessage wire_;  // being written, if writing_
  bool writing_ = false;
  bool closing_ = false;
  bool finished_ = false;
  grpc::Status final_;
  std::unique_ptr<grpc::Alarm> pause_;  // before the next read
};

// What nodes tell of runs: each report is written to the disk and displaces an older one. An agent
// of ours sends one a second at most, however many sessions it has had. Thread-safe.
class ReportLimits {
 public:
  // True if the report may be stored. The first one that may not is logged, then one a minute.
  bool take(const std::string& node, double now_s) {
    const std::lock_guard lock(mutex_);
    if (reports_.try_take(node, 1, now_s)) return true;
    if (lines_.try_take(node, 1, now_s)) {
      spdlog::warn("nodes/{} sends more than one report a second: the others are dropped", node);
    }
    return false;
  }

 private:
  std::mutex mutex_;
  PeerAllowances reports_{{.per_s = 1, .burst = 5}};
  PeerAllowances lines_{{.per_s = 1.0 / 60, .burst = 1}};
};

class SessionReactor final : public SessionStream {
 public:
  SessionReactor(Coordinator& coordinator, Access& access, Refusals& refusals,
                 ReportLimits& reports, Caller caller, std::string peer)
      : coordinator_(coordinator),
        access_(access),
        refusals_(refusals),
        reports_(reports),
        caller_(std::move(caller)),
        peer_(std::move(peer)),
        link_(std::make_shared<StreamLink>(this)) {
    ReactorStep step(this);
    coordinator_.sessions().await_hello(link_);
    step.hand_over();
    StartRead(&message_);
  }

  void OnReadDone(bool ok) override {
    ReactorStep step(this);
    if (!ok) {
      leave();
      link_->finish(grpc::Status::OK);
      return;
    }
    const double now_s = steady_seconds();
    const auto bytes = static_cast<double>(message_.ByteSizeLong());
    const auto message = from_wire(std::move(message_));
    if (!greeted_) {
      greet(message ? std::get_if<Hello>(&*message) : nullptr);
    } else if (const auto refusal =
                   access_.refusal_of_node(caller_, caller_.node, unix_seconds())) {
      link_->close(*refusal);  // its certificate has expired meanwhile
    } else if (message) {
      take(*message, now_s);
    }
    const double delay_s = std::max(messages_.take(1, now_s), bytes_.take(bytes, now_s));
    step.hand_over();
    link_->read(&message_, delay_s);
  }

  void OnWriteDone(bool ok) override {
    const ReactorStep step(this);
    link_->on_written(ok);
  }

  void OnCancel() override {
    const ReactorStep step(this);
    leave();
  }

  void OnDone() override {
    {
      const ReactorStep last(this);
      leave();
      link_->detach();
    }
    delete this;  // NOLINT(cppcoreguidelines-owning-memory): how reactors end
  }

 private:
  void take(const AgentMessage& message, double now_s) {
    if (const auto* renewal = std::get_if<RenewCertificate>(&message)) return renew(*renewal);
    if (std::holds_alternative<FeedbackReport>(message) && !reports_.take(node_, now_s)) return;
    coordinator_.sessions().receive(session_, message);
  }

  // `hello`: nullptr if the first message is another.
  void greet(const Hello* hello) {
    greeted_ = true;
    if (hello == nullptr) {
      link_->close(invalid_field("message", "the first message of a session is Hello"));
      return;
    }
    const std::string& node = node_ = hello->node;
    listen_for_revocation(node);
    if (const auto refusal = access_.refusal_of_node(caller_, node, unix_seconds())) {
      return refuse(node, *refusal);
    }
    access_.note_certificate(caller_);
    const auto session = coordinator_.sessions().open_session(*hello, link_);
    if (!session) return refuse(node, session.problem());
    const std::lock_guard lock(mutex_);
    session_ = *session;
    if (left_) coordinator_.sessions().close_session(session_);
  }

  // The operator hears of it as the agent does: it may try for days.
  void refuse(const std::string& node, const Problem& why) {
    if (why.code != ErrorCode::unavailable) {
      refusals_.note("a session of nodes/" + node, peer_, why.message);
    }
    link_->close(why);
  }

  // Before the certificate is looked at, so that no revocation is missed.
  void listen_for_revocation(const std::string& node) {
    const auto end = [link = std::weak_ptr(link_)](const Problem& why) {
      if (const auto stream = link.lock()) stream->close(why);
    };
    const std::lock_guard lock(mutex_);
    if (!left_) listening_ = access_.on_revocation(node, end);
  }

  void renew(const RenewCertificate& renewal) {
    if (!access_.authority()) return;
    const auto certificate = access_.renew(caller_, renewal.request_pem, unix_seconds());
    if (!certificate) {
      link_->close(certificate.problem());
      return;
    }
    link_->send(NewCertificate{*certificate});
  }

  void leave() {
    const std::lock_guard lock(mutex_);
    if (left_) return;
    left_ = true;
    access_.forget(listening_);
    if (session_ != 0) coordinator_.sessions().close_session(session_);
  }

  Coordinator& coordinator_;
  Access& access_;
  Refusals& refusals_;
  ReportLimits& reports_;
  const Caller caller_;
  const std::string peer_;  // the address that it comes from
  std::string node_;        // as its Hello says
  std::shared_ptr<StreamLink> link_;
  v1::AgentMessage message_;
  bool greeted_ = false;
  Allowance messages_{kMessageRate};
  Allowance bytes_{kByteRate};
  std::mutex mutex_;  // OnCancel may run beside OnReadDone
  uint64_t session_ = 0;
  uint64_t listening_ = 0;  // for the node's revocation
  bool left_ = false;
};

class AgentsService final : public v1::Agents::CallbackService {
 public:
  AgentsService(const GrpcDoor& door, Meters& meters) : door_(door), meters_(meters) {}

  // NOLINTBEGIN(cppcoreguidelines-owning-memory): reactors own themselves
  SessionStream* Session(grpc::CallbackServerContext* context) override {
    const auto caller = admitted<v1::AgentMessage>(*context, door_);
    if (!caller) return new RejectReactor<SessionStream>(caller.problem());
    return new SessionReactor(door_.core.coordinator, door_.core.access, door_.refusals, reports_,
                              *caller, address_of(*context));
  }
  // NOLINTEND(cppcoreguidelines-owning-memory)

  grpc::ServerUnaryReactor* Enroll(grpc::CallbackServerContext* context,
                                   const v1::EnrollRequest* request,
                                   v1::EnrollResponse* response) override {
    const auto certificate = enrolled(*context, *request);
    meters_.count(certificate ? Meters::Counter::enrolments : Meters::Counter::enrolments_refused);
    if (!certificate) {
      door_.refusals.note("an enrolment", address_of(*context), certificate.problem().message);
      return finish(context, rpc_status(certificate.problem()));
    }
    response->set_certificate_pem(*certificate);
    spdlog::info("nodes/{} is enrolled", request->node());
    return finish(context, grpc::Status::OK);
  }

 private:
  // What is refused for lack of an allowance takes nothing of it: else a stranger could keep the
  // nodes that share his address from enrolling long after he has gone.
  Answer<std::string> enrolled(const grpc::CallbackServerContext& context,
                               const v1::EnrollRequest& request) {
    STRIPLINE_ASSIGN_OR_RETURN(const Caller caller, admitted<v1::EnrollRequest>(context, door_));
    const std::string payer = payer_of(context, caller);
    if (auto refusal = door_.limits.refusal(payer)) return std::move(*refusal);
    const MeteredCall metered(door_.limits, payer);
    if (request.ByteSizeLong() > kMaxEnrollBytes) {
      return invalid_field(
          "request", "an enrolment has at most " + std::to_string(kMaxEnrollBytes) + " bytes");
    }
    return door_.core.access.enroll(request.token(), request.node(), request.request_pem(),
                                    unix_seconds());
  }

  const GrpcDoor door_;
  Meters& meters_;
  ReportLimits reports_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_agents_service(const GrpcDoor& door, Meters& meters) {
  return std::make_unique<AgentsService>(door, meters);
}

}  // namespace stripline::server
