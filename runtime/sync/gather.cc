// Gather to a root and to all.
#include <algorithm>

#include "runtime/sync/binomial_tree.h"
#include "runtime/sync/collectives.h"
#include "runtime/sync/exchange_all.h"
#include "runtime/sync/ring.h"

namespace stripline::sync {
namespace {

Bytes block(Bytes data, size_t bytes, Rank rank) { return data.subspan(rank * bytes, bytes); }

}  // namespace

void Collectives::gather(Group& group, ConstBytes in, Bytes out, Rank root, Algorithm algorithm) {
  Round round(transfers_, group,
              {.kind = Collective::gather,
               .algorithm = static_cast<uint8_t>(algorithm),
               .root = root,
               .bytes = in.size()});
  if (algorithm == Algorithm::direct) {
    direct_gather(round, in, out, root);
  } else {
    binomial_gather(round, in, out, root);
  }
}

void Collectives::direct_gather(Round& round, ConstBytes in, Bytes out, Rank root) {
  if (round.me != root) {
    round.send(root, 0, in);
    return;
  }
  copy(in, block(out, in.size(), root));
  receive_from_all(round, 0, [&](Rank source) { return block(out, in.size(), source); });
}

void Collectives::gatherv(Group& group, ConstBytes in, Bytes out, const Blocks& blocks, Rank root) {
  Round round(transfers_, group, {.kind = Collective::gatherv, .root = root});
  if (round.me != root) {
    round.send(root, 0, in);
    return;
  }
  copy(in, blocks.of(out, root));
  receive_from_all(round, 0, [&](Rank source) { return blocks.of(out, source); });
}

// Ranks count from the root. The blocks of a subtree are consecutive.
void Collectives::binomial_gather(Round& round, ConstBytes in, Bytes out, Rank root) {
  const size_t bytes = in.size();
  const Rank n = round.size;
  const Rank self = round.before(root);
  const auto absolute = [&](uint64_t distance) { return static_cast<Rank>((distance + root) % n); };
  if (self % 2 == 1) {  // a leaf
    round.send(absolute(self - 1), 0, in);
    return;
  }
  const Subtree mine(self, n);
  // Root 0 gathers in place.
  const bool in_place = self == 0 && root == 0;
  const Scratch scratch(*this, in_place ? 0 : mine.ranks * bytes);
  const Bytes all = in_place ? out : scratch.bytes();
  copy(in, block(all, bytes, 0));
  for (uint64_t bit = 1; bit < mine.top && self + bit < n; bit *= 2) {
    const uint64_t count = std::min<uint64_t>(bit, n - self - bit);
    round.receive(absolute(self + bit), 0, all.subspan(bit * bytes, count * bytes));
  }
  if (self != 0) {
    round.send(absolute(self - mine.top), 0, all);
  } else if (!in_place) {
    const size_t before_end = size_t{n - root} * bytes;
    copy(all.first(before_end), out.subspan(root * bytes));
    copy(all.subspan(before_end), out);
  }
}

void Collectives::allgather(Group& group, ConstBytes in, Bytes out, Algorithm algorithm) {
  Round round(transfers_, group,
              {.kind = Collective::allgather,
               .algorithm = static_cast<uint8_t>(algorithm),
               .bytes = in.size()});
  if (algorithm == Algorithm::bruck) {
    bruck_allgather(round, in, out);
  } else if (algorithm == Algorithm::linear) {
    direct_gather(round, in, out, 0);
    direct_broadcast(round, 1, out, 0);
  } else if (algorithm == Algorithm::direct) {
    exchange_all(
        round, kDirectWindow, [&](Rank) { return in; },
        [&](Rank rank) { return block(out, in.size(), rank); });
  } else {
    copy(in, block(out, in.size(), round.me));
    ring_allgather(round, round.me, 0, [&](Rank rank) { return block(out, in.size(), rank); });
  }
}

void Collectives::allgatherv(Group& group, ConstBytes in, Bytes out, const Blocks& blocks,
                             Algorithm algorithm) {
  size_t bytes = 0;
  for (const size_t count : blocks.counts) bytes += count * blocks.element_bytes;
  Round round(transfers_, group,
              {.kind = Collective::allgatherv,
               .algorithm = static_cast<uint8_t>(algorithm),
               .bytes = bytes});
  const auto block_of = [&](Rank rank) { return blocks.of(out, rank); };
  if (algorithm == Algorithm::direct) {
    exchange_all(
        round, kDirectWindow, [&](Rank) { return in; }, block_of);
  } else {
    copy(in, block_of(round.me));
    ring_allgather(round, round.me, 0, block_of);
  }
}

void Collectives::bruck_allgather(Round& round, ConstBytes in, Bytes out) {
  const size_t bytes = in.size();
  const Scratch scratch(*this, out.size());
  const Bytes all = scratch.bytes();  // block i is that of the rank i after this one
  copy(in, block(all, bytes, 0));
  uint32_t step = 0;
  for (Rank have = 1; have < round.size; have *= 2, ++step) {
    const Rank more = std::min(have, round.size - have);
    round.exchange(round.before(have), all.first(more * bytes), round.after(have),
                   all.subspan(have * bytes, more * bytes), step);
  }
  const size_t before_end = size_t{round.size - round.me} * bytes;
  copy(all.first(before_end), out.subspan(round.me * bytes));
  copy(all.subspan(before_end), out);
}

}  // namespace stripline::sync
