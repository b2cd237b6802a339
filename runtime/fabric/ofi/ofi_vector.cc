// Gets and puts of several pieces as one operation of the provider.
#include <array>

#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

#include "runtime/fabric/ofi/ofi_post.h"
#include "runtime/fabric/ofi/ofi_rank.h"

namespace stripline::fabric::ofi {

/// The lists of one operation, as libfabric wants them.
struct OfiRank::Vectors {
  std::array<iovec, kMaxIov> local;
  std::array<fi_rma_iov, kMaxIov> remote;
  std::array<void*, kMaxIov> descriptors{};
  size_t local_count = 0;
  size_t remote_count = 0;
  size_t bytes = 0;

  fi_msg_rma message(uint64_t target, Operation* operation) {
    fi_msg_rma message{};
    message.msg_iov = local.data();
    message.desc = descriptors.data();
    message.iov_count = local_count;
    message.addr = target;
    message.rma_iov = remote.data();
    message.rma_iov_count = remote_count;
    message.context = operation;
    return message;
  }
};

/// Fills the lists; false if the pieces have to travel one by one. Providers do not check their
/// limits: a list that is too long ends the connection or overwrites their memory.
bool OfiRank::fits_vectors(std::span<const Piece> pieces, Rank target, OperationKind kind,
                           Vectors& vectors) {
  if (pieces.size() > info_.iov_limit || target == rank_) return false;
  if (same_node_.path(target) != SameNode::network) return false;
  const Peer& peer = peers_[target];
  const std::byte* next = nullptr;
  for (const Piece& piece : pieces) {
    assert_bounds({kind, target, piece.bytes}, piece.offset);
    vectors.remote[vectors.remote_count++] = {peer.base + piece.offset, piece.bytes, peer.key};
    if (piece.memory == next) {
      vectors.local[vectors.local_count - 1].iov_len += piece.bytes;
    } else {
      vectors.local[vectors.local_count++] = {piece.memory, piece.bytes};
    }
    next = piece.memory + piece.bytes;
    vectors.bytes += piece.bytes;
  }
  return vectors.bytes <= max_transfer_bytes_;
}

void OfiRank::getv(Rank target, std::span<const Piece> pieces, Counter& counter) {
  Vectors vectors;
  if (!fits_vectors(pieces, target, OperationKind::get, vectors)) {
    Fabric::getv(target, pieces, counter);
    return;
  }
  const OperationName what{OperationKind::get, target, vectors.bytes};
  transfer(what, counter, [&](Operation* operation, size_t) {
    const fi_msg_rma message = vectors.message(peers_[target].handle, operation);
    post(what, Patience::until_accepted, [&] { return fi_readmsg(ep_, &message, FI_COMPLETION); });
    ++traffic_.gets;
    traffic_.get_bytes += vectors.bytes;
  });
}

void OfiRank::putv(Rank target, std::span<const Piece> pieces, Counter& counter) {
  Vectors vectors;
  if (!fits_vectors(pieces, target, OperationKind::put, vectors)) {
    Fabric::putv(target, pieces, counter);
    return;
  }
  const OperationName what{OperationKind::put, target, vectors.bytes};
  uint64_t flags = FI_COMPLETION | FI_DELIVERY_COMPLETE;
  if (vectors.bytes <= inject_bytes_) flags |= FI_INJECT;
  transfer(what, counter, [&](Operation* operation, size_t) {
    const fi_msg_rma message = vectors.message(peers_[target].handle, operation);
    post(what, Patience::until_accepted, [&] { return fi_writemsg(ep_, &message, flags); });
    ++traffic_.puts;
    traffic_.put_bytes += vectors.bytes;
  });
}

}  // namespace stripline::fabric::ofi
