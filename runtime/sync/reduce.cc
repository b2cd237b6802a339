// Reduction to a root and to all. Where operands are combined, that of the lower rank is the left
// one as far as each algorithm can; the tree of operations depends on the algorithm, the number of
// ranks and, where vectors are cut, their length, and on nothing else.
#include <algorithm>

#include "runtime/sync/collectives.h"
#include "runtime/sync/exchange_all.h"
#include "runtime/sync/ring.h"

namespace stripline::sync {
namespace {

// `into` on the left of `other`, or on its right.
void combine(const Reduction& op, Bytes into, ConstBytes other, bool other_first) {
  op.combine(into.data(), other.data(), into.size() / op.element_bytes, other_first, op.function);
}

// The vectors of ranks 0, 1, ... in this order.
template <typename VectorOf>
void combine_by_rank(const Reduction& op, Rank ranks, Bytes out, const VectorOf& vector_of) {
  copy(vector_of(0), out);
  for (Rank rank = 1; rank < ranks; ++rank) combine(op, out, vector_of(rank), false);
}

// Block b starts at rank b and is complete at rank b - 1. `buffer` holds one block.
void reduce_around_ring(Round& round, const Cut& blocks, Bytes buffer, const Reduction& op) {
  for (Rank step = 0; step + 1 < round.size; ++step) {
    const Bytes mine = blocks[round.before(step + 1)];
    const Bytes other = buffer.first(mine.size());
    round.exchange(round.after(1), blocks[round.before(step)], round.before(1), other, step);
    combine(op, mine, other, true);
  }
}

}  // namespace

void Collectives::reduce(Group& group, ConstBytes in, Bytes out, const Reduction& op, Rank root,
                         Algorithm algorithm) {
  Round round(transfers_, group,
              {.kind = Collective::reduce,
               .algorithm = static_cast<uint8_t>(algorithm),
               .root = root,
               .bytes = in.size()});
  if (algorithm == Algorithm::reduce_scatter_gather) {
    reduce_scatter_gather(round, in, out, op, root);
  } else if (algorithm == Algorithm::direct) {
    direct_reduce(round, 0, in, out, op, root);
  } else {
    binomial_reduce(round, in, out, op, root);
  }
}

void Collectives::binomial_reduce(Round& round, ConstBytes in, Bytes out, const Reduction& op,
                                  Rank root) {
  // Ranks count from the root: self is the distance from it.
  const Rank self = round.before(root);
  const auto absolute = [&](uint64_t distance) {
    return static_cast<Rank>((distance + root) % round.size);
  };
  if (self % 2 == 1) {  // a leaf
    round.send(absolute(self - 1), 0, in);
    return;
  }
  const Scratch scratch(*this, padded(in.size()) + (self == 0 ? 0 : in.size()));
  const Bytes other = scratch.part(0, in.size());
  const Bytes sum = self == 0 ? out : scratch.part(padded(in.size()), in.size());
  uint64_t first = 1;
  if (self + 1 < round.size && in.data() != sum.data()) {
    // The first vector where the sum is to be: saves copying this rank's own.
    round.receive(absolute(self + 1), 0, sum);
    combine(op, sum, in, true);
    first = 2;
  } else {
    copy(in, sum);
  }
  for (uint64_t bit = first; bit < round.size; bit *= 2) {
    if ((self & bit) != 0) {
      round.send(absolute(self - bit), 0, sum);
      return;
    }
    if (self + bit >= round.size) continue;
    round.receive(absolute(self + bit), 0, other);
    combine(op, sum, other, false);
  }
}

void Collectives::reduce_scatter_gather(Round& round, ConstBytes in, Bytes out, const Reduction& op,
                                        Rank root) {
  const bool is_root = round.me == root;
  const size_t buffer_bytes = padded(Cut::largest(in.size(), op.element_bytes, round.size));
  const Scratch scratch(*this, buffer_bytes + (is_root ? 0 : in.size()));
  const Bytes data = is_root ? out : scratch.part(buffer_bytes, in.size());
  copy(in, data);
  const Cut blocks(data, op.element_bytes, round.size);
  reduce_around_ring(round, blocks, scratch.part(0, buffer_bytes), op);
  const uint32_t step = round.size;
  if (!is_root) {
    round.send(root, step, blocks[round.after(1 % round.size)]);
    return;
  }
  for (Rank distance = 1; distance < round.size; ++distance) {
    const Rank source = round.after(distance);
    round.receive(source, step, blocks[(source + 1) % round.size]);
  }
}

void Collectives::allreduce(Group& group, ConstBytes in, Bytes out, const Reduction& op,
                            Algorithm algorithm) {
  Round round(transfers_, group,
              {.kind = Collective::allreduce,
               .algorithm = static_cast<uint8_t>(algorithm),
               .bytes = in.size()});
  if (algorithm == Algorithm::in_order) {
    reduce_in_order(round, in, out, op);
    return;
  }
  if (algorithm == Algorithm::direct) {
    direct_allreduce(round, in, out, op);
    return;
  }
  if (algorithm == Algorithm::linear) {
    direct_reduce(round, 0, in, out, op, 0);
    direct_broadcast(round, 1, out, 0);
    return;
  }
  if (algorithm == Algorithm::reduce_scatter_allgather) {
    copy(in, out);
    reduce_scatter_allgather(round, out, op);
  } else {
    recursive_doubling(round, in, out, op);
  }
}

void Collectives::reduce_scatter(Group& group, ConstBytes in, Bytes out, const Reduction& op,
                                 Algorithm algorithm) {
  Round round(transfers_, group,
              {.kind = Collective::reduce_scatter,
               .algorithm = static_cast<uint8_t>(algorithm),
               .bytes = out.size()});
  if (algorithm != Algorithm::direct) {
    ring_reduce_scatter(round, in, out, op);
    return;
  }
  const size_t bytes = out.size();
  const size_t stride = padded(bytes);
  const Scratch scratch(*this, stride * round.size);
  const auto vector_of = [&](Rank rank) { return scratch.part(rank * stride, bytes); };
  exchange_all(
      round, kDirectWindow, [&](Rank rank) { return in.subspan(rank * bytes, bytes); }, vector_of);
  combine_by_rank(op, round.size, out, vector_of);
}

// Block b starts at the rank behind b and goes around until it is complete at b.
void Collectives::ring_reduce_scatter(Round& round, ConstBytes in, Bytes out, const Reduction& op) {
  const size_t bytes = out.size();
  const auto block = [&](Rank rank) { return in.subspan(rank * bytes, bytes); };
  if (round.size == 1) {
    copy(in, out);
    return;
  }
  const Scratch scratch(*this, 2 * padded(bytes));
  ConstBytes sum = block(round.before(1));
  for (Rank step = 0; step + 1 < round.size; ++step) {
    const bool last = step + 2 == round.size;
    const Bytes next = scratch.part(step % 2 * padded(bytes), bytes);
    round.exchange(round.after(1), sum, round.before(1), next, step);
    combine(op, next, block(last ? round.me : round.before(step + 2)), false);
    sum = next;
  }
  copy(sum, out);
}

// As Bruck's allgather, but what arrives is combined at the end, by rank.
void Collectives::reduce_in_order(Round& round, ConstBytes in, Bytes out, const Reduction& op) {
  const size_t bytes = in.size();
  const size_t stride = padded(bytes);
  const Scratch scratch(*this, stride * round.size);
  const auto blocks = [&](Rank first, Rank count) {
    return scratch.part(first * stride, count * stride);
  };
  copy(in, scratch.part(0, bytes));
  uint32_t step = 0;
  for (Rank have = 1; have < round.size; have *= 2, ++step) {
    const Rank more = std::min(have, round.size - have);
    round.exchange(round.before(have), blocks(0, more), round.after(have), blocks(have, more),
                   step);
  }
  combine_by_rank(op, round.size, out, [&](Rank rank) {
    return scratch.part(((rank + round.size - round.me) % round.size) * stride, bytes);
  });
}

void Collectives::direct_allreduce(Round& round, ConstBytes in, Bytes out, const Reduction& op) {
  const size_t stride = padded(in.size());
  const Scratch scratch(*this, stride * round.size);
  const auto vector_of = [&](Rank rank) { return scratch.part(rank * stride, in.size()); };
  exchange_all(
      round, kDirectWindow, [&](Rank) { return in; }, vector_of);
  combine_by_rank(op, round.size, out, vector_of);
}

void Collectives::direct_reduce(Round& round, uint32_t step, ConstBytes in, Bytes out,
                                const Reduction& op, Rank root) {
  if (round.me != root) {
    round.send(root, step, in);
    return;
  }
  const size_t stride = padded(in.size());
  const Scratch scratch(*this, stride * round.size);
  const auto vector_of = [&](Rank rank) { return scratch.part(rank * stride, in.size()); };
  copy(in, vector_of(root));
  receive_from_all(round, step, vector_of);
  combine_by_rank(op, round.size, out, vector_of);
}

// The first 2 (n - p) ranks, p the power of two below n, act in pairs, the odd one for both.
void Collectives::recursive_doubling(Round& round, ConstBytes in, Bytes data, const Reduction& op) {
  const Scratch scratch(*this, data.size());
  const Bytes other = scratch.bytes();
  Rank power = 1;
  while (power <= round.size / 2) power *= 2;
  const Rank pairs = round.size - power;
  const bool paired = round.me < 2 * pairs;
  const bool apart = !paired && power > 1 && in.data() != data.data();
  if (!apart) copy(in, data);
  constexpr uint32_t kFold = 0;
  constexpr uint32_t kUnfold = 1;
  if (paired && round.me % 2 == 0) {
    round.send(round.me + 1, kFold, data);
    round.receive(round.me + 1, kUnfold, data);
    return;
  }
  if (paired) {
    round.receive(round.me - 1, kFold, other);
    combine(op, data, other, true);
  }
  const Rank self = paired ? round.me / 2 : round.me - pairs;
  uint32_t step = kUnfold + 1;
  for (Rank bit = 1; bit < power; bit *= 2, ++step) {
    const Rank partner = self ^ bit;
    const Rank rank = partner < pairs ? 2 * partner + 1 : partner + pairs;
    if (bit == 1 && apart) {
      // What comes first, where the result is to be: saves copying this rank's own.
      round.exchange(rank, in, rank, data, step);
      combine(op, data, in, self < partner);
      continue;
    }
    round.exchange(rank, data, rank, other, step);
    combine(op, data, other, partner < self);
  }
  if (paired) round.send(round.me - 1, kUnfold, data);
}

void Collectives::reduce_scatter_allgather(Round& round, Bytes data, const Reduction& op) {
  if (round.size == 1) return;
  const Cut blocks(data, op.element_bytes, round.size);
  const Scratch scratch(*this, Cut::largest(data.size(), op.element_bytes, round.size));
  reduce_around_ring(round, blocks, scratch.bytes(), op);
  ring_allgather(round, round.after(1), round.size, [&](Rank block) { return blocks[block]; });
}

}  // namespace stripline::sync
