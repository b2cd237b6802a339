// Puts that tell their target, and memory of other processes of the node.
#include <array>
#include <cstring>

#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "runtime/fabric/ofi/ofi_post.h"
#include "runtime/fabric/ofi/ofi_rank.h"

namespace stripline::fabric::ofi {
namespace {

// What the completion at the target carries: all networks have room for 32 bits.
constexpr uint32_t kTagBits = 12;
static_assert((1U << kTagBits) == Shortcuts::kLandingTags);

}  // namespace

void OfiRank::put_notify(Rank target, uint64_t offset, std::span<const std::byte> head,
                         std::span<const std::byte> body, uint32_t tag, Counter& counter) {
  const size_t bytes = head.size() + body.size();
  const OperationName what{OperationKind::put, target, bytes};
  assert_bounds(what, offset);
  const Peer& peer = peers_[target];
  ++counter.pending;
  Operation* operation = acquire_operation(what, operations_);
  operation->counter = &counter;
  // libfabric takes pointers to non-const memory also for data it only reads.
  const std::array<iovec, 2> local = {iovec{const_cast<std::byte*>(head.data()), head.size()},
                                      iovec{const_cast<std::byte*>(body.data()), body.size()}};
  std::array<void*, 2> descriptors{};
  const fi_rma_iov remote{peer.base + offset, bytes, peer.key};
  fi_msg_rma message{};
  message.msg_iov = local.data();
  message.desc = descriptors.data();
  message.iov_count = local.size();
  message.addr = peer.handle;
  message.rma_iov = &remote;
  message.rma_iov_count = 1;
  message.context = operation;
  message.data = (rank_ << kTagBits) | tag;
  post(what, Patience::until_accepted,
       [&] { return fi_writemsg(ep_, &message, FI_COMPLETION | FI_REMOTE_CQ_DATA); });
  ++traffic_.puts;
  traffic_.put_bytes += bytes;
}

void OfiRank::take_landing(uint64_t data) {
  const Landing landing{.source = static_cast<Rank>(data >> kTagBits),
                        .tag = static_cast<uint32_t>(data & (kLandingTags - 1))};
  if (landing.source < ranks_) landings_.push_back(landing);
}

bool OfiRank::shares_node(Rank peer) const {
  return peer != rank_ && wanted_same_node_ != SameNode::network &&
         node_part(peer) == node_part(rank_) && addresses_[peer].host.same_machine(address_.host);
}

void OfiRank::read_memory(Rank peer, uint64_t address, std::span<std::byte> destination) {
  const Address& there = addresses_[peer];
  const std::span<std::byte> mapped = same_node_.mapped(peer);
  const std::byte* from = nullptr;
  if (there.host.same_process(address_.host)) {
    from = reinterpret_cast<const std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
  } else if (address >= there.segment_address && destination.size() <= mapped.size() &&
             address - there.segment_address <= mapped.size() - destination.size()) {
    from = mapped.data() + (address - there.segment_address);
  }
  if (from != nullptr) {
    std::memcpy(destination.data(), from, destination.size());
    return;
  }
  const Status copied = copy_from_process(there.host.pid, address, destination);
  if (copied.ok()) return;
  fail(Error(ErrorCode::aborted, describe({OperationKind::get, peer, destination.size()}) +
                                     " failed: " + copied.error().message()));
}

}  // namespace stripline::fabric::ofi
