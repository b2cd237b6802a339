#include "runtime/vis/regions.h"

#include <limits>
#include <utility>

#include "optimizer/access/saturate.h"

namespace stripline::vis {
namespace {

template <typename Piece>
uint64_t sum(std::span<const Piece> pieces) {
  uint64_t bytes = 0;
  for (const Piece& piece : pieces) bytes = access::saturating_add(bytes, piece.bytes);
  return bytes;
}

}  // namespace

uint64_t total_bytes(std::span<const LocalPiece> pieces) { return sum(pieces); }
uint64_t total_bytes(std::span<const RemotePiece> pieces) { return sum(pieces); }

void match(std::span<const RemotePiece> remote, std::span<const LocalPiece> local,
           std::vector<Region>& regions) {
  regions.clear();
  size_t r = 0;
  size_t l = 0;
  uint64_t of_remote = 0;  // bytes of remote[r] that are paired
  uint64_t of_local = 0;
  while (true) {
    while (r < remote.size() && of_remote == remote[r].bytes) {
      ++r;
      of_remote = 0;
    }
    while (l < local.size() && of_local == local[l].bytes) {
      ++l;
      of_local = 0;
    }
    if (r == remote.size() || l == local.size()) return;
    const Region next{remote[r].offset + of_remote, local[l].memory + of_local,
                      std::min(remote[r].bytes - of_remote, local[l].bytes - of_local)};
    of_remote += next.bytes;
    of_local += next.bytes;
    if (!regions.empty()) {
      Region& last = regions.back();
      if (last.offset + last.bytes == next.offset && last.memory + last.bytes == next.memory) {
        last.bytes += next.bytes;
        continue;
      }
    }
    regions.push_back(next);
  }
}

RegionList::RegionList(std::vector<Region> pieces)
    : pieces_(std::move(pieces)), size_(pieces_.size()) {
  facts_.remote = {std::numeric_limits<int64_t>::max(), 0};
  Region next{pieces_.front().offset + 1, nullptr, 0};  // where the first one is not
  for (const Region& region : pieces_) {
    const auto low = static_cast<int64_t>(region.offset);
    facts_.remote.low = std::min(facts_.remote.low, low);
    facts_.remote.high = std::max(facts_.remote.high, low + static_cast<int64_t>(region.bytes));
    facts_.bytes += region.bytes;
    facts_.remote_regions += region.offset != next.offset ? 1U : 0U;
    facts_.local_regions += region.memory != next.memory ? 1U : 0U;
    next = {region.offset + region.bytes, region.memory + region.bytes, 0};
  }
}

}  // namespace stripline::vis
