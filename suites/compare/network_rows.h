// What is compared through a network: which row by which contender beside which row of another one,
// and what is asked of the ratio of their times. Data.
#pragma once

#include <array>
#include <cstddef>

#include "suites/harness/asked.h"
#include "suites/harness/rows.h"

namespace stripline::suites::compare {

/// The contenders of a network, in their order.
enum NetworkContender : size_t { kOurs, kOursByMessages, kBare, kSocket };

struct NetworkRow {
  const char* name;
  size_t ours;          ///< which contender the runtime is
  harness::Row row;     ///< what it does
  size_t other;         ///< beside which one
  harness::Row beside;  ///< what that does
  double most;          ///< largest ratio that is accepted; 0: none stated
  const char* baseline;
};

inline constexpr harness::Row kGet{harness::Operation::get, 8, 200};
inline constexpr harness::Row kPut{harness::Operation::put, 8, 200};
inline constexpr harness::Row kFetchAdd{harness::Operation::fetch_add, 8, 200};
inline constexpr harness::Row kPuts{harness::Operation::put_window, 8, 2000, 1, 64};
inline constexpr harness::Row kCombined{harness::Operation::put_many, 8, 20000, 1, 20000};

/// Large ones, of which a window is in flight.
constexpr harness::Row flood(harness::Operation operation, size_t kib, size_t count,
                             size_t window) {
  return {operation, kib << 10, count, 1, window};
}
inline constexpr harness::Row kPuts64 = flood(harness::Operation::put_flood, 64, 256, 16);
inline constexpr harness::Row kGets64 = flood(harness::Operation::get_flood, 64, 256, 16);
inline constexpr harness::Row kPuts1024 = flood(harness::Operation::put_flood, 1024, 32, 4);
inline constexpr harness::Row kGets1024 = flood(harness::Operation::get_flood, 1024, 32, 4);

inline constexpr std::array<NetworkRow, 11> kNetworkRows = {{
    {"get 8 B", kOurs, kGet, kBare, kGet, asked::compare::kLatency, "bare libfabric"},
    {"put 8 B", kOurs, kPut, kBare, kPut, asked::compare::kLatency, "bare libfabric"},
    {"get 8 B", kOurs, kGet, kSocket, kGet, 0, "TCP ping-pong"},
    {"fetch-add, provider", kOurs, kFetchAdd, kBare, kFetchAdd, asked::compare::kLatency,
     "bare libfabric"},
    {"fetch-add, messages", kOursByMessages, kFetchAdd, kBare, kFetchAdd, 0, "bare libfabric"},
    {"put 8 B, window 64", kOurs, kPuts, kBare, kPuts, asked::compare::kRate, "bare libfabric"},
    {"put 8 B, combined", kOurs, kCombined, kBare, kPuts, asked::compare::kCombining,
     "bare libfabric, window 64"},
    {"put 64 KiB, window 16", kOurs, kPuts64, kBare, kPuts64, asked::compare::kBandwidth,
     "bare libfabric"},
    {"get 64 KiB, window 16", kOurs, kGets64, kBare, kGets64, asked::compare::kBandwidth,
     "bare libfabric"},
    {"put 1 MiB, window 4", kOurs, kPuts1024, kBare, kPuts1024, asked::compare::kBandwidth,
     "bare libfabric"},
    {"get 1 MiB, window 4", kOurs, kGets1024, kBare, kGets1024, asked::compare::kBandwidth,
     "bare libfabric"},
}};

}  // namespace stripline::suites::compare
