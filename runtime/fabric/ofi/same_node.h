// The segments of other ranks of this node without the provider between: mapped into this process,
// or copied by the kernel from process to process. Both need the right to look into a process of
// the same user, which containers may withhold; then the network serves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/fabric/fabric.h"
#include "runtime/fabric/ofi/ofi_address.h"

namespace stripline::fabric::ofi {

/// The memory of another process's shared segment in this one. Unmapped on destruction.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  /// Maps the segment that `peer` says it has. Errors: unavailable, with what the kernel refuses;
  /// failed_precondition if what is found there is not that segment.
  static Result<Mapping> open(const Address& peer);

  std::span<std::byte> bytes() const { return {base_, bytes_}; }

 private:
  std::byte* base_ = nullptr;
  size_t bytes_ = 0;
};

/// Copies between the memory of this process and that of another one of this machine
/// (process_vm_readv, process_vm_writev). Errors: unavailable, with what the kernel says.
Status copy_from_process(int64_t pid, uint64_t address, std::span<std::byte> destination);
Status copy_to_process(int64_t pid, uint64_t address, std::span<const std::byte> source);

/// How each rank's segment is reached.
class SameNodePeers {
 public:
  explicit SameNodePeers(Rank ranks) : peers_(ranks) {}

  /// Tries the way that is asked for to `peer`, which is another rank.
  void add(Rank rank, SameNode wanted, const Address& mine, const Address& peer);

  SameNode way(Rank rank) const { return peers_[rank].way; }
  /// Empty unless the way is mapped.
  std::span<std::byte> mapped(Rank rank) const { return peers_[rank].segment; }
  bool any() const { return reached_ > 0; }

  /// Info::same_node.
  std::string describe(SameNode wanted) const;

 private:
  struct Peer {
    SameNode way = SameNode::network;
    std::span<std::byte> segment;
  };

  void refuse(Rank rank, const std::string& reason);

  std::vector<Peer> peers_;
  std::vector<Mapping> mappings_;
  size_t reached_ = 0;       // ranks of this node that are reached as wanted
  size_t refused_ = 0;       // and those that are not
  std::string why_refused_;  // of the first of them
};

std::string_view to_string(SameNode way);

}  // namespace stripline::fabric::ofi
