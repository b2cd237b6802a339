// Every kind of operation that the runtime asks of a network, tried between two ranks and verified:
// what a provider says that it offers is not always what it does.
#pragma once

#include <string>

#include "base/result.h"
#include "runtime/fabric/fabric.h"

namespace stripline::machine {

/// The segment that a rank of a trial has.
inline constexpr size_t kTrialSegmentBytes = size_t{4} << 20;

/// What went well.
struct Trial {
  double seconds = 0;
  std::string operations;  ///< "puts, gets, lists of pieces, atomic operations, ..."
};

/// One of two ranks, both of which call this after connect(): puts and gets from 8 bytes to 1 MiB,
/// lists of as many pieces as the provider takes, atomic operations with and without a result, puts
/// with a signal, puts that tell their target, and messages of all sizes. What the provider does
/// not offer, and the runtime therefore does by other means, is left out. Sets the message sink.
/// Errors: data_loss (bytes arrived changed), deadline_exceeded (an operation did not complete, or
/// the other rank did not come so far); each names the operation. Failures of the fabric go to its
/// failure handler.
Result<Trial> try_operations(fabric::Fabric& mine, fabric::Rank rank, double timeout_s);

}  // namespace stripline::machine
