// How the single reads and writes of a program inside of a region are carried out
// (<stripline/fine.h>; Chen, Optimizing PGAS Programs for Cluster Architectures, 2007, chapter 6).
// With c seconds of computing, R reads of n bytes which make B boxes of b bytes where those beside
// each other are fetched together, in K bursts, after each of which the program waits, and W puts
// of m bytes,
//
//   blocking        c + R (o + 2 L + G n + r) + W (o + 2 L + G m + r)
//   single          c + K flight(R / K, n) + puts
//   boxes           c + K flight(B / K, b) + puts
//   lists           c + K list(R / K, n) + puts
//
// Where each value is used before the next one is read, reads can be neither single nor lists, and
// boxes are read with their neighbourhoods: those of the B that serve none of the R reads are what
// it costs.
//
// Here flight(k, s) is one blocking get of s bytes and, for each of the other k - 1, what issuing
// and retiring it takes, or its gap, or a round trip over the operations in flight, whichever is
// longest; list() is what transfers of many regions take, one for each of the ranks that a burst
// reads from (list_time.h); and puts, which are not waited for one by one, are W (o + r + copy(m))
// and the last one's 2 L. Ranks that share a NIC have gaps as many times as long.
#pragma once

#include <cstdint>

#include "optimizer/plan/compiled_model.h"
#include "optimizer/plan/decision.h"
#include "optimizer/plan/methods.h"
#include "optimizer/plan/surroundings.h"

namespace stripline::plan {

/// The distance below which two reads are fetched as one where no model knows better: Chen, section
/// 6.5.
inline constexpr uint64_t kUsualFineGapBytes = 1024;
/// The most that is fetched as one because of reads beside each other, which bounds the memory that
/// reads of a few bytes may take.
inline constexpr uint64_t kFineBoxBytes = uint64_t{16} << 10;
/// What is fetched with a read whose value is used at once, where no model knows better: a page.
inline constexpr uint64_t kUsualFineBlockBytes = 4096;

/// What a rank does in a region, out of reach of loads and stores.
struct FineRequest {
  uint64_t reads = 0;  ///< without those that repeat an earlier one
  uint64_t read_bytes = 8;
  uint64_t boxes = 0;      ///< that they make; at most one for each
  uint64_t box_bytes = 8;  ///< of each, in the mean
  uint64_t bursts = 1;     ///< times that the program waits for reads; at least 1
  uint32_t ranks = 1;      ///< that a burst reads from, in the mean; at least 1
  uint64_t writes = 0;     ///< those of neighbouring memory, in order, are one
  uint64_t write_bytes = 8;
  double compute_s = 0;  ///< beside all that
  uint32_t in_flight = 64;
  bool at_once = false;  ///< each value is used before the next one is read
  static constexpr Fact kFacts = Fact::nic_ranks | Fact::target_polls_only;
  Surroundings surroundings;
  bool operator==(const FineRequest&) const = default;
};

/// A decision. Seconds are those of a region from its beginning to its end.
struct FinePlan {
  const FineMethod method = FineMethod::boxes;
  const Reason reason = Reason::no_model;
  const double predicted_s = 0;  ///< 0 without a model
  const double baseline_s = 0;   ///< of waiting for each access; 0 without a model
  const double gain_low = 0;     ///< as StripPlan's
  bool operator==(const FinePlan&) const = default;
};

using FineRecord = Record<FineMethod, FineMethod>;

/// The plan of a region. Without a model (`path` null, or without puts and gets): boxes. With one,
/// blocking, what the program does by itself, unless another method is surely faster by more than
/// the margin. Pure, allocates nothing.
FinePlan plan_fine(const FineRequest& request, const CompiledPath* path) noexcept;
/// The same, with a record of what was considered.
FinePlan plan_fine(const FineRequest& request, const CompiledPath* path, FineRecord& record);

/// What a method is predicted to take, in seconds, at ends of the parameters' intervals. `path`
/// knows puts and gets.
double predict_fine(const FineRequest& request, const CompiledPath& path, FineMethod method,
                    const Ends& ends = {}) noexcept;

/// The largest distance between two reads of 8 bytes for which fetching all from the one to the
/// other takes no longer than two gets that are in flight together: a multiple of 8, up to
/// kFineBoxBytes, or 0 where only neighbours are worth it; kUsualFineGapBytes without a model.
uint64_t fine_gap_bytes(const CompiledPath* path) noexcept;

/// The largest block that takes at most twice as long to fetch as 8 bytes of it: a power of two,
/// from 64 bytes up to kFineBoxBytes; kUsualFineBlockBytes without a model.
uint64_t fine_block_bytes(const CompiledPath* path) noexcept;

}  // namespace stripline::plan
