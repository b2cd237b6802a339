// What the experiments on single operations share: the factor `bytes`, the memory between rank 0
// (initiator) and rank 1 (server), issuing, and the check that data arrived.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <stripline/context.h>

#include "base/result.h"
#include "optimizer/experiment/experiment.h"
#include "suites/session.h"

namespace stripline::suites {

inline constexpr rank_t kInitiator = 0;
inline constexpr rank_t kServer = 1;

enum class Operation { get, put, am };

/// The variants are named "get", "put" and "am".
Operation operation_of(const experiment::Point& point);

/// 8 B to 4 MiB, two sizes per octave: the payload of one operation.
experiment::Factor bytes_factor();
size_t bytes_of(const experiment::Point& point);

/// Payload sizes that active messages can have here, else an error that names the limit.
Status check_am_bytes(Context& context, size_t bytes);

/// Room for puts or gets of `bytes`, several of which may be in flight: slots that successive
/// operations use in turn, in rank 1's segment and in private memory of rank 0.
class TransferArea {
 public:
  /// Collective. `in_flight` operations find a slot each, as far as about 8 MiB allow. Errors:
  /// resource_exhausted, the same on every rank.
  static Result<TransferArea> create(Session& session, Operation operation, size_t bytes,
                                     size_t in_flight);
  /// Collective.
  ~TransferArea();
  TransferArea(TransferArea&& other) noexcept;
  TransferArea& operator=(TransferArea&&) = delete;

  /// Rank 0: starts the i-th operation. Get or put only.
  future issue(size_t i) {
    const size_t at = (i % slots_) * stride_;
    std::byte* mine = private_.data() + at;
    const global_ptr<std::byte> theirs = remote_ + static_cast<std::ptrdiff_t>(at);
    return operation_ == Operation::get ? context_->rget(theirs, mine, bytes_)
                                        : context_->rput(mine, theirs, bytes_);
  }

  /// Rank 0: issues `operations` operations, the 0th to begin with, and waits for all of them.
  void run(size_t operations) {
    in_flight_.resize(operations);
    for (size_t i = 0; i < operations; ++i) in_flight_[i] = issue(i);
    for (const future& one : in_flight_) one.wait();
  }

  /// Rank 0: seconds that a blocking operation takes, the median of a few.
  double blocking_s();

  /// Collective: what rank 0 finds by repeating `repetition`, which takes its own times, checked.
  experiment::SampleSeries measure(Session& session, const experiment::StopRule& rule,
                                   size_t operations, const std::function<double()>& repetition);

  /// Collective, after a series was measured: spoils the destination, lets rank 0 make `operations`
  /// operations, and notes on every rank whether each slot they used holds what was sent.
  void check(size_t operations, experiment::SampleSeries& series);

 private:
  bool arrives(size_t operations);

  TransferArea(Context& context, Operation operation, size_t bytes, size_t slots,
               global_ptr<std::byte> array);

  Context* context_;
  Operation operation_;
  size_t bytes_;
  size_t stride_;
  size_t slots_;
  global_ptr<std::byte> array_;   // this rank's part
  global_ptr<std::byte> remote_;  // rank 1's part
  std::vector<std::byte> private_;
  std::vector<future> in_flight_;  // run()'s, kept so that only its first one allocates
};

}  // namespace stripline::suites
