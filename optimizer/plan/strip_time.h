// Closed-form times of strip-mined loops under the physical model of docs/measurement.md. A loop
// moves m strips; all but the last are alike. Each time is the longest of a few chains of dependent
// steps through the schedule:
//
//   CPU bound      the processor never waits after the first arrival
//   NIC bound      messages leave gap by gap; the last one is waited for
//   latency bound  a window of k messages is refilled only when one has come back
//
// and of the same chains ending in the exposed arrival of one of the last strips, which matters
// when the last strip is shorter. Every chain really occurs, so a time is never above that of an
// exact simulation; the tests bound how far it can be below.
//
// Gets in flight to several ranks at once, while the loops of other ranks do the same, are served
// in the order of their arrival: every rank's first strips may come after the others' first blocks,
// the transfers as a whole take no longer. `lag` bounds by how much. What came meanwhile from
// further ranks is computed on only after the last strip of the first rank. Peers that have to call
// for it serve nothing while they compute, which adds to `lag` and to `others`.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace stripline::plan {

/// What the schedules are made of, in seconds. `_last` belongs to the last strip.
struct StripTerms {
  double strips = 1;           ///< m
  double strips_per_peer = 1;  ///< of them, consecutive ones of one rank
  double window = 1;           ///< k, operations in flight (schedule B)
  double queue = 1;            ///< Q, operations the NIC holds before issuing blocks
  double o = 0, o_last = 0;    ///< issue
  double r = 0, r_last = 0;    ///< retire, and serve a peer's message, where calls do that
  /// Injection to completion on an idle network, without what serving fills.
  double round_trip = 0, round_trip_last = 0;
  /// What serving fills: a message takes round_trip and this.
  double filled = 0;
  double gap = 0;                  ///< NIC occupancy
  double work = 0, work_last = 0;  ///< computation and engine overhead of one strip
  /// Gets: independent local work done once the first messages are in flight.
  double own_work = 0;
  /// Gets: how much later the strips of the first rank come when all that is in flight at first
  /// comes with them, or because the peer does something else first.
  double lag = 0;
  /// Gets, schedule B: how much later a strip comes for what the peer does before it serves it, as
  /// the messages of others, where a window waits for it.
  double others = 0;
  /// The first message of schedule A for gets, which carries the halo.
  double o_first = 0, round_trip_first = 0, gap_first = 0;
};

/// A window is this many times what suffices on an idle network, as others' messages come between.
inline constexpr uint32_t kSlack = 2;

/// No window is wider.
inline constexpr uint32_t kMostWindow = 65536;

/// The window, in strips, that does not limit a pipeline, with slack: of strips that come back
/// `cycle_s` after they were issued, while one is done every `step_s`. More in flight would wait,
/// and let those of other ranks wait, for nothing.
inline uint32_t ample_window(double cycle_s, double step_s) {
  if (!(step_s > 0)) return kSlack;
  const double window = kSlack * std::max(1.0, cycle_s / step_s);
  return window < kMostWindow ? static_cast<uint32_t>(std::ceil(window)) : kMostWindow;
}

