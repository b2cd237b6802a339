// Puts with a signal: the flag is put when the data are known to be visible. No provider has to
// keep any order for that.
#include <algorithm>
#include <iterator>

#include "runtime/fabric/atomic_apply.h"
#include "runtime/fabric/ofi/ofi_rank.h"

namespace stripline::fabric::ofi {

void OfiRank::put_signal(Rank target, uint64_t offset, const Memory& source, const Signal& signal,
                         Counter& counter) {
  if (const std::span<std::byte> reached = reachable_segment(target); !reached.empty()) {
    assert_bounds({OperationKind::put, target, sizeof(uint64_t)}, signal.offset);
    put(target, offset, source, counter);
    raise_flag(reached.data() + signal.offset, signal.value);
    return;
  }
  const auto is_free = [](const SignalledPut& one) { return one.counter == nullptr; };
  auto place = std::find_if(signalled_puts_.begin(), signalled_puts_.end(), is_free);
  // At the end, a deque grows without moving what it holds.
  if (place == signalled_puts_.end()) {
    signalled_puts_.emplace_back();
    place = std::prev(signalled_puts_.end());
  }
  *place = {.target = target, .signal = signal, .counter = &counter};
  ++counter.pending;
  ++active_signals_;
  put(target, offset, source, place->data);
}

void OfiRank::advance_signals() {
  for (SignalledPut& one : signalled_puts_) {
    if (one.counter == nullptr) continue;
    if (!one.raised && one.data.pending == 0) {
      one.raised = true;
      put(one.target, one.signal.offset,
          {reinterpret_cast<const std::byte*>(&one.signal.value), sizeof one.signal.value},
          one.flag);
    }
    if (one.raised && one.flag.pending == 0) {
      --one.counter->pending;
      one.counter = nullptr;
      --active_signals_;
    }
  }
}

}  // namespace stripline::fabric::ofi
