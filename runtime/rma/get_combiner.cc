#include "runtime/rma/get_combiner.h"

#include <algorithm>
#include <utility>

namespace stripline::rma {

namespace {

// While one message of data is stored, others are packed and travel.
constexpr uint32_t kWindow = 4;

}  // namespace

void GetCombiner::hold_first(fabric::Rank target, fabric::Counter& counter) {
  Peer& peer = peers_[target];
  peer.counter = &counter;
  peer.held.reserve(kMost);
  if (holding_.empty()) first_held_s_ = fabric_.now_s();
  holding_.push_back(target);
}

// The list is closed before it is sent: sending makes progress, and may come here again.
void GetCombiner::send(fabric::Rank target) {
  Peer& peer = peers_[target];
  peer.alone = 0;
  held_ -= peer.held.size();
  std::erase(holding_, target);
  std::vector<vis::Region> regions = std::exchange(peer.held, {});
  if (regions.size() == 1) {
    const vis::Region& one = regions.front();
    fabric_.get({one.memory, one.bytes}, target, one.offset, *peer.counter);
    return;
  }
  const plan::VisPlan plan{.method = plan::VisMethod::packed, .window = kWindow};
  transfers_.start(plan::Direction::get, target, vis::RegionList(std::move(regions)), plan,
                   *peer.counter);
}

void GetCombiner::flush() {
  while (!holding_.empty()) send(holding_.back());
}

}  // namespace stripline::rma
