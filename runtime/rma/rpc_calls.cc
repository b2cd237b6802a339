#include "runtime/rma/rpc_calls.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/exception_text.h"
#include "runtime/rma/context_state.h"

namespace stripline::rma {

namespace {

constexpr const char* kCall = "rpc";
constexpr const char* kReply = "rpc reply";

}  // namespace

RpcCalls::RpcCalls(Job& job, am::ActiveMessages& messages)
    : job_(job), messages_(messages), call_(messages.id(kCall)), reply_(messages.id(kReply)) {}

void RpcCalls::serve(Context& context) {
  messages_.serve(kCall, am::Purpose::program,
                  [this, &context](rank_t source, std::span<const std::byte> message) {
                    run(context, source, message);
                  });
  messages_.serve(kReply, am::Purpose::program,
                  [this, &context](rank_t source, std::span<const std::byte> message) {
                    take_reply(context, source, message);
                  });
}

size_t RpcCalls::max_bytes() const {
  return messages_.max_payload_bytes() - std::max(sizeof(Request), sizeof(Reply));
}

void RpcCalls::fail_malformed(rank_t source) const {
  job_.fail(Error(ErrorCode::data_loss,
                  "rank " + std::to_string(source) +
                      " sent an RPC that is not well formed; all ranks must run the same "
                      "program and the same version"));
}

void RpcCalls::check_bytes(const Call& call, rank_t target, size_t bytes) const {
  if (bytes <= max_bytes()) return;
  job_.fail(Error(
      ErrorCode::invalid_argument,
      text(call) + " to rank " + std::to_string(target) + " with " + byte_count_text(bytes) +
          " of captures and arguments, more than rpc_max_bytes() = " + std::to_string(max_bytes()) +
          "; put the data into a segment, and pass a global_ptr"));
}

void RpcCalls::send(const Call& call, rank_t target, const detail::RpcEntry& entry,
                    std::span<const std::byte> arguments,
                    std::unique_ptr<detail::RpcCall> answered) {
  if (target >= job_.ranks()) {
    job_.fail(Error(ErrorCode::invalid_argument,
                    text(call) + " names rank " + std::to_string(target) +
                        ", but the job has ranks 0 to " + std::to_string(job_.ranks() - 1)));
  }
  job_.activity().start(call.name, target, arguments.size());
  check_bytes(call, target, arguments.size());
  Request request{.function = {}, .id = 0};
  if (!images_.find(&entry, request.function)) {
    job_.fail(Error(ErrorCode::internal,
                    text(call) + ": its function lies in no file that this process has loaded, so "
                                 "that other ranks cannot find it"));
  }
  if (answered != nullptr) {
    request.id = ++last_id_;
    open_.emplace(request.id, std::move(answered));
  }
  messages_.send(target, call_, std::as_bytes(std::span(&request, 1)), arguments);
}

void RpcCalls::run(Context& context, rank_t source, std::span<const std::byte> message) {
  Request request{};
  if (message.size() < sizeof request) fail_malformed(source);
  std::memcpy(&request, message.data(), sizeof request);
  const auto* entry =
      static_cast<const detail::RpcEntry*>(images_.at(request.function, sizeof(detail::RpcEntry)));
  if (entry == nullptr || reinterpret_cast<uintptr_t>(entry) % alignof(detail::RpcEntry) != 0 ||
      entry->magic != detail::RpcEntry::kMagic) {
    job_.fail(Error(ErrorCode::failed_precondition,
                    "rank " + std::to_string(source) +
                        " asks for an rpc to a function that this rank does not have: the ranks "
                        "run different programs, or have loaded different libraries; start the "
                        "same file on all"));
  }
  entry->run(context, source, message.subspan(sizeof request),
             detail::RpcAnswer(context, source, request.id));
}

void RpcCalls::answer(rank_t caller, uint64_t id, bool failed, std::span<const std::byte> result) {
  const Reply reply{.id = id, .failed = failed ? 1U : 0U};
  messages_.send(caller, reply_, std::as_bytes(std::span(&reply, 1)), result);
}

void RpcCalls::take_reply(Context& context, rank_t source, std::span<const std::byte> message) {
  Reply reply{};
  if (message.size() < sizeof reply) fail_malformed(source);
  std::memcpy(&reply, message.data(), sizeof reply);
  const auto found = open_.find(reply.id);
  if (found == open_.end()) fail_malformed(source);
  const std::unique_ptr<detail::RpcCall> call = std::move(found->second);
  open_.erase(found);
  const auto rest = message.subspan(sizeof reply);
  if (reply.failed != 0) {
    call->fail(std::string(reinterpret_cast<const char*>(rest.data()), rest.size()));
  } else {
    detail::RpcReader reader(context, source, rest);
    call->succeed(reader);
  }
}

}  // namespace stripline::rma

namespace stripline {

size_t rpc_max_bytes(const Context& context) {
  return const_cast<Context&>(context).state().operations.rpc_calls().max_bytes();
}

namespace detail {

void RpcReader::malformed() const {
  context_.state().fail(Error(ErrorCode::data_loss,
                              "rank " + std::to_string(source_) +
                                  " sent an RPC whose arguments are not what its function takes; "
                                  "all ranks must run the same program"));
}

void RpcAnswer::send(std::vector<std::byte> result) const {
  rma::Operations& operations = context_->state().operations;
  operations.before_message();  // of what has followed a future
  rma::RpcCalls& calls = operations.rpc_calls();
  if (result.size() <= calls.max_bytes()) {
    calls.answer(caller_, id_, false, result);
    return;
  }
  const std::string what =
      "the answer of an rpc of rank " + std::to_string(context_->rank_me()) + " has " +
      std::to_string(result.size()) +
      " bytes, more than rpc_max_bytes() = " + std::to_string(calls.max_bytes()) +
      "; put it into a segment, and return a global_ptr";
  calls.answer(caller_, id_, true, std::as_bytes(std::span(what)));
}

void RpcAnswer::send_error(const std::exception_ptr& error) const {
  std::string what = exception_text(error);
  ContextState& state = context_->state();
  if (!expected()) {
    state.fail(Error(ErrorCode::invalid_argument,
                     "the function of an rpc_ff of rank " + std::to_string(caller_) +
                         " has thrown: " + what + "; use rpc(), whose future throws that"));
  }
  what = "an rpc has thrown on rank " + std::to_string(state.job.rank()) + ": " + what;
  what.resize(std::min(what.size(), state.operations.rpc_calls().max_bytes()));
  state.operations.before_message();
  state.operations.rpc_calls().answer(caller_, id_, true, std::as_bytes(std::span(what)));
}

void check_rpc_bytes(const RpcFrom& from, rank_t target, size_t bytes) {
  ContextState& state = from.context.state();
  const auto inside = state.exclusive();
  state.operations.rpc_calls().check_bytes({"rpc", from.site}, target, bytes);
}

void fail_rpc_null(const RpcFrom& from, rank_t target) {
  from.context.state().fail(
      Error(ErrorCode::invalid_argument, text(rma::Call("rpc", from.site)) + " to rank " +
                                             std::to_string(target) +
                                             " with an argument at a null pointer"));
}

void send_rpc(const RpcFrom& from, rank_t target, const RpcEntry& entry,
              std::vector<std::byte> arguments, std::unique_ptr<RpcCall> call) {
  ContextState& state = from.context.state();
  const auto inside = state.exclusive();
  state.operations.before_message();
  state.operations.rpc_calls().send({"rpc", from.site}, target, entry, arguments, std::move(call));
}

}  // namespace detail
}  // namespace stripline
