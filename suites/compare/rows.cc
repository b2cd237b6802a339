#include "suites/compare/rows.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>

#include <stripline/atomic.h>

#include "optimizer/stats/order.h"
#include "runtime/fabric/ofi/monotonic_clock.h"
#include "suites/future_window.h"

namespace stripline::suites::compare {
namespace {

using fabric::ofi::monotonic_s;

constexpr size_t kLatencyOperations = 200;  // in a batch

/// The median over the operations of a batch: one preemption of either process must not decide.
template <typename Operation>
double latency_s(const Operation& operation) {
  std::vector<double> seconds(kLatencyOperations);
  for (double& value : seconds) {
    const double begin_s = monotonic_s();
    operation();
    value = monotonic_s() - begin_s;
  }
  return stats::median(seconds);
}

class NetworkRows final : public RowWork {
 public:
  NetworkRows(Systems& systems, global_ptr<std::byte> array)
      : ours_(*systems.ours),
        bare_(systems.bare),
        sockets_(systems.sockets),
        there_(ours_.on_rank(array, 1)),
        source_(kMemoryBytes),
        sink_(kMemoryBytes) {
    for (size_t i = 0; i < source_.size(); ++i)
      source_[i] = static_cast<std::byte>(i * 7 + i / 256);
    std::mt19937_64 random(1);
    for (size_t& place : places_) place = random() % (kMemoryBytes / 8);
  }

  std::vector<Row> rows() override {
    std::vector<Row> all;
    latencies(all);
    atomics(all);
    rates(all);
    bandwidths(all);
    return all;
  }

 private:
  static constexpr size_t kRateOperations = 2000;
  static constexpr size_t kCombinedOperations = 20000;
  static constexpr size_t kRateWindow = 64;

  void latencies(std::vector<Row>& rows) {
    const Side bare_get{System::bare,
                        [this] {
                          return latency_s([this] {
                            bare_.get(sink_.data(), 0, 8);
                            bare_.wait_until_in_flight(0);
                          });
                        },
                        [] { return true; }};
    rows.push_back(
        {"get 8 B", "latency", 1, "s", 1.05, "bare libfabric",
         Side{System::ours,
              [this] { return latency_s([this] { ours_.rget(there_, sink_.data(), 8).wait(); }); },
              [] { return true; }},
         bare_get});
    rows.push_back({"put 8 B", "latency", 1, "s", 1.05, "bare libfabric",
                    Side{System::ours,
                         [this] {
                           next_pattern();
                           return latency_s(
                               [this] { ours_.rput(source_.data(), there_, 8).wait(); });
                         },
                         [this] { return ours_hold(8); }},
                    Side{System::bare,
                         [this] {
                           next_pattern();
                           return latency_s([this] {
                             bare_.put(source_.data(), 0, 8);
                             bare_.wait_until_in_flight(0);
                           });
                         },
                         [this] { return bare_holds(8); }}});
    rows.push_back(
        {"get 8 B", "latency", 1, "s", 0, "TCP ping-pong",
         Side{System::ours,
              [this] { return latency_s([this] { ours_.rget(there_, sink_.data(), 8).wait(); }); },
              [] { return true; }},
         Side{System::sockets, [this] { return latency_s([this] { sockets_.ping(); }); },
              [] { return true; }}});
  }

  // Without atomic operations of the provider there is nothing to compare with.
  void atomics(std::vector<Row>& rows) {
    if (!bare_.has_atomics()) return;
    const auto counter = there_.reinterpret<uint64_t>() + kMemoryBytes / 8;
    for (const AtomicPath path : {AtomicPath::provider, AtomicPath::message}) {
      const atomic_domain<uint64_t> domain(ours_, path);
      rows.push_back({path == AtomicPath::provider ? "fetch-add, provider" : "fetch-add, messages",
                      "latency", 1, "s", (path == AtomicPath::provider ? 1.05 : 0),
                      "bare libfabric",
                      Side{System::ours,
                           [this, domain, counter] {
                             before_ = domain.load(counter);
                             return latency_s([&] { domain.fetch_add(counter, 3); });
                           },
                           [this, domain, counter] {
                             return domain.load(counter) == before_ + 3 * kLatencyOperations;
                           }},
                      Side{System::bare,
                           [this] {
                             uint64_t zero = 0;
                             fetch_add(zero, before_);
                             return latency_s([this] {
                               uint64_t three = 3;
                               uint64_t previous = 0;
                               fetch_add(three, previous);
                             });
                           },
                           [this] {
                             uint64_t zero = 0;
                             uint64_t now = 0;
                             fetch_add(zero, now);
                             return now == before_ + 3 * kLatencyOperations;
                           }}});
    }
  }

  Side bare_put_rate(size_t bytes, size_t operations, size_t window) {
    return {System::bare,
            [this, bytes, operations, window] {
              next_pattern();
              return per_operation_s(operations, [&] {
                for (size_t i = 0; i < operations; ++i) {
                  bare_.wait_until_in_flight(window - 1);
                  const size_t place = place_of(i, bytes);
                  bare_.put(source_.data() + place, place, bytes);
                }
                bare_.wait_until_in_flight(0);
              });
            },
            [this, bytes] { return bare_holds(place_of(0, bytes), bytes); }};
  }

  Side ours_put_rate(size_t bytes, size_t operations, size_t window) {
    return {System::ours,
            [this, bytes, operations, window] {
              next_pattern();
              return per_operation_s(operations, [&] {
                FutureWindow futures(window);
                for (size_t i = 0; i < operations; ++i) {
                  const size_t place = place_of(i, bytes);
                  futures.push([&] {
                    return ours_.rput(source_.data() + place,
                                      there_ + static_cast<std::ptrdiff_t>(place), bytes);
                  });
                }
                futures.drain();
              });
            },
            [this, bytes] { return ours_hold(place_of(0, bytes), bytes); }};
  }

