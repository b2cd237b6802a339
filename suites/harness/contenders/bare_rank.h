// libfabric without anything of ours: what the fastest program on a provider would do. One
// endpoint, one completion queue, operations counted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include "base/result.h"
#include "runtime/fabric/ofi/segment.h"

namespace stripline::suites::harness {

class BareRank {
 public:
  /// Opens an endpoint of the provider that `fabric` names, with `bytes` of memory for the peer.
  static Result<BareRank> open(const std::string& fabric, uint32_t rank, size_t bytes);
  BareRank(BareRank&&) noexcept;
  BareRank& operator=(BareRank&&) = delete;
  ~BareRank();

  /// What a peer needs: key, base, endpoint name.
  std::string address() const { return address_; }
  /// The peer that operations go to unless they name another one.
  Status set_peer(const std::string& address);
  /// One more that messages can be sent to; returns its number, 1 and up.
  Result<size_t> add_peer(const std::string& address);

  std::byte* memory() { return memory_.bytes().data(); }
  void poll();

  /// Start one operation at `offset` of the peer's memory; progress while the provider's queue is
  /// full. Puts complete when they are visible at the peer (FI_DELIVERY_COMPLETE).
  void get(std::byte* destination, size_t offset, size_t bytes);
  void put(const std::byte* source, size_t offset, size_t bytes);
  /// A put that notifies the peer when its data are there; complete when `source` may be changed.
  void put_and_notify(const std::byte* source, size_t offset, size_t bytes);
  /// Polls until one more such put of the peer has landed.
  void await_put();
  /// True if the provider has atomic operations.
  bool has_atomics() const { return (info_->caps & FI_ATOMIC) != 0; }
  void fetch_add(uint64_t* operand, uint64_t* previous, size_t offset);
  /// A message to the peer; returns when `source` may be changed.
  void send(const std::byte* source, size_t bytes);
  /// Starts a message to a peer, by its number; complete when `source` may be changed.
  void start_send(size_t peer, const std::byte* source, size_t bytes);
  /// Posts the buffer for the next message and polls until it is there.
  void receive(std::byte* destination, size_t bytes);
  /// Posts one of at most kReceives buffers, which is then not posted already.
  static constexpr size_t kReceives = 128;
  void post_receive(size_t buffer, std::byte* destination, size_t bytes);
  /// Buffers that have been filled since; to be emptied by the caller.
  std::vector<size_t>& filled() { return filled_; }
  /// Polls until at most `most` operations are in flight.
  void wait_until_in_flight(uint64_t most) {
    while (started_ - completed_ > most) poll();
  }

 private:
  BareRank() = default;
  Status describe(const std::string& provider);
  template <typename Attempt>
  void post(const Attempt& attempt);
  /// Posts a buffer for a message, whose completion has this context.
  void expect(fi_context2* context, std::byte* destination, size_t bytes);
  void write(const std::byte* source, size_t offset, size_t bytes, uint64_t flags);

  fi_info* info_ = nullptr;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_av* av_ = nullptr;
  fid_cq* cq_ = nullptr;
  fid_ep* ep_ = nullptr;
  fid_mr* mr_ = nullptr;
  fabric::ofi::Segment memory_;  // of pages like those of a segment of the runtime
  std::string address_;
  // For operations in flight, in turn: a program with a window needs no more. Behind them that of
  // the message that is awaited, and those of posted buffers.
  std::vector<fi_context2> contexts_;
  std::vector<size_t> filled_;
  fi_addr_t peer_ = 0;
  std::vector<fi_addr_t> peers_;
  uint64_t peer_key_ = 0;
  uint64_t peer_base_ = 0;
  uint64_t started_ = 0;
  uint64_t completed_ = 0;
  uint64_t received_ = 0;
  uint64_t notified_ = 0;
  uint64_t awaited_ = 0;  // of them
};

}  // namespace stripline::suites::harness
