// Issuing gets, puts and messages.
#include <algorithm>
#include <cstring>

#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "runtime/fabric/ofi/ofi_post.h"
#include "runtime/fabric/ofi/ofi_rank.h"

namespace stripline::fabric::ofi {

Operation* OfiRank::acquire_operation(const OperationName& what, OperationPool& pool) {
  Operation* operation = nullptr;
  post(what, Patience::until_accepted, [&]() -> ssize_t {
    operation = pool.acquire();
    return operation != nullptr ? 0 : -FI_EAGAIN;
  });
  operation->kind = what.kind;
  operation->peer = what.peer;
  operation->bytes = what.bytes;
  return operation;
}

/// Memory the provider may use on this side, with its descriptor as key. With FI_MR_LOCAL that is
/// what has one, the segment, a registered bounce buffer if the data fits into one, or the caller's
/// memory registered for this operation.
Memory OfiRank::local_memory(Operation* operation, const Memory& memory) {
  if (!endpoint_.limits().local_registration || memory.key != nullptr) return memory;
  const auto with_key = [&memory](std::byte* pointer, void* key) {
    return Memory(pointer, memory.bytes, memory.kind, key);
  };
  const std::span<std::byte> own = registered_;
  if (memory.pointer >= own.data() && memory.pointer + memory.bytes <= own.data() + own.size()) {
    return with_key(memory.pointer, segment_registration_.descriptor);
  }
  if (memory.bytes <= send_buffers_.buffer_bytes()) {
    if (std::byte* buffer = send_buffers_.acquire(); buffer != nullptr) {
      operation->buffer = buffer;
      return with_key(buffer, send_buffers_.descriptor());
    }
  }
  Result<Registration> registration =
      endpoint_.register_memory({memory.pointer, memory.bytes}, false);
  if (!registration.ok()) {
    fail(registration.error());
    return memory;
  }
  operation->region = std::move(registration->region);
  return with_key(memory.pointer, registration->descriptor);
}

void OfiRank::assert_bounds(const OperationName& what, uint64_t offset) {
  const uint64_t size = peers_[what.peer].segment_bytes;
  if (offset <= size && what.bytes <= size - offset) [[likely]] {
    return;
  }
  // Callers of the fabric have checked the range. Asserted in all builds, because providers do not
  // check: some drop the operation, some break the connection, some write.
  fail(Error(ErrorCode::internal, describe(what) + " at offset " + std::to_string(offset) +
                                      " exceeds the segment of " + std::to_string(size) +
                                      " bytes, which is a mistake of the runtime"));
}

/// Gets and puts of this rank's own segment, and of those that the node's memory reaches.
bool OfiRank::copies_without_provider(const OperationName& what, uint64_t offset,
                                      std::byte* memory) {
  const bool reading = what.kind == OperationKind::get;
  if (const std::span<std::byte> reached = reachable_segment(what.peer); !reached.empty()) {
    std::byte* const there = reached.data() + offset;
    std::memmove(reading ? memory : there, reading ? there : memory, what.bytes);
    return true;
  }
  if (same_node_.path(what.peer) != SameNode::cma) return false;
  const Address& peer = addresses_[what.peer];
  const Status copied =
      reading
          ? copy_from_process(peer.host.pid, peer.segment_address + offset, {memory, what.bytes})
          : copy_to_process(peer.host.pid, peer.segment_address + offset, {memory, what.bytes});
  if (!copied.ok()) {
    fail(Error(ErrorCode::aborted, describe(what) + " failed: " + copied.error().message()));
  }
  return true;
}

void OfiRank::get(const Memory& destination, Rank target, uint64_t offset, Counter& counter) {
  if (destination.bytes == 0) return;
  const OperationName what{OperationKind::get, target, destination.bytes};
  assert_bounds(what, offset);
  if (copies_without_provider(what, offset, destination.pointer)) return;
  const Peer& peer = peers_[target];
  transfer(what, counter, [&](Operation* operation, size_t done) {
    const size_t length = operation->bytes;
    const Memory part = destination.part(done, length);
    const Memory local = local_memory(operation, part);
    if (operation->buffer != nullptr) {
      operation->destination = part.pointer;
      operation->staged = operation->buffer;
    }
    post({OperationKind::get, target, length}, Patience::until_accepted, [&] {
      return fi_read(ep_, local.pointer, length, local.key, peer.handle, peer.base + offset + done,
                     peer.key, operation);
    });
    ++traffic_.gets;
    traffic_.get_bytes += length;
  });
}

void OfiRank::put(Rank target, uint64_t offset, const Memory& source, Counter& counter) {
  if (source.bytes == 0) return;
  const OperationName what{OperationKind::put, target, source.bytes};
  assert_bounds(what, offset);
  if (copies_without_provider(what, offset, source.pointer)) return;
  const Peer& peer = peers_[target];
  transfer(what, counter, [&](Operation* operation, size_t done) {
    const size_t length = operation->bytes;
    const Memory part = source.part(done, length);
    Memory local = part;
    uint64_t flags = FI_COMPLETION | FI_DELIVERY_COMPLETE;
    if (length <= inject_bytes_) {
      flags |= FI_INJECT;
    } else {
      local = local_memory(operation, part);
      if (operation->buffer != nullptr) std::memcpy(operation->buffer, part.pointer, length);
    }
    const iovec vector{local.pointer, length};
    const fi_rma_iov remote{peer.base + offset + done, length, peer.key};
    fi_msg_rma message{};
    message.msg_iov = &vector;
    message.desc = &local.key;
    message.iov_count = 1;
    message.addr = peer.handle;
    message.rma_iov = &remote;
    message.rma_iov_count = 1;
    message.context = operation;
    post({OperationKind::put, target, length}, Patience::until_accepted,
         [&] { return fi_writemsg(ep_, &message, flags); });
    ++traffic_.puts;
    traffic_.put_bytes += length;
  });
}

bool OfiRank::try_send(Rank target, std::span<const std::byte> message) {
  if (message.size() > settings_.message_bytes) {
    fail(Error(ErrorCode::internal, describe({OperationKind::send, target, message.size()}) +
                                        " exceeds the largest message of " +
                                        std::to_string(settings_.message_bytes) + " bytes"));
    return false;
  }
  if (RingWriter& ring = same_node_.writer(target)) {
    if (ring.write(message)) {
      full_rings_ = 0;
      return true;
    }
    // Its reader may want this core; if it never reads, that is found out.
    full_ring_ = target;
    rest(++full_rings_);
    return false;
  }
  return send(target, MessageHeader::application, message, true);
}

bool OfiRank::send(Rank target, MessageHeader::Kind kind, std::span<const std::byte> payload,
                   bool may_inject) {
  Peer& peer = peers_[target];
  const OperationName what{OperationKind::send, target, payload.size()};
  const MessageHeader header{job_, rank_, peer.next_send, kind};
  const size_t total = sizeof(header) + payload.size();
  const auto write_to = [&](std::byte* buffer) {
    std::memcpy(buffer, &header, sizeof(header));
    if (!payload.empty()) std::memcpy(buffer + sizeof(header), payload.data(), payload.size());
  };

  if (may_inject && total <= inject_space_.size() && target != rank_) {
    write_to(inject_space_.data());
    if (!post(what, Patience::brief,
              [&] { return fi_inject(ep_, inject_space_.data(), total, peer.handle); })) {
      return false;
    }
  } else {
    Operation* operation = nullptr;
    std::byte* buffer = nullptr;
    const bool room = post(what, Patience::brief, [&]() -> ssize_t {
      if (buffer == nullptr) buffer = send_buffers_.acquire();
      if (buffer != nullptr) operation = operations_.acquire();
      return operation != nullptr ? 0 : -FI_EAGAIN;
    });
    if (!room) {
      if (buffer != nullptr) send_buffers_.release(buffer);
      return false;
    }
    operation->kind = OperationKind::send;
    operation->peer = target;
    operation->bytes = payload.size();
    operation->buffer = buffer;
    write_to(buffer);
    if (target == rank_) {  // within a rank nothing needs the network
      arrivals_.push(operation);
      return true;
    }
    if (!post(what, Patience::brief, [&] {
          return fi_send(ep_, buffer, total, send_buffers_.descriptor(), peer.handle, operation);
        })) {
      send_buffers_.release(buffer);
      operations_.release(operation);
      return false;
    }
  }
  ++peer.next_send;
  if (kind == MessageHeader::application) {
    ++traffic_.messages;
    traffic_.message_bytes += payload.size();
  }
  return true;
}

void OfiRank::post_receive(Operation* operation) {
  const OperationName what{OperationKind::receive, rank_, receive_buffers_.buffer_bytes()};
  if (!post(what, Patience::none, [&] {
        return fi_recv(ep_, operation->buffer, receive_buffers_.buffer_bytes(),
                       receive_buffers_.descriptor(), FI_ADDR_UNSPEC, operation);
      })) {
    unposted_receives_.push_back(operation);
  }
}

void OfiRank::repost_receives() {
  for (size_t left = unposted_receives_.size(); left > 0; --left) {
    Operation* operation = unposted_receives_.back();
    unposted_receives_.pop_back();
    post_receive(operation);
    if (!unposted_receives_.empty() && unposted_receives_.back() == operation) return;
  }
}

}  // namespace stripline::fabric::ofi