  void rates(std::vector<Row>& rows) {
    rows.push_back({"put 8 B, window 64", "rate", 1, "1/s", 1 / 0.95, "bare libfabric",
                    ours_put_rate(8, kRateOperations, kRateWindow),
                    bare_put_rate(8, kRateOperations, kRateWindow)});
    rows.push_back({"put 8 B, combined", "rate", 1, "1/s", 0.1, "bare libfabric, window 64",
                    Side{System::ours,
                         [this] {
                           next_pattern();
                           return per_operation_s(kCombinedOperations, [&] {
                             for (size_t i = 0; i < kCombinedOperations; ++i) {
                               const size_t place = place_of(i, 8);
                               ours_.rput_nbi(source_.data() + place,
                                              there_ + static_cast<std::ptrdiff_t>(place), 8);
                             }
                             ours_.fence();
                           });
                         },
                         [this] { return ours_hold(place_of(kCombinedOperations - 1, 8), 8); }},
                    bare_put_rate(8, kRateOperations, kRateWindow)});
  }

  void bandwidths(std::vector<Row>& rows) {
    struct Flood {
      const char* size;
      size_t bytes;
      size_t operations;
      size_t window;
    };
    for (const Flood& flood :
         {Flood{"64 KiB", size_t{64} << 10, 256, 16}, Flood{"1 MiB", size_t{1} << 20, 32, 4}}) {
      const double bytes = static_cast<double>(flood.bytes);
      const std::string window = ", window " + std::to_string(flood.window);
      rows.push_back({std::string("put ") + flood.size + window, "bandwidth", bytes, "B/s",
                      1 / 0.98, "bare libfabric",
                      ours_put_rate(flood.bytes, flood.operations, flood.window),
                      bare_put_rate(flood.bytes, flood.operations, flood.window)});
      rows.push_back({std::string("get ") + flood.size + window, "bandwidth", bytes, "B/s",
                      1 / 0.98, "bare libfabric",
                      Side{System::ours,
                           [this, flood] {
                             std::fill(sink_.begin(), sink_.end(), std::byte{0});
                             return per_operation_s(flood.operations, [&] {
                               FutureWindow futures(flood.window);
                               for (size_t i = 0; i < flood.operations; ++i) {
                                 const size_t place = place_of(i, flood.bytes);
                                 futures.push([&] {
                                   return ours_.rget(there_ + static_cast<std::ptrdiff_t>(place),
                                                     sink_.data() + place, flood.bytes);
                                 });
                               }
                               futures.drain();
                             });
                           },
                           [this, flood] {
                             const std::vector<std::byte> got = sink_;
                             return ours_hold(0, flood.bytes) &&
                                    std::equal(
                                        got.begin(),
                                        got.begin() + static_cast<std::ptrdiff_t>(flood.bytes),
                                        sink_.begin());
                           }},
                      Side{System::bare,
                           [this, flood] {
                             std::fill(sink_.begin(), sink_.end(), std::byte{0});
                             return per_operation_s(flood.operations, [&] {
                               for (size_t i = 0; i < flood.operations; ++i) {
                                 bare_.wait_until_in_flight(flood.window - 1);
                                 const size_t place = place_of(i, flood.bytes);
                                 bare_.get(sink_.data() + place, place, flood.bytes);
                               }
                               bare_.wait_until_in_flight(0);
                             });
                           },
                           [] { return true; }}});
    }
  }

  void fetch_add(uint64_t& operand, uint64_t& previous) {
    bare_.fetch_add(&operand, &previous, kMemoryBytes - 8);
    bare_.wait_until_in_flight(0);
  }

  // Where the i-th operation of a batch goes: small ones anywhere, large ones in turn.
  size_t place_of(size_t i, size_t bytes) const {
    if (bytes == 8) return places_[i % places_.size()] * 8;
    return i % (kMemoryBytes / bytes) * bytes;
  }

  // Other data than the batch before wrote.
  void next_pattern() {
    const auto change = static_cast<std::byte>(++salt_ | 1);
    for (const size_t place : places_) source_[place * 8] ^= change;
    for (size_t i = 0; i < kMemoryBytes; i += 4096) source_[i + 1] ^= change;
  }

  bool ours_hold(size_t place, size_t bytes) {
    ours_.rget(there_ + static_cast<std::ptrdiff_t>(place), sink_.data() + place, bytes).wait();
    return agrees(place, bytes);
  }
  bool ours_hold(size_t bytes) { return ours_hold(0, bytes); }
  bool bare_holds(size_t place, size_t bytes) {
    bare_.get(sink_.data() + place, place, bytes);
    bare_.wait_until_in_flight(0);
    return agrees(place, bytes);
  }
  bool bare_holds(size_t bytes) { return bare_holds(0, bytes); }
  bool agrees(size_t place, size_t bytes) const {
    const auto at = static_cast<std::ptrdiff_t>(place);
    return std::equal(sink_.begin() + at, sink_.begin() + at + static_cast<std::ptrdiff_t>(bytes),
                      source_.begin() + at);
  }

  Context& ours_;
  BareRank& bare_;
  SocketPair& sockets_;
  global_ptr<std::byte> there_;
  std::vector<std::byte> source_;
  std::vector<std::byte> sink_;
  std::vector<size_t> places_ = std::vector<size_t>(4096);
  uint64_t before_ = 0;
  uint8_t salt_ = 0;
};

}  // namespace

std::unique_ptr<RowWork> network_rows(Systems& systems, global_ptr<std::byte> array) {
  return std::make_unique<NetworkRows>(systems, array);
}

}  // namespace stripline::suites::compare
