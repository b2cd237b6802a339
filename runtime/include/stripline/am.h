// Active messages by size, as GASNet has them: short ones are a value, medium ones a payload
// (Context::register_am and am_send), long ones data that are stored at the target before the
// handler runs.
//
//   // Every rank makes the object. Here with one that counts rows:
//   stripline::short_am<uint64_t> done(ctx, [&](rank_t from, uint64_t rows) { ... });
//   done.send(0, rows);
//
//   // A handler that gets a payload beside the data, and where these lie:
//   stripline::long_am halo(ctx, [&](rank_t from, std::span<const std::byte> what,
//                                    std::span<std::byte> data) { ... });
//   halo.send(neighbour, what, data, there);
//
// Requests and replies. What a program sends is a request, what a handler sends a reply. Handlers
// run inside progress of the target, on its thread, one at a time; they are bounded: they record,
// compute for as long as peers may be kept waiting, and reply, but never wait. Replies always find
// room in the end, so that requests do (runtime/am/active_messages.h has the credits and the
// argument).
//
// The handler of an object is registered for the life of the Context; the object is a name for it
// and may be copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>

#include <stripline/context.h>
#include <stripline/global_ptr.h>

namespace stripline {

/// Messages of one value.
template <typename T>
class short_am {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 64,
                "short messages carry a small trivially copyable value");

 public:
  /// What the target does with a message; as AmHandler.
  using Handler = std::function<void(rank_t source, const T& value)>;

  /// Collective, in the same order as other registrations on every rank. Ends the job if there is
  /// no handler.
  short_am(Context& context, Handler handler, CallSite site = CallSite::current())
      : context_(&context), id_(context.register_am(of_payloads(std::move(handler)), site)) {}

  /// As Context::am_send(); inside of handlers, too.
  void send(rank_t target, const T& value, CallSite site = CallSite::current()) const {
    context_->am_send(target, id_, std::as_bytes(std::span(&value, 1)), site);
  }

 private:
  // Empty, which register_am() refuses, if the handler is.
  static AmHandler of_payloads(Handler handler) {
    if (!handler) return {};
    return [handler = std::move(handler)](rank_t source, std::span<const std::byte> payload) {
      T value;
      if (payload.size() != sizeof value) return;  // no rank of this program sends that
      std::memcpy(&value, payload.data(), sizeof value);
      handler(source, value);
    };
  }

  Context* context_;
  uint32_t id_;
};

/// Messages with data for the target's segment.
class long_am {
 public:
  /// `data` is what was sent, in its place in this rank's segment.
  using Handler = std::function<void(rank_t source, std::span<const std::byte> payload,
                                     std::span<std::byte> data)>;

  /// Collective, in the same order as other registrations on every rank. Ends the job if there is
  /// no handler.
  long_am(Context& context, Handler handler, CallSite site = CallSite::current());

  /// Stores `data` at `destination`, which is in the segment of `target`, and then runs the handler
  /// there with `payload`, of at most max_payload_bytes(). Both may be changed when it returns.
  /// Small data travel in the message; larger ones are put, and waited for, before it is sent. Not
  /// inside of handlers. Ends the job if `destination` is of another rank, the data exceed its
  /// segment, or payload or data are at a null pointer.
  template <typename T>
  void send(rank_t target, std::span<const std::byte> payload, std::span<const T> data,
            global_ptr<std::type_identity_t<T>> destination,
            CallSite site = CallSite::current()) const {
    static_assert(std::is_trivially_copyable_v<T>);
    send_bytes(target, payload, detail::bytes_of(data),
               destination.template reinterpret<std::byte>(), site);
  }

  size_t max_payload_bytes() const;  ///< the largest payload beside the data

 private:
  void send_bytes(rank_t target, std::span<const std::byte> payload,
                  std::span<const std::byte> data, global_ptr<std::byte> destination,
                  CallSite site) const;

  Context* context_;
  uint32_t id_;
};

}  // namespace stripline
