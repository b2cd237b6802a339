// Prefix sums over the ranks. Operands are combined in the order of ranks.
#include <vector>

#include "runtime/sync/collectives.h"

namespace stripline::sync {
namespace {

void combine(const Reduction& op, Bytes into, ConstBytes before) {
  op.combine(into.data(), before.data(), into.size() / op.element_bytes, true, op.function);
}

}  // namespace

void Collectives::scan(Group& group, ConstBytes in, Bytes out, const Reduction& op, bool exclusive,
                       Algorithm algorithm) {
  Round round(transfers_, group,
              {.kind = exclusive ? Collective::exclusive_scan : Collective::inclusive_scan,
               .algorithm = static_cast<uint8_t>(algorithm),
               .bytes = in.size()});
  if (algorithm == Algorithm::linear) {
    linear_scan(round, in, out, op, exclusive);
  } else if (algorithm == Algorithm::direct) {
    direct_scan(round, in, out, op, exclusive);
  } else {
    doubling_scan(round, in, out, op, exclusive);
  }
}

void Collectives::linear_scan(Round& round, ConstBytes in, Bytes out, const Reduction& op,
                              bool exclusive) {
  const size_t bytes = in.size();
  const Scratch scratch(*this, 2 * padded(bytes));
  const Bytes before = scratch.part(0, bytes);
  const Bytes sum = scratch.part(padded(bytes), bytes);
  copy(in, sum);
  if (round.me > 0) {
    round.receive(round.me - 1, 0, before);
    combine(op, sum, before);
  }
  if (round.me + 1 < round.size) round.send(round.me + 1, 0, sum);
  if (!exclusive) {
    copy(sum, out);
  } else if (round.me > 0) {
    copy(before, out);
  }
}

void Collectives::direct_scan(Round& round, ConstBytes in, Bytes out, const Reduction& op,
                              bool exclusive) {
  const size_t stride = padded(in.size());
  const Scratch scratch(*this, stride * (round.me + size_t{1}));
  const auto vector_of = [&](Rank rank) { return scratch.part(rank * stride, in.size()); };
  copy(in, vector_of(round.me));
  // All before the first send: whoever sends waits for no one but receivers.
  std::vector<Round::Receive> receives(round.me);
  for (Rank rank = 0; rank < round.me; ++rank) {
    round.post(rank, 0, vector_of(rank), receives[rank]);
  }
  for (Rank rank = round.me + 1; rank < round.size; ++rank) round.announce(rank, 0, in);
  for (Rank rank = round.me + 1; rank < round.size; ++rank) round.send(rank, 0, in);
  for (Round::Receive& receive : receives) round.wait(receive);
  const Rank count = round.me + (exclusive ? 0 : 1);
  if (count == 0) return;
  copy(vector_of(0), out);
  for (Rank rank = 1; rank < count; ++rank) {
    op.combine(out.data(), vector_of(rank).data(), in.size() / op.element_bytes, false,
               op.function);
  }
}

// After the round of distance d, `sum` covers the 2 d ranks up to this one, as far as they exist.
void Collectives::doubling_scan(Round& round, ConstBytes in, Bytes out, const Reduction& op,
                                bool exclusive) {
  const size_t bytes = in.size();
  const Scratch scratch(*this, 2 * padded(bytes));
  const Bytes before = scratch.part(0, bytes);
  const Bytes sum = scratch.part(padded(bytes), bytes);
  copy(in, sum);
  bool has_result = !exclusive;  // of an exclusive scan: `out` holds something
  uint32_t step = 0;
  for (Rank distance = 1; distance < round.size; distance *= 2, ++step) {
    const bool has_source = round.me >= distance;
    Round::Receive receive;
    if (has_source) round.post(round.me - distance, step, before, receive);
    if (round.me < round.size - distance) round.send(round.me + distance, step, sum);
    if (!has_source) continue;
    round.wait(receive);
    combine(op, sum, before);
    if (!exclusive) continue;
    if (has_result) {
      combine(op, out, before);
    } else {
      copy(before, out);
      has_result = true;
    }
  }
  if (!exclusive) copy(sum, out);
}

}  // namespace stripline::sync
