#include "agent/link.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <grpcpp/create_channel.h>
#include <grpcpp/grpcpp.h>

#include "agent/wire.h"
#include "base/subprocess.h"
#include "proto/rpc_error.h"
#include "stripline/v1/agents.grpc.pb.h"

namespace stripline::agent {
namespace {

// gRPC's two timer threads look at their queues at least once a second even when nothing is due.
// While an object of this class lives, threads that the calling thread creates, and theirs in turn,
// get a timer slack under which the kernel merges those wake-ups into one every few seconds. Only
// timeouts become late by that much; all of the agent's own are taken by the thread that polls.
class LazyTimersForNewThreads {
 public:
  LazyTimersForNewThreads() : usual_ns_(::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0)) {
    constexpr unsigned long kSlack_ns = 8'000'000'000;
    ::prctl(PR_SET_TIMERSLACK, kSlack_ns, 0, 0, 0);
  }
  ~LazyTimersForNewThreads() { ::prctl(PR_SET_TIMERSLACK, usual_ns_, 0, 0, 0); }
  LazyTimersForNewThreads(const LazyTimersForNewThreads&) = delete;
  LazyTimersForNewThreads& operator=(const LazyTimersForNewThreads&) = delete;

 private:
  int usual_ns_;
};

grpc::ChannelArguments channel_arguments() {
  grpc::ChannelArguments arguments;
  // Every call has a channel of its own: reconnecting is this agent's business (session.h), and an
  // idle channel must not try by itself.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Estimating bandwidth costs pings and timers, for a stream that is idle when it matters.
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // A server that vanished without a word shows as heartbeats that TCP cannot deliver: setting the
  // keepalive sets TCP_USER_TIMEOUT to its timeout. Pings themselves are as rare as servers allow.
  constexpr int kKeepaliveMs = 6 * 60 * 1000;
  constexpr int kUserTimeoutMs = 20 * 1000;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kUserTimeoutMs);
  arguments.SetMaxReceiveMessageSize(64 << 20);
  return arguments;
}

}  // namespace

