// NAS FT over an exchange that is free in how it communicates.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <vector>

#include "suites/kernels/nas/ft_share.h"

namespace stripline::suites::nas {

/// What FT needs to have communicated; the rules of all exchanges are in README.md.
///
/// transpose(share): with t = share.transposition(), calls share.columns() for all t.planes planes
/// of the source, then share.rows() for all t.rows rows of each of them; brings every row, from
/// t.source() in the source of its owner, to t.landing() in the landing of its reader (which may be
/// the same rank); then calls share.finish() for all t.lines() lines. How fine is its own affair:
///   *slabs*: when a plane is done, the rows of a reader in it leave together;
///   *pencils*: each row leaves when share.rows() has done it (Bell et al., Optimizing Bandwidth
///   Limited Problems Using One-Sided Communication and Overlap, IPDPS 2006);
///   or lines: a rank fetches some lines from all planes of all ranks, and finishes them while
///   further ones are in flight.
///
/// sum(share, value): over all ranks, the same on all of them.
template <typename E>
concept FtExchange = requires(E& exchange, FtShare& share, FtComplex value) {
  exchange.transpose(share);
  { exchange.sum(share, value) } -> std::same_as<FtComplex>;
};

struct FtResult {
  std::vector<FtComplex> checksums;
  bool transported = false;  ///< Everything that left a rank came where it should.
  bool verified = false;     ///< It was, and the checksums are the reference values.
};

/// One iteration: a time step, transformed back, and its checksum.
template <FtExchange E>
FtComplex iterate_ft(FtShare& share, E& exchange) {
  share.start_iteration();
  exchange.transpose(share);
  return exchange.sum(share, share.checksum());
}

/// The verification after all iterations. That of the specification takes samples: most lines have
/// none, and a wrong number in one of those would not show.
template <FtExchange E>
FtResult verify_ft(FtShare& share, E& exchange, std::vector<FtComplex> checksums) {
  FtResult result;
  const FtComplex departed = exchange.sum(share, share.departed());
  const FtComplex arrived = exchange.sum(share, share.arrived());
  result.transported = std::abs(arrived - departed) <= kFtTolerance * std::abs(departed);
  const auto right = [](double value, double reference) {
    return std::abs((value - reference) / reference) <= kFtTolerance;
  };
  result.verified = result.transported && checksums.size() == share.problem().iterations();
  for (size_t i = 0; result.verified && i < checksums.size(); ++i) {
    const FtComplex& reference = share.problem().checksums[i];
    result.verified = right(checksums[i].real(), reference.real()) &&
                      right(checksums[i].imag(), reference.imag());
  }
  result.checksums = std::move(checksums);
  return result;
}

/// The benchmark: the initial state, its transform, all iterations and the verification. The
/// specification runs the first transform before, untimed.
template <FtExchange E>
FtResult solve_ft(FtShare& share, E& exchange) {
  share.start();
  exchange.transpose(share);
  std::vector<FtComplex> checksums;
  checksums.reserve(share.problem().iterations());
  for (size_t i = 0; i < share.problem().iterations(); ++i) {
    checksums.push_back(iterate_ft(share, exchange));
  }
  return verify_ft(share, exchange, std::move(checksums));
}

}  // namespace stripline::suites::nas
