// What debug mode knows of the one-sided operations of this rank that it does not know to be
// complete: where they read and write at their targets and in this rank's memory.
//
// An operation is open from its call until the program waits for its future, fences, or passes a
// barrier, whatever the network has done by then: what is reported does not depend on timing.
//
// What others can have seen of this rank's operations may also come back to it: a flag that it
// raised, an atomic operation. From whatever it hears of others it may have learnt that those are
// complete, because who answers has seen them (release_observable()).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <stripline/global_ptr.h>

#include "runtime/rma/call.h"

namespace stripline::rma {

/// What an operation does with the target's memory. Atomic operations do not conflict with each
/// other, nor do updates of one epoch.
enum class Access : uint8_t { none, get, put, atomic, update };

/// Contiguous memory that an open operation uses.
struct OpenAccess {
  Call call{nullptr};
  Access access = Access::none;
  /// Others that see its effect know it to be complete: data and flag of a put that raises a flag,
  /// an atomic operation.
  bool observable = false;
  bool at_target = true;  ///< the target's memory is still in use
  rank_t target = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  /// This rank's side, if it must stay: what a put reads, or what a get or a fetching atomic
  /// operation writes.
  std::byte* memory = nullptr;
  uint32_t epoch = 0;              ///< of an update
  uint64_t checksum = 0;           ///< of a put's memory at the call
  std::vector<std::byte> fetched;  ///< what a get has fetched, for `memory`; empty: it is there
};

/// Continues a checksum over more bytes (FNV-1a, 64 bits).
uint64_t checksum(std::span<const std::byte> bytes, uint64_t so_far = 0xcbf29ce484222325);

class AccessLog {
 public:
  /// Ranges that are remembered. Of more, the program is warned, and they are not checked.
  static constexpr size_t kCapacity = size_t{1} << 16;
  /// Bytes of fetched data that are kept.
  static constexpr size_t kFetchedBytes = size_t{64} << 20;

  /// What is waited for at once: one future's operation, those without futures to one rank, or the
  /// updates of an epoch.
  using Token = uint64_t;
  static Token of_future(uint32_t slot, uint32_t generation) {
    return uint64_t{slot} << 32 | generation;
  }
  static Token of_target(rank_t target) { return kImplicit | target; }
  static Token of_epoch(uint32_t epoch) { return kImplicit | kOfEpoch | epoch; }
  static bool is_of_epoch(Token token) { return (token & of_epoch(0)) == of_epoch(0); }
  static bool is_future(Token token) { return (token & kImplicit) == 0; }
  static uint32_t slot_of(Token token) { return static_cast<uint32_t>(token >> 32); }
  static uint32_t generation_of(Token token) { return static_cast<uint32_t>(token); }

  /// The open access that such a one must not overlap; null: there is none. `epoch` of an update.
  const OpenAccess* conflict(Access access, rank_t target, uint64_t offset, uint64_t bytes,
                             uint32_t epoch = 0) const;
  /// An update of this memory that is open; null: there is none.
  const OpenAccess* update_of(rank_t target, uint64_t offset, uint64_t bytes) const;
  /// conflict() for this rank's memory.
  const OpenAccess* local_conflict(bool writes, const std::byte* memory, uint64_t bytes) const;

  /// True if there is room for another range, and for the data of a get.
  bool has_room() const { return size_ < kCapacity; }
  bool has_room_for(uint64_t fetched) const {
    return has_room() && fetched_bytes_ + fetched <= kFetchedBytes;
  }

  /// Requires has_room(). A put that continues the one before it, on both sides, is merged with it.
  OpenAccess& open(Token token, OpenAccess&& access);
  /// Forgets all of a token, and hands them out.
  std::list<OpenAccess> close(Token token);

  /// Only the targets' memory of the puts of a token stays in use. `leave` sees each before.
  template <typename Leave>
  void release_memory(Token token, const Leave& leave) {
    const auto found = open_.find(token);
    if (found == open_.end()) return;
    for (OpenAccess& access : found->second) {
      if (access.access != Access::put || access.memory == nullptr) continue;
      leave(static_cast<const OpenAccess&>(access));
      remove(access);
      access.memory = nullptr;
      add(access);
    }
  }

  /// The targets' memory of all observable accesses is free, and so is what puts read; what
  /// fetching atomic operations write here is not. `leave` sees each put before.
  template <typename Leave>
  void release_observable(const Leave& leave) {
    for (const Token token : std::exchange(observable_, {})) {
      const auto found = open_.find(token);
      if (found == open_.end()) continue;
      std::list<OpenAccess>& accesses = found->second;
      for (auto access = accesses.begin(); access != accesses.end();) {
        if (!access->observable) {
          ++access;
          continue;
        }
        remove(*access);
        if (access->access == Access::atomic && access->memory != nullptr) {
          access->observable = access->at_target = false;
          add(*access);
          ++access;
          continue;
        }
        if (access->access == Access::put) leave(static_cast<const OpenAccess&>(*access));
        access = accesses.erase(access);
        --size_;
      }
      if (accesses.empty()) open_.erase(found);
    }
  }

  /// The tokens with open accesses.
  std::vector<Token> tokens() const;
  bool empty() const { return open_.empty(); }
  bool is_open(Token token) const { return open_.contains(token); }

 private:
  // The top bit of a slot is never set, and ranks have fewer bits than the next one.
  static constexpr Token kImplicit = Token{1} << 63;
  static constexpr Token kOfEpoch = Token{1} << 62;

  // Ranges by their beginning, apart by the number of bits of their length: a search looks back no
  // further than the longest of each.
  class Ranges {
   public:
    void add(uint64_t begin, const OpenAccess& access);
    void remove(uint64_t begin, const OpenAccess& access);
    template <typename Matches>
    const OpenAccess* find(uint64_t begin, uint64_t bytes, Matches matches) const;

   private:
    std::array<std::multimap<uint64_t, const OpenAccess*>, 65> by_bits_;
  };

  static uint64_t place(const OpenAccess& access) {
    return uint64_t{access.target} << kOffsetBits | access.offset;
  }
  static bool writes_memory(const OpenAccess& access) { return access.access != Access::put; }
  void add(const OpenAccess& access);
  void remove(const OpenAccess& access);
  bool merge(OpenAccess& last, const OpenAccess& next);

  std::unordered_map<Token, std::list<OpenAccess>> open_;
  std::vector<Token> observable_;  // with such accesses; may have been closed, or be named twice
  Ranges remote_;
  Ranges local_;
  size_t size_ = 0;
  size_t fetched_bytes_ = 0;
};

}  // namespace stripline::rma
