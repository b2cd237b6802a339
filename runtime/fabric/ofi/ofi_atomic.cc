// Atomic operations that the provider carries out.
#include <string_view>

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_endpoint.h>

#include "runtime/fabric/atomic_apply.h"
#include "runtime/fabric/ofi/ofi_post.h"
#include "runtime/fabric/ofi/ofi_rank.h"

namespace stripline::fabric::ofi {
namespace {

fi_op provider_op(AtomicOp op) {
  switch (op) {
    case AtomicOp::load:
      return FI_ATOMIC_READ;
    case AtomicOp::store:
      return FI_ATOMIC_WRITE;
    case AtomicOp::compare_swap:
      return FI_CSWAP;
    case AtomicOp::add:
      return FI_SUM;
    case AtomicOp::min:
      return FI_MIN;
    case AtomicOp::max:
      return FI_MAX;
    case AtomicOp::bit_and:
      return FI_BAND;
    case AtomicOp::bit_or:
      return FI_BOR;
    case AtomicOp::bit_xor:
      return FI_BXOR;
  }
  return FI_ATOMIC_READ;
}

fi_datatype provider_type(AtomicType type) {
  switch (type) {
    case AtomicType::int32:
      return FI_INT32;
    case AtomicType::uint32:
      return FI_UINT32;
    case AtomicType::int64:
      return FI_INT64;
    case AtomicType::uint64:
      return FI_UINT64;
    case AtomicType::float64:
      return FI_DOUBLE;
  }
  return FI_UINT64;
}

/// Providers that carry out what arrives in the target's own calls, with plain loads and stores:
/// the target's thread itself is then atomic with all others. Where a NIC or a thread does it, a
/// rank has to ask them for its own variables too.
bool served_in_calls(std::string_view provider) {
  return provider.ends_with(";ofi_rxm") || provider == "shm";
}

/// libfabric's shm (seen in 1.17) gives an operation's buffer back twice when an atomic that
/// returns nothing is to complete at delivery: with four ranks, operands of other operations are
/// applied instead, or memory is overwritten. Those that return the previous value are sound.
bool atomics_must_fetch(std::string_view provider) { return provider == "shm"; }

/// libfabric's rxd (seen in 1.17) crashes when several ranks send it atomics: active messages
/// serve.
bool atomics_crash(std::string_view provider) { return provider.ends_with(";ofi_rxd"); }

constexpr size_t index_of(AtomicOp op, AtomicType type, bool previous) {
  return (static_cast<size_t>(op) * kAtomicTypes + static_cast<size_t>(type)) * 2 +
         (previous ? 1 : 0);
}

}  // namespace

void OfiRank::find_atomics() {
  own_atomics_in_calls_ =
      served_in_calls(endpoint_.provider()) && !endpoint_.limits().automatic_progress;
  atomics_must_fetch_ = atomics_must_fetch(endpoint_.provider());
  if (!endpoint_.limits().atomics || atomics_crash(endpoint_.provider())) return;
  for (size_t i = 0; i < kAtomicOps; ++i) {
    for (size_t j = 0; j < kAtomicTypes; ++j) {
      const auto op = static_cast<AtomicOp>(i);
      const auto type = static_cast<AtomicType>(j);
      size_t count = 0;
      int code = 0;
      if (op == AtomicOp::compare_swap) {
        code = fi_compare_atomicvalid(ep_, provider_type(type), provider_op(op), &count);
      } else {
        code = fi_fetch_atomicvalid(ep_, provider_type(type), provider_op(op), &count);
      }
      atomics_[index_of(op, type, true)] = code == 0 && count > 0;
      if (op == AtomicOp::compare_swap || op == AtomicOp::load) continue;
      if (!atomics_must_fetch_) {
        code = fi_atomicvalid(ep_, provider_type(type), provider_op(op), &count);
      }
      atomics_[index_of(op, type, false)] = code == 0 && count > 0;
    }
  }
}

bool OfiRank::has_atomic(AtomicOp op, AtomicType type, bool previous) const {
  return atomics_[index_of(op, type, previous)];
}

void OfiRank::atomic(const AtomicRequest& request, Rank target, uint64_t offset, void* previous,
                     Counter& counter) {
  const size_t bytes = bytes_of(request.type);
  const OperationName what{OperationKind::atomic, target, bytes};
  assert_bounds(what, offset);
  if (target == rank_ && own_atomics_in_calls_) {
    apply_atomic(request, segment_.bytes().data() + offset, previous);
    return;
  }
  Operation* operation = acquire_operation(what, operations_);
  ++counter.pending;
  operation->counter = &counter;

  auto* scratch = reinterpret_cast<std::byte*>(operation->scratch);
  void* descriptor = nullptr;
  if (endpoint_.limits().local_registration) {
    post(what, Patience::until_accepted, [&]() -> ssize_t {
      operation->buffer = send_buffers_.acquire();
      return operation->buffer != nullptr ? 0 : -FI_EAGAIN;
    });
    scratch = operation->buffer;
    descriptor = send_buffers_.descriptor();
  }
  std::byte* const operand = scratch + sizeof(uint64_t);
  std::byte* const expected = scratch + 2 * sizeof(uint64_t);
  std::memcpy(operand, &request.operand, sizeof(uint64_t));
  std::memcpy(expected, &request.expected, sizeof(uint64_t));
  operation->staged = scratch;
  operation->destination = static_cast<std::byte*>(previous);

  const Peer& peer = peers_[target];
  const fi_ioc operand_vector{operand, 1};
  const fi_rma_ioc remote{peer.base + offset, 1, peer.key};
  fi_msg_atomic message{};
  message.msg_iov = &operand_vector;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = peer.handle;
  message.rma_iov = &remote;
  message.rma_iov_count = 1;
  message.datatype = provider_type(request.type);
  message.op = provider_op(request.op);
  message.context = operation;
  fi_ioc result{scratch, 1};
  const fi_ioc compare{expected, 1};
  post(what, Patience::until_accepted, [&]() -> ssize_t {
    if (previous == nullptr && !atomics_must_fetch_) {
      return fi_atomicmsg(ep_, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE);
    }
    if (request.op == AtomicOp::compare_swap) {
      return fi_compare_atomicmsg(ep_, &message, &compare, &descriptor, 1, &result, &descriptor, 1,
                                  FI_COMPLETION);
    }
    return fi_fetch_atomicmsg(ep_, &message, &result, &descriptor, 1, FI_COMPLETION);
  });
  ++traffic_.atomics;
}

}  // namespace stripline::fabric::ofi