class Link::Impl {
 public:
  explicit Impl(std::string server)
      : server_(std::move(server)), event_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    const LazyTimersForNewThreads lazy;
    queue_ = std::make_unique<grpc::CompletionQueue>();
    thread_ = std::thread([this] { serve(); });
  }

  ~Impl() {
    abandon();
    {
      // A call still has to start its last operation, which a queue that is shut down refuses.
      std::unique_lock lock(mutex_);
      all_calls_ended_.wait(lock, [this] { return calls_ == 0; });
    }
    queue_->Shutdown();
    thread_.join();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  int event_fd() const { return event_fd_.get(); }

  std::vector<LinkEvent> take_events() {
    uint64_t ignored = 0;
    [[maybe_unused]] const ssize_t got = ::read(event_fd_.get(), &ignored, sizeof ignored);
    const std::lock_guard lock(mutex_);
    return std::exchange(events_, {});
  }

  void open(const Hello& hello) {
    abandon();
    const LazyTimersForNewThreads lazy;
    const std::lock_guard lock(mutex_);
    ++calls_;
    call_ = std::make_shared<Call>();
    call_->channel =
        grpc::CreateCustomChannel(server_, grpc::InsecureChannelCredentials(), channel_arguments());
    call_->outgoing.push_back(to_wire(hello));
    call_->stream =
        v1::Agents::NewStub(call_->channel)->PrepareAsyncSession(&call_->context, queue_.get());
    call_->stream->StartCall(call_->tag(Operation::start));
  }

  void send(const AgentMessage& message) {
    v1::AgentMessage wire = to_wire(message);
    const std::lock_guard lock(mutex_);
    if (!call_ || call_->finish_requested) return;
    call_->outgoing.push_back(std::move(wire));
    advance(*call_);
  }

  void abandon() {
    const std::lock_guard lock(mutex_);
    if (call_) call_->context.TryCancel();
    call_.reset();
    events_.clear();
  }

  void finish() {
    const std::lock_guard lock(mutex_);
    if (!call_) return;
    call_->finish_requested = true;
    advance(*call_);
  }

 private:
  enum class Operation { start, read, write, writes_done, finish };

  struct Call;
  // What comes back from the completion queue. Keeps its call alive.
  struct Tag {
    Operation operation;
    std::shared_ptr<Call> call;
  };

  struct Call : std::enable_shared_from_this<Call> {
    grpc::ClientContext context;
    std::shared_ptr<grpc::Channel> channel;
    std::unique_ptr<grpc::ClientAsyncReaderWriter<v1::AgentMessage, v1::ServerMessage>> stream;
    v1::ServerMessage incoming;
    std::deque<v1::AgentMessage> outgoing;  // the front one is being written if `writing`
    grpc::Status status;
    bool started = false;
    bool writing = false;
    bool broken = false;  // no more writes
    bool finish_requested = false;
    bool writes_done = false;

    Tag* tag(Operation operation) {
      return std::make_unique<Tag>(Tag{operation, shared_from_this()}).release();
    }
  };

  // Starts the next write, or the half-close after the last one. With mutex_ held.
  static void advance(Call& call) {
    if (!call.started || call.writing || call.broken || call.writes_done) return;
    if (!call.outgoing.empty()) {
      call.writing = true;
      call.stream->Write(call.outgoing.front(), call.tag(Operation::write));
    } else if (call.finish_requested) {
      call.writes_done = true;
      call.stream->WritesDone(call.tag(Operation::writes_done));
    }
  }

  void push(const std::shared_ptr<Call>& call, LinkEvent event) {
    if (call != call_) return;  // abandoned
    events_.push_back(std::move(event));
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t put = ::write(event_fd_.get(), &one, sizeof one);
  }

  void serve() {
    void* raw = nullptr;
    bool ok = false;
    while (queue_->Next(&raw, &ok)) {
      const std::unique_ptr<Tag> tag(static_cast<Tag*>(raw));
      const std::lock_guard lock(mutex_);
      complete(*tag, ok);
    }
  }

  // With mutex_ held.
  void complete(const Tag& tag, bool ok) {
    Call& call = *tag.call;
    switch (tag.operation) {
      case Operation::start:
        call.started = true;
        if (ok) {
          call.stream->Read(&call.incoming, call.tag(Operation::read));
          advance(call);
        } else {
          call.broken = true;
          call.stream->Finish(&call.status, call.tag(Operation::finish));
        }
        return;
      case Operation::read:
        if (ok) {
          if (auto message = from_wire(call.incoming)) push(tag.call, std::move(*message));
          call.incoming.Clear();
          call.stream->Read(&call.incoming, call.tag(Operation::read));
        } else {
          call.broken = true;
          call.stream->Finish(&call.status, call.tag(Operation::finish));
        }
        return;
      case Operation::write:
        call.writing = false;
        call.outgoing.pop_front();
        if (!ok) call.broken = true;  // the read fails, too, and ends the call
        advance(call);
        return;
      case Operation::writes_done:
        return;
      case Operation::finish: {
        RpcError error = rpc_error_from(call.status);
        if (call.status.ok()) {
          error.error = Error(ErrorCode::unavailable, "the server ended the session");
        }
        push(tag.call, LinkClosed{std::move(error.error), std::move(error.reason)});
        if (tag.call == call_) call_.reset();
        if (--calls_ == 0) all_calls_ended_.notify_all();
        return;
      }
    }
  }

  std::string server_;
  UniqueFd event_fd_;
  std::unique_ptr<grpc::CompletionQueue> queue_;
  std::mutex mutex_;
  std::shared_ptr<Call> call_;  // the current one
  int calls_ = 0;               // that have not ended, abandoned ones included
  std::condition_variable all_calls_ended_;
  std::vector<LinkEvent> events_;
  std::thread thread_;
};

Link::Link(std::string server) : impl_(std::make_unique<Impl>(std::move(server))) {}
Link::~Link() = default;
int Link::event_fd() const { return impl_->event_fd(); }
std::vector<LinkEvent> Link::take_events() { return impl_->take_events(); }
void Link::open(const Hello& hello) { impl_->open(hello); }
void Link::send(const AgentMessage& message) { impl_->send(message); }
void Link::abandon() { impl_->abandon(); }
void Link::finish() { impl_->finish(); }

}  // namespace stripline::agent
