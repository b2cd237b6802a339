// Combining of small gets without a handle: where many of one rank are outstanding, they travel as
// one transfer of many regions, a message that names the places and one with the data, until a
// fence, a full message, or their age sends them. Gets are unordered until a fence, so that no one
// can tell the difference but by a clock.
//
// The first kAlone since the last fence, or since the last that were sent together, travel alone:
// who needs one value waits for one get. Larger ones always do, and so do all where the network or
// the kernel reads by itself (Fabric::needs_target), since a message would keep them waiting for
// the target.
//
// Memory: 24 bytes for each get that is held, of which there are at most kMost for a rank, and at
// most kMostHeld in all. Latency: as for combined puts.
//
// One thread at a time, as the runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/fabric/fabric.h"
#include "runtime/vis/transfers.h"

namespace stripline::rma {

class GetCombiner {
 public:
  static constexpr size_t kMaxGetBytes = 64;
  static constexpr uint32_t kAlone = 2;
  static constexpr size_t kMost = 256;
  static constexpr size_t kMostHeld = size_t{1} << 14;
  static constexpr size_t kMostBytes = kMostHeld * sizeof(vis::Region);
  static constexpr double kMaxDelaySeconds = 50e-6;

  GetCombiner(vis::Transfers& transfers, fabric::Fabric& fabric, fabric::Rank ranks)
      : transfers_(transfers), fabric_(fabric), peers_(ranks) {}

  /// True if a get of `bytes` from another rank out of reach is to be held; one that is not travels
  /// alone, and is counted here. Not called for gets of more than kMaxGetBytes, or of none.
  bool takes(fabric::Rank target) {
    Peer& peer = peers_[target];
    if (peer.alone < kAlone) {
      ++peer.alone;
      return false;
    }
    return fabric_.needs_target(target, false);
  }

  /// Holds a get, which will be counted by `counter`. Those of one message are counted by the same.
  void get(fabric::Rank target, uint64_t offset, std::byte* destination, size_t bytes,
           fabric::Counter& counter) {
    Peer& peer = peers_[target];
    if (!peer.held.empty() && peer.counter != &counter) send(target);
    if (peer.held.empty()) hold_first(target, counter);
    peer.held.push_back({offset, destination, bytes});
    ++held_;
    if (peer.held.size() >= kMost || held_ >= kMostHeld) send(target);
  }

  /// Sends what is held for one rank, or for all.
  void flush(fabric::Rank target) {
    Peer& peer = peers_[target];
    peer.alone = 0;
    if (!peer.held.empty()) send(target);
  }
  void flush();
  /// Sends all when the first of them has reached its age. Cheap when nothing is held.
  void flush_old() {
    if (!holding_.empty() && fabric_.now_s() - first_held_s_ > kMaxDelaySeconds) flush();
  }

 private:
  struct Peer {
    std::vector<vis::Region> held;
    fabric::Counter* counter = nullptr;
    uint32_t alone = 0;
  };

  void hold_first(fabric::Rank target, fabric::Counter& counter);
  void send(fabric::Rank target);

  vis::Transfers& transfers_;
  fabric::Fabric& fabric_;
  std::vector<Peer> peers_;
  std::vector<fabric::Rank> holding_;  // ranks for which something is held
  size_t held_ = 0;
  double first_held_s_ = 0;
};

}  // namespace stripline::rma
