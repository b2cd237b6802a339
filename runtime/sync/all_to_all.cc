// Every rank has a block for every rank.
#include "runtime/sync/collectives.h"
#include "runtime/sync/exchange_all.h"

namespace stripline::sync {
namespace {

Rank window_of(Algorithm algorithm) { return algorithm == Algorithm::direct ? kDirectWindow : 1; }

}  // namespace

void Collectives::all_to_all(Group& group, ConstBytes in, Bytes out, Algorithm algorithm) {
  const size_t bytes = in.size() / group.size;
  Round round(transfers_, group,
              {.kind = Collective::all_to_all,
               .algorithm = static_cast<uint8_t>(algorithm),
               .bytes = bytes});
  if (algorithm == Algorithm::bruck) {
    bruck_all_to_all(round, in, out);
    return;
  }
  exchange_all(
      round, window_of(algorithm), [&](Rank rank) { return in.subspan(rank * bytes, bytes); },
      [&](Rank rank) { return out.subspan(rank * bytes, bytes); });
}

void Collectives::all_to_allv(Group& group, ConstBytes in, const Blocks& in_blocks, Bytes out,
                              const Blocks& out_blocks, Algorithm algorithm) {
  // The messages are the same by either algorithm, in the same order for each pair, and the
  // argument above holds for windows of any size: ranks need not agree.
  Round round(transfers_, group, {.kind = Collective::all_to_allv});
  exchange_all(
      round, window_of(algorithm), [&](Rank rank) { return in_blocks.of(in, rank); },
      [&](Rank rank) { return out_blocks.of(out, rank); });
}

// Block i of `waiting` is for the rank i after the one where it started; in the round of bit b it
// travels b ranks if b is in i.
void Collectives::bruck_all_to_all(Round& round, ConstBytes in, Bytes out) {
  const Rank n = round.size;
  const size_t bytes = in.size() / n;
  const size_t half = size_t{n / 2 + 1} * bytes;
  const Scratch scratch(*this, in.size() + 2 * half);
  const auto waiting = [&](Rank block) { return scratch.part(block * bytes, bytes); };
  const Bytes outgoing = scratch.part(in.size(), half);
  const Bytes incoming = scratch.part(in.size() + half, half);
  for (Rank i = 0; i < n; ++i) copy(in.subspan(round.after(i) * bytes, bytes), waiting(i));
  uint32_t step = 0;
  for (Rank bit = 1; bit < n; bit *= 2, ++step) {
    size_t packed = 0;
    for (Rank i = bit; i < n; ++i) {
      if ((i & bit) == 0) continue;
      copy(waiting(i), outgoing.subspan(packed, bytes));
      packed += bytes;
    }
    round.exchange(round.after(bit), outgoing.first(packed), round.before(bit),
                   incoming.first(packed), step);
    packed = 0;
    for (Rank i = bit; i < n; ++i) {
      if ((i & bit) == 0) continue;
      copy(incoming.subspan(packed, bytes), waiting(i));
      packed += bytes;
    }
  }
  for (Rank i = 0; i < n; ++i) copy(waiting(i), out.subspan(round.before(i) * bytes, bytes));
}

}  // namespace stripline::sync
