#include "runtime/vis/regions.h"

#include <algorithm>

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

bool in_one_place(std::span<const Region> regions) {
  uint64_t next = regions.front().offset;
  for (const Region& region : regions) {
    if (region.offset != next) return false;
    next += region.bytes;
  }
  return true;
}

}  // namespace stripline::vis
