// What loops over strips and nests have in common besides the closed forms of strip_time.h: what a
// message takes, how much of a computation caches save, and when a search over sizes has ended. For
// the files of this folder.
#pragma once

#include <algorithm>

#include "optimizer/cost/link_costs.h"

namespace stripline::plan::detail {

// A transfer, or several that are in flight together.
struct InFlight {
  double latency = 0;  // from injection to completion
  double serve = 0;    // a peer's transfer: peers do the same

  // A rank that waits serves its peers meanwhile.
  double filled() const { return std::min(latency, serve); }
  double round_trip() const { return latency - filled(); }
};

// What a transfer takes of CPU and network.
struct TransferCosts : InFlight {
  double issue = 0;
  double retire = 0;
  double gap = 0;

  double retire_and_serve() const { return retire + serve; }
  // Until it is complete, if it is waited for.
  double blocking_s() const { return issue + round_trip() + retire_and_serve(); }
};

// One message. The NIC's part takes as many times as long as ranks share it, whose loops do the
// same, and a byte `byte_factor` times, as nodes share links, too. With each message of its own a
// rank `serves` one of a peer's, where that takes its calls. Inlined, so that what is not asked for
// is not worked out.
[[gnu::always_inline]] inline TransferCosts message_costs(const cost::MessageCosts& message,
                                                          double bytes, double nic_ranks,
                                                          double byte_factor, bool serves) {
  const double bytes_s = byte_factor * message.G * bytes;
  return {{2 * message.L + bytes_s, serves ? message.s(bytes) : 0.0},
          message.o(bytes),
          message.r(bytes),
          nic_ranks * message.g + bytes_s};
}

// A computation of `uncut_s`, where `saved_s` are saved by data that stay in a cache: however cheap
// these are, so much of it remains.
inline double compute_left(double uncut_s, double saved_s) {
  constexpr double kLeastCompute = 0.1;
  return std::max(uncut_s - saved_s, kLeastCompute * uncut_s);
}

// A search begins at this many times the size that is expected to be best, the nearest of sizes
// that are a factor of two apart, goes on to smaller ones, and then to larger ones.
inline constexpr double kFirstAbove = 1.5;

// After this many sizes in a row that cannot win, and ever less, those further on of the same
// protocol cannot either: smaller ones cost more to issue, larger ones take longer until the first
// has come.
class SizeTrend {
 public:
  // `last_s`: what the size before the first one takes.
  explicit SizeTrend(double last_s) : last_s_(last_s) {}

  bool is_hopeless() const { return worse_ >= kHopelessSizes; }
  // The next size is the first one of another protocol.
  void begin_protocol() { worse_ = 0; }
  // The next size takes this long, where the best one so far took `best_s`. True if it is worse
  // than that, and than the size before it.
  bool add(double seconds, double best_s) {
    const bool worse = !(seconds < best_s || seconds < last_s_);
    worse_ = worse ? worse_ + 1 : 0;
    last_s_ = seconds;
    return worse;
  }
  // Those further on may be better than this one nevertheless.
  void pardon() { --worse_; }

 private:
  static constexpr int kHopelessSizes = 2;

  double last_s_;
  int worse_ = 0;
};

}  // namespace stripline::plan::detail
