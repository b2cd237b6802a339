// NAS IS over an exchange that is free in how it communicates.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "suites/kernels/nas/is_share.h"

namespace stripline::suites::nas {

/// What IS needs to have communicated; the rules of all exchanges are in README.md.
///
/// sum_counts(share): writes the sums over all ranks of their counts() to totals(), where those of
/// this rank are already, and calls share.scatter() for all own keys, which can go on while the
/// counts are in flight.
///
/// trade_segments(share): for every rank, itself included, calls share.set_segment() with the
/// segment that this rank finds for it in that rank's shared memory, at segments_offset() + 2 me().
///
/// trade_keys(share): for every rank, itself included, brings segment(rank).count keys from element
/// segment(rank).begin on of that rank's outgoing keys to incoming() from place_of(rank) on, and
/// calls share.count_keys() for all of incoming(). Who sends instead of fetching finds the place in
/// the receiver's shared memory, at places_offset() + me().
///
/// sum(share, value): the sum over all ranks; exact for whole numbers below 2^53.
///
/// from_previous(share, value): the `value` of rank me() - 1; anything on rank 0.
template <typename E>
concept IsExchange = requires(E& exchange, IsShare& share, double value) {
  exchange.sum_counts(share);
  exchange.trade_segments(share);
  exchange.trade_keys(share);
  { exchange.sum(share, value) } -> std::same_as<double>;
  { exchange.from_previous(share, value) } -> std::same_as<double>;
};

struct IsResult {
  size_t passed_tests = 0;  ///< of kIsTests * kIsIterations
  bool sorted = false;      ///< The keys of the last iteration are all there and in order.
  bool unchanged = false;   ///< No key was lost or changed in flight in any iteration.
  bool verified = false;    ///< all of this
};

/// One iteration, from 1 to kIsIterations.
template <IsExchange E>
void iterate_is(IsShare& share, E& exchange, size_t iteration) {
  share.count_buckets(iteration);
  exchange.sum_counts(share);
  share.divide();
  exchange.trade_segments(share);
  share.place();
  exchange.trade_keys(share);
  share.rank_keys(iteration);
}

/// The verification after all iterations: that of the specification, and that no key was changed in
/// transit, which the published ranks alone would not always show. The same on all ranks.
template <IsExchange E>
IsResult verify_is(IsShare& share, E& exchange) {
  bool sorted = share.sort();
  const double last_key = exchange.from_previous(share, static_cast<double>(share.last_key()));
  const double range_end = exchange.from_previous(share, static_cast<double>(share.range_end()));
  if (share.me() != 0) {
    sorted =
        sorted && share.follows(static_cast<int64_t>(last_key), static_cast<int64_t>(range_end));
  }
  IsResult result;
  const double keys = exchange.sum(share, static_cast<double>(share.sorted_keys()));
  result.sorted = exchange.sum(share, sorted ? 0 : 1) == 0 &&
                  keys == static_cast<double>(share.problem().keys());
  result.passed_tests =
      static_cast<size_t>(exchange.sum(share, static_cast<double>(share.passed_tests())));
  const double imbalance = exchange.sum(share, static_cast<double>(share.imbalance()));
  result.unchanged = std::fmod(imbalance, 0x1p40) == 0;
  result.verified =
      result.sorted && result.unchanged && result.passed_tests == kIsTests * kIsIterations;
  return result;
}

/// The benchmark: all iterations from the start, and the verification. The specification runs
/// iteration 1 before, untimed.
template <IsExchange E>
IsResult solve_is(IsShare& share, E& exchange) {
  share.start();
  for (size_t i = 1; i <= kIsIterations; ++i) iterate_is(share, exchange, i);
  return verify_is(share, exchange);
}

}  // namespace stripline::suites::nas
