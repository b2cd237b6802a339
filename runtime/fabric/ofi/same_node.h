// Other ranks of this node without the provider between: their segments mapped into this process or
// copied by the kernel from process to process, and messages through rings in memory that both map.
// Both need the right to look into a process of the same user, which containers may withhold; then
// the network serves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/subprocess.h"
#include "runtime/fabric/fabric.h"
#include "runtime/fabric/ofi/message_ring.h"
#include "runtime/fabric/ofi/ofi_address.h"

namespace stripline::fabric::ofi {

/// Part of another process's shared file in this one. Unmapped on destruction.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  /// Maps `bytes` from `offset`, a multiple of the page, of a file that process `pid` holds.
  /// Errors: unavailable, with what the kernel refuses; failed_precondition if what is found there
  /// is another file, or shorter.
  static Result<Mapping> open(int64_t pid, const SharedFile& file, uint64_t offset, size_t bytes);
  /// Maps a file of this process. Errors: unavailable.
  static Result<Mapping> of(int descriptor, uint64_t offset, size_t bytes);

  std::span<std::byte> bytes() const { return {base_, bytes_}; }

 private:
  std::byte* base_ = nullptr;
  size_t bytes_ = 0;
};

/// Where ranks of this node leave messages for this one: a ring for every rank of the job, of which
/// those that are used take memory. Released on destruction.
class Mailbox {
 public:
  /// Errors: resource_exhausted.
  static Result<Mailbox> create(Rank ranks);

  /// -1 of a default one.
  int file() const { return file_.get(); }
  /// By sender; null without a file.
  RingMemory* rings() const { return reinterpret_cast<RingMemory*>(memory_.bytes().data()); }

 private:
  UniqueFd file_;
  Mapping memory_;
};

/// Copies between the memory of this process and that of another one of this machine
/// (process_vm_readv, process_vm_writev). Errors: unavailable, with what the kernel says.
Status copy_from_process(int64_t pid, uint64_t address, std::span<std::byte> destination);
Status copy_to_process(int64_t pid, uint64_t address, std::span<const std::byte> source);

/// How each rank is reached.
class SameNodePeers {
 public:
  SameNodePeers(Rank me, Rank ranks) : me_(me), peers_(ranks) {}

  /// Tries the path that is asked for to `peer`, which is another rank.
  void add(Rank rank, SameNode wanted, const Address& mine, const Address& peer);

  SameNode path(Rank rank) const { return peers_[rank].path; }
  /// Empty unless the path is mapped.
  std::span<std::byte> mapped(Rank rank) const { return peers_[rank].segment; }
  /// True if copy_from_process() works for it, or needs not.
  bool reads_memory_of(Rank rank) const { return peers_[rank].readable; }
  /// Where this rank leaves messages for another one; false where there is no such ring.
  RingWriter& writer(Rank rank) { return peers_[rank].writer; }

  /// Info::same_node.
  std::string describe(SameNode wanted) const;

 private:
  struct Peer {
    SameNode path = SameNode::network;
    std::span<std::byte> segment;
    RingWriter writer;
    bool readable = false;
  };

  void refuse(Rank rank, const std::string& reason);
  Status map(Peer& entry, const Address& mine, const Address& peer);

  Rank me_;
  std::vector<Peer> peers_;
  std::vector<Mapping> mappings_;
  size_t reached_ = 0;       // ranks of this node that are reached as wanted
  size_t refused_ = 0;       // and those that are not
  std::string why_refused_;  // of the first of them
};

std::string_view to_string(SameNode path);

}  // namespace stripline::fabric::ofi
