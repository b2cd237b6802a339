// From a root to all, to each its own.
#include <algorithm>

#include "runtime/sync/binomial_tree.h"
#include "runtime/sync/collectives.h"
#include "runtime/sync/exchange_all.h"

namespace stripline::sync {

void Collectives::scatter(Group& group, ConstBytes in, Bytes out, Rank root, Algorithm algorithm) {
  Round round(transfers_, group,
              {.kind = Collective::scatter,
               .algorithm = static_cast<uint8_t>(algorithm),
               .root = root,
               .bytes = out.size()});
  if (algorithm != Algorithm::direct) {
    binomial_scatter(round, in, out, root);
    return;
  }
  if (round.me != root) {
    round.receive(root, 0, out);
    return;
  }
  const auto block = [&](Rank rank) { return in.subspan(rank * out.size(), out.size()); };
  send_to_all(round, 0, block);
  copy(block(root), out);
}

// Gather's tree, reversed: ranks count from the root, and the blocks of a subtree are
// consecutive.
void Collectives::binomial_scatter(Round& round, ConstBytes in, Bytes out, Rank root) {
  const size_t bytes = out.size();
  const Rank n = round.size;
  const Rank self = round.before(root);
  const auto absolute = [&](uint64_t distance) { return static_cast<Rank>((distance + root) % n); };
  if (self % 2 == 1) {  // a leaf
    round.receive(absolute(self - 1), 0, out);
    return;
  }
  const Subtree mine(self, n);
  const bool in_place = self == 0 && root == 0;
  const Scratch scratch(*this, in_place ? 0 : mine.ranks * bytes);
  ConstBytes all = in_place ? in : scratch.bytes();
  if (self != 0) {
    round.receive(absolute(self - mine.top), 0, scratch.bytes());
  } else if (!in_place) {
    const size_t before_end = size_t{n - root} * bytes;
    copy(in.subspan(root * bytes, before_end), scratch.bytes());
    copy(in.first(root * bytes), scratch.bytes().subspan(before_end));
  }
  for (uint64_t bit = mine.top / 2; bit > 0; bit /= 2) {
    if (self + bit >= n) continue;
    const uint64_t count = std::min<uint64_t>(bit, n - self - bit);
    round.send(absolute(self + bit), 0, all.subspan(bit * bytes, count * bytes));
  }
  copy(all.first(bytes), out);
}

void Collectives::scatterv(Group& group, ConstBytes in, const Blocks& blocks, Bytes out,
                           Rank root) {
  Round round(transfers_, group, {.kind = Collective::scatterv, .root = root});
  if (round.me != root) {
    round.receive(root, 0, out);
    return;
  }
  send_to_all(round, 0, [&](Rank rank) { return blocks.of(in, rank); });
  copy(blocks.of(in, root), out);
}

}  // namespace stripline::sync
