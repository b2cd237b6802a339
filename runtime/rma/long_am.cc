#include <string>
#include <vector>

#include <stripline/am.h>

#include "runtime/rma/context_state.h"
#include "runtime/rma/operation.h"

namespace stripline {
namespace {

/// Leads the message; the payload follows, and the data if they travel with it.
struct Head {
  uint64_t offset;
  uint64_t data_bytes;
  uint32_t payload_bytes;
  uint32_t carried;  // 1: the data follow the payload; 0: they are in their place
};

// Empty, which register_am() refuses, if the handler is.
AmHandler of_messages(Context& context, long_am::Handler handler) {
  if (!handler) return {};
  return [&context, handler = std::move(handler)](rank_t source,
                                                  std::span<const std::byte> message) {
    const detail::ContextState& state = context.state();
    Head head{};
    if (message.size() >= sizeof head) std::memcpy(&head, message.data(), sizeof head);
    const std::span<const std::byte> rest =
        message.size() >= sizeof head ? message.subspan(sizeof head) : message;
    const bool carried = head.carried != 0;
    if (message.size() < sizeof head || head.payload_bytes > rest.size() ||
        (carried ? head.data_bytes : 0) != rest.size() - head.payload_bytes ||
        head.offset > state.memory.segment().size() ||
        head.data_bytes > state.memory.segment().size() - head.offset) {
      state.fail(Error(ErrorCode::data_loss,
                       "rank " + std::to_string(source) +
                           " sent a long active message that is not well formed; all ranks must "
                           "run the same version"));
    }
    const std::span<std::byte> data = state.memory.segment().subspan(head.offset, head.data_bytes);
    if (carried && !data.empty()) {
      std::memcpy(data.data(), rest.data() + head.payload_bytes, data.size());
    }
    handler(source, rest.first(head.payload_bytes), data);
  };
}

}  // namespace

long_am::long_am(Context& context, Handler handler, CallSite site)
    : context_(&context),
      id_(context.register_am(of_messages(context, std::move(handler)), site)) {}

size_t long_am::max_payload_bytes() const { return context_->am_max_bytes() - sizeof(Head); }

void long_am::send_bytes(rank_t target, std::span<const std::byte> payload,
                         std::span<const std::byte> data, global_ptr<std::byte> destination,
                         CallSite site) const {
  const rma::Call call("long_am::send", site);
  detail::ContextState& state = context_->state();
  const auto inside = state.exclusive();
  state.job.activity().start(call.name, target, data.size());
  state.memory.check_target(call, target);
  if (destination.is_null() || destination.where() != target) {
    state.fail(Error(ErrorCode::invalid_argument,
                     text(call) + " to rank " + std::to_string(target) +
                         " with data for another rank; handler and data have one target"));
  }
  state.operations.check(call, target, destination.offset(), data.size(), rma::Access::put);
  rma::check_private(state, call, data.data(), data.size());
  rma::check_private(state, call, payload.data(), payload.size());
  if (payload.size() > max_payload_bytes()) {
    state.fail(Error(ErrorCode::invalid_argument,
                     text(call) + " with a payload of " + std::to_string(payload.size()) +
                         " bytes exceeds max_payload_bytes() = " +
                         std::to_string(max_payload_bytes()) + "; send it as data"));
  }
  const bool carried =
      !context_->is_local(target) && data.size() <= max_payload_bytes() - payload.size();
  if (carried) {
    state.memory.keepers().stored(target, destination.offset(), data.size());
  } else {
    context_->rput(data.data(), destination, data.size(), site).wait();
    state.job.activity() = call.name;
  }
  const Head head{destination.offset(), data.size(), static_cast<uint32_t>(payload.size()),
                  carried ? 1U : 0U};
  std::vector<std::byte>& message = state.operations.long_am_message();
  message.resize(sizeof head + payload.size());
  std::memcpy(message.data(), &head, sizeof head);
  if (!payload.empty()) std::memcpy(message.data() + sizeof head, payload.data(), payload.size());
  state.operations.messages().send(target, id_, message,
                                   carried ? data : std::span<const std::byte>());
}

}  // namespace stripline
