// Every rank has something for every rank.
#pragma once

#include <algorithm>
#include <array>

#include "runtime/sync/collectives.h"

namespace stripline::sync {

/// Receives of a direct exchange that are posted at a time.
inline constexpr Rank kDirectWindow = 32;

// `out_of(r)` is for rank r, `in_of(r)` where its own goes. In round d each rank sends to the rank
// d after it and receives from the rank d before it, so that no rank is the target of two at a
// time. `window` rounds at a time are in flight: their receives are posted before the first of them
// is sent. With the lowest of all ranks' rounds the messages of that round can always be delivered.
template <typename OutOf, typename InOf>
void exchange_all(Round& round, Rank window, const OutOf& out_of, const InOf& in_of) {
  copy(out_of(round.me), in_of(round.me));
  std::array<Round::Receive, kDirectWindow> receives;
  for (Rank first = 1; first < round.size; first += window) {
    const Rank count = std::min(window, round.size - first);
    for (Rank i = 0; i < count; ++i) {
      const Rank source = round.before(first + i);
      round.post(source, 0, in_of(source), receives[i]);
    }
    for (Rank i = 0; i < count; ++i) {
      const Rank target = round.after(first + i);
      round.announce(target, 0, out_of(target));
    }
    for (Rank i = 0; i < count; ++i) {
      const Rank target = round.after(first + i);
      round.send(target, 0, out_of(target));
    }
    for (Rank i = 0; i < count; ++i) round.wait(receives[i]);
  }
}

/// What each other rank sends to this one goes to `in_of(rank)`.
template <typename InOf>
void receive_from_all(Round& round, uint32_t step, const InOf& in_of) {
  std::array<Round::Receive, kDirectWindow> receives;
  for (Rank first = 1; first < round.size; first += kDirectWindow) {
    const Rank count = std::min(kDirectWindow, round.size - first);
    for (Rank i = 0; i < count; ++i) {
      const Rank source = round.after(first + i);
      round.post(source, step, in_of(source), receives[i]);
    }
    for (Rank i = 0; i < count; ++i) round.wait(receives[i]);
  }
}

/// Each other rank gets `out_of(rank)` from this one; all are announced before the first is sent.
template <typename OutOf>
void send_to_all(Round& round, uint32_t step, const OutOf& out_of) {
  for (Rank i = 1; i < round.size; ++i) {
    const Rank target = round.after(i);
    round.announce(target, step, out_of(target));
  }
  for (Rank i = 1; i < round.size; ++i) {
    const Rank target = round.after(i);
    round.send(target, step, out_of(target));
  }
}

}  // namespace stripline::sync
