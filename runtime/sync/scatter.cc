// From a root to all, to each its own.
#include <algorithm>

#include "runtime/sync/collectives.h"

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
  for (Rank i = 1; i < round.size; ++i) round.announce(round.after(i), 0, block(round.after(i)));
  for (Rank i = 1; i < round.size; ++i) round.send(round.after(i), 0, block(round.after(i)));
  copy(block(root), out);
}

// Gather's tree, the other way: ranks count from the root, and the blocks of a subtree are
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
  uint64_t top = 1;  // lowest set bit of self: my subtree has at most so many blocks
  while (top < n && (self & top) == 0) top *= 2;
  const auto mine = static_cast<Rank>(std::min<uint64_t>(top, n - self));
  const bool in_place = self == 0 && root == 0;
  const Scratch scratch(*this, in_place ? 0 : mine * bytes);
  ConstBytes all = in_place ? in : scratch.bytes();
  if (self != 0) {
    round.receive(absolute(self - top), 0, scratch.bytes());
  } else if (!in_place) {
    const size_t before_end = size_t{n - root} * bytes;
    copy(in.subspan(root * bytes, before_end), scratch.bytes());
    copy(in.first(root * bytes), scratch.bytes().subspan(before_end));
  }
  for (uint64_t bit = top / 2; bit > 0; bit /= 2) {
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
  for (Rank i = 1; i < round.size; ++i) {
    round.announce(round.after(i), 0, blocks.of(in, round.after(i)));
  }
  for (Rank i = 1; i < round.size; ++i) {
    round.send(round.after(i), 0, blocks.of(in, round.after(i)));
  }
  copy(blocks.of(in, root), out);
}

}  // namespace stripline::sync