namespace strip_time {

inline double longest(double a, double b) { return a > b ? a : b; }
template <typename... Rest>
double longest(double a, double b, Rest... rest) {
  return longest(longest(a, b), rest...);
}

/// Gets, schedule A: issue all, then per strip wait, retire, compute.
inline double get_all_issued(const StripTerms& t) {
  const double m = t.strips;
  const double step = t.r + t.work;
  const double last = t.r_last + t.work_last;
  const double all_work = (m - 1) * step + last;
  if (m < 2) return t.o_first + longest(t.round_trip_first + t.lag, t.own_work) + last;
  const double first_arrival = t.o_first + t.round_trip_first + t.lag;

  double issued = t.o_first + (m - 2) * t.o + t.o_last;
  double time = issued + t.own_work + all_work;
  if (m > t.queue) {  // the last one waits for the return of the one Q before it, and so on
    const double pace = longest(t.o, t.gap);
    const auto rounds = static_cast<double>(static_cast<int64_t>((m - 1) / t.queue));
    const double rest = (m - 1) - rounds * t.queue;
    // A place is free when a message has come. It is retired later, with all others; but who waits
    // for a place serves meanwhile.
    const double latency = t.round_trip + t.filled;
    issued = longest(
        issued, t.o_first + t.round_trip_first + t.filled + (m - t.queue - 1) * pace + t.o_last,
        t.o_first + rounds * (latency + t.o) + rest * pace - t.o + t.o_last);
    time = longest(time, issued + t.own_work + all_work - (m - t.queue) * t.filled);
  }
  // Injection of strip i, counted from 1, once the CPU or the NIC allows it.
  const auto injected = [&](double i) {
    return t.o_first + longest((i - 1) * t.o, t.gap_first + (i - 2) * t.gap);
  };
  const double last_injected =
      longest(issued, t.o_first + (m - 2) * t.o + (m > 2 ? t.gap : t.gap_first),
              t.o_first + t.gap_first + (m - 2) * t.gap);
  time = longest(time, first_arrival + all_work, last_injected + t.round_trip_last + last);
  if (t.lag > 0) {
    time = longest(time, first_arrival + (t.strips_per_peer - 1) * t.gap +
                             (m - t.strips_per_peer) * step + last);
  }
  if (m > 2) {
    time = longest(time, injected(2) + t.round_trip + all_work - step,
                   injected(m - 1) + t.round_trip + step + last);
  }
  return time;
}

/// Gets, schedule B: issue k; then per strip wait, retire, issue the next one, compute. k < m.
inline double get_pipelined(const StripTerms& t) {
  const double m = t.strips;
  const double k = t.window;
  const double drain = t.r + t.work;  // a step that issues nothing
  const double step = drain + t.o;
  const double last = t.r_last + t.work_last;
  // From one injection to the one it enables.
  const double cycle = t.round_trip + t.others + t.r + t.o;
  const auto cycles = static_cast<double>(static_cast<int64_t>((m - 1) / k));  // at least one
  const double rest = (m - 1) - cycles * k;
  // The first strip is there, and the CPU free to retire it.
  const double start = longest(k * t.o + t.own_work, t.o + t.round_trip + t.lag);
  const double saved = t.o - t.o_last;  // the issue of a shorter last message
  const double cpu = start + (m - k) * step - saved;

  return longest(
      cpu + (k - 1) * drain + last, cpu - t.work + t.round_trip_last + last,
      t.o + (m - 1) * t.gap + t.round_trip_last + last,
      t.o + (m - 2) * t.gap + t.round_trip + drain + last,
      start + t.r + t.o_last + (m - k - 1) * t.gap + t.round_trip_last + last,
      t.o + cycles * cycle + rest * longest(step, t.gap, t.o) - saved + t.round_trip_last + last,
      start - t.round_trip - t.others + cycles * cycle + rest * step - saved + t.round_trip_last +
          last,
      rest > 0 ? start + cycles * cycle + rest * drain + last : 0.0,
      t.lag > 0 ? t.o + t.round_trip + t.lag + (t.strips_per_peer - 1) * t.gap +
                      (m - t.strips_per_peer) * drain + last
                : 0.0,
      start + (cycles - 1) * cycle + (rest + 1) * step - saved + (k - 1) * drain + last);
}

/// Puts, schedule A: compute and issue strip by strip, each from its own buffer, then wait for all
/// and retire them. Where a network needs calls to go on, some are retired early, instead of
/// while the last one is in flight: the loop takes up to a round trip longer.
inline double put_all_issued(const StripTerms& t) {
  const double m = t.strips;
  const double step = t.work + t.o;
  const double last = t.work_last + t.o_last;
  if (m < 2) return last + t.round_trip_last + t.r_last;
  double issued = (m - 1) * step + last;
  if (m > t.queue) issued = longest(issued, step + (m - t.queue) * t.gap + last);
  const double last_injected = longest(issued, (m - 1) * step + t.gap, step + (m - 1) * t.gap);
  return longest(issued + (m - 1) * t.r + t.r_last, step + t.round_trip + (m - 1) * t.r + t.r_last,
                 step + (m - 2) * longest(step, t.gap) + t.round_trip + t.r + t.r_last,
                 last_injected + t.round_trip_last + t.r_last);
}

/// Puts, schedule B: a ring of k buffers; per strip wait for the buffer's last put, retire it,
/// compute, issue. k < m.
inline double put_pipelined(const StripTerms& t) {
  const double m = t.strips;
  const double k = t.window;
  const double fill = t.work + t.o;  // a step that waits for nothing
  const double step = fill + t.r;
  const double last = t.work_last + t.o_last;
  const double cycle = fill + t.round_trip + t.r;
  const auto cycles = static_cast<double>(static_cast<int64_t>((m - 1) / k));  // at least one
  const double rest = (m - 1) - cycles * k;
  const double start = longest(k * fill, fill + t.round_trip);
  // A rank that waits for one put retires all that have come back: at the end there are, on
  // average, half as many left as between a full ring and what one round trip holds.
  const double in_flight = t.round_trip < k * step ? t.round_trip / step : k;
  const double retired = longest(0.0, m - 1 - (k + in_flight) / 2);

  return longest(
      (m - 1) * step + last + t.r_last,  // the CPU's work
      (m - 1) * fill + retired * t.r + last + t.round_trip_last + t.r_last,
      start + (m - k - 1) * step + t.r + last + (k - 1) * t.r + t.r_last,
      start + (m - k - 1) * step + t.r + last + t.round_trip_last + t.r_last,
      (m - 1 > k ? start + (m - 1 - k) * step : k * fill) + t.round_trip + t.r + t.r_last,
      fill + (m - 1) * t.gap + t.round_trip_last + t.r_last,
      fill + (m - 2) * t.gap + t.round_trip + t.r + t.r_last,
      fill + cycles * cycle + rest * longest(step, t.gap) - (fill - last) + t.round_trip_last +
          t.r_last,
      rest > 0 ? fill + t.round_trip + cycles * cycle + rest * t.r + t.r_last : 0.0);
}

}  // namespace strip_time
}  // namespace stripline::plan
