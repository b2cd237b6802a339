// Broadcast. Ranks count from the root here: v is the distance from it. The parent of v is v
// without its lowest set bit; its children add one of the bits below that.
#include <algorithm>

#include "runtime/sync/collectives.h"
#include "runtime/sync/exchange_all.h"
#include "runtime/sync/ring.h"

namespace stripline::sync {
namespace {

struct Tree {
  Rank self;     // distance from the root
  uint64_t bit;  // lowest set bit of self; for the root, the first power of two that is not below n

  Tree(const Round& round, Rank root)
      : self(static_cast<Rank>((uint64_t{round.me} + round.size - root) % round.size)), bit(1) {
    while (bit < round.size && (self & bit) == 0) bit *= 2;
  }
};

Rank from_root(const Round& round, Rank root, uint64_t distance) {
  return static_cast<Rank>((distance + root) % round.size);
}

}  // namespace

void Collectives::broadcast(Group& group, Bytes data, Rank root, Algorithm algorithm) {
  Round round(transfers_, group,
              {.kind = Collective::broadcast,
               .algorithm = static_cast<uint8_t>(algorithm),
               .root = root,
               .bytes = data.size()});
  if (algorithm == Algorithm::scatter_allgather) {
    scatter_allgather(round, data, root);
  } else if (algorithm == Algorithm::direct) {
    direct_broadcast(round, 0, data, root);
  } else {
    binomial_broadcast(round, data, root);
  }
}

void Collectives::direct_broadcast(Round& round, uint32_t step, Bytes data, Rank root) {
  if (round.me != root) {
    round.receive(root, step, data);
    return;
  }
  send_to_all(round, step, [&](Rank) { return data; });
}

void Collectives::binomial_broadcast(Round& round, Bytes data, Rank root) {
  const Tree tree(round, root);
  if (tree.self != 0) round.receive(from_root(round, root, tree.self - tree.bit), 0, data);
  // The largest subtree first: it is the deepest.
  for (uint64_t bit = tree.bit / 2; bit > 0; bit /= 2) {
    if (tree.self + bit < round.size) round.send(from_root(round, root, tree.self + bit), 0, data);
  }
}

void Collectives::scatter_allgather(Round& round, Bytes data, Rank root) {
  const Tree tree(round, root);
  const Cut blocks(data, 1, round.size);
  const auto subtree = [&](uint64_t top, uint64_t bit) {
    return blocks.range(static_cast<Rank>(top),
                        static_cast<Rank>(std::min<uint64_t>(top + bit, round.size)));
  };
  if (tree.self != 0) {
    round.receive(from_root(round, root, tree.self - tree.bit), 0, subtree(tree.self, tree.bit));
  }
  for (uint64_t bit = tree.bit / 2; bit > 0; bit /= 2) {
    const uint64_t child = tree.self + bit;
    if (child < round.size) round.send(from_root(round, root, child), 0, subtree(child, bit));
  }
  ring_allgather(round, tree.self, 1, [&](Rank block) { return blocks[block]; });
}

}  // namespace stripline::sync
