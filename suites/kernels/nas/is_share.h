// One rank's share of NAS IS: its keys, the counters, and the loop bodies. No communication: see
// is_solver.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "suites/kernels/aligned_buffer.h"
#include "suites/kernels/counted_work.h"
#include "suites/kernels/nas/is_problem.h"

namespace stripline::suites::nas {

/// `shared` has the partition's shared_elements() and outlives the share; peers access it. Numbers
/// that an exchange has spoiled are found out by the verification and lead to no access outside of
/// the arrays. Not thread-safe.
class IsShare : public CountedWork {
 public:
  IsShare(const IsProblem& problem, const IsPartition& partition, uint32_t me,
          std::span<uint32_t> shared);

  const IsProblem& problem() const { return problem_; }
  const IsPartition& partition() const { return partition_; }
  uint32_t me() const { return me_; }

  /// Makes the sequence of keys as it was before the first iteration.
  void start();
  /// Changes the keys of `iteration`, from 1 on, and counts those of each bucket; totals() are then
  /// this rank's own counts.
  void count_buckets(size_t iteration);

  // While the counts are summed up.

  /// What this rank adds to the sums.
  std::span<const uint32_t> counts() const {
    return shared_.subspan(partition_.counts_offset(), partition_.counts_elements());
  }
  /// The sums over all ranks, when the others' counts have been added.
  std::span<uint32_t> totals() { return totals_; }
  /// Body: sorts the own keys [begin, end) into the buckets of outgoing.
  [[gnu::noinline]] void scatter(size_t begin, size_t end);

  /// Divides the buckets among the ranks by totals(): consecutive ones with about as many keys for
  /// each. Makes the segments that the others take of this rank's outgoing keys.
  void divide();

  /// Says what this rank is to take of the outgoing keys of `owner`.
  void set_segment(uint32_t owner, IsSegment segment) { segments_[owner] = segment; }
  /// With all segments set: gives each of them its place in incoming.
  void place();

  // While keys come.

  /// What is to be taken of the outgoing keys of `owner`, from element `begin` on, ...
  IsSegment segment(uint32_t owner) const { return segments_[owner]; }
  /// ... and where in incoming it goes.
  size_t place_of(uint32_t owner) const { return places()[owner]; }
  /// The keys of this rank's buckets, as far as they have come.
  std::span<uint32_t> incoming() {
    return shared_.subspan(partition_.incoming_offset(), incoming_count_);
  }
  /// Body: counts the keys [begin, end) of incoming.
  [[gnu::noinline]] void count_keys(size_t begin, size_t end);

  /// With all keys counted: ranks them, and compares the ranks of the tests' keys.
  void rank_keys(size_t iteration);

  // The verification after the last iteration.

  /// Sorts the incoming keys by their ranks. Returns whether they are in order and in this rank's
  /// range of keys.
  bool sort();
  /// The largest of the sorted keys, or the last key of the ranks before if there are none.
  int64_t last_key() const;
  /// True if the keys follow those of a previous rank which end with `last_key`, and whose range of
  /// keys ends with `range_end`.
  bool follows(int64_t last_key, int64_t range_end) const;
  int64_t range_end() const { return range_end_; }
  size_t sorted_keys() const { return incoming_count_; }
  /// The tests passed so far.
  size_t passed_tests() const { return passed_tests_; }
  /// The squares of the keys that came less those of the keys that left, weighted by iteration and
  /// modulo 2^40: over all ranks they sum up to a multiple of 2^40 if no key was lost or changed on
  /// in transit in any iteration.
  int64_t imbalance() const;

 private:
  std::span<uint32_t> places() {
    return shared_.subspan(partition_.places_offset(), partition_.ranks());
  }
  std::span<const uint32_t> places() const {
    return shared_.subspan(partition_.places_offset(), partition_.ranks());
  }
  uint64_t weight() const { return 2 * iteration_ + 1; }
  void set_key(size_t at, uint32_t key);

  IsProblem problem_;
  IsPartition partition_;
  uint32_t me_;
  std::span<uint32_t> shared_;
  AlignedBuffer<uint32_t> keys_;
  std::vector<uint32_t> totals_;
  std::vector<uint32_t> bucket_next_;
  std::vector<IsSegment> segments_;
  size_t incoming_count_ = 0;
  uint32_t range_begin_ = 0;
  uint32_t range_end_ = 0;
  uint64_t keys_before_ = 0;
  // How many keys of each value there are; after the ranking, how many of this rank's are smaller.
  AlignedBuffer<uint32_t> counters_;
  std::vector<uint32_t> sorted_;
  size_t iteration_ = 0;
  size_t passed_tests_ = 0;
  uint64_t squares_ = 0;
  uint64_t imbalance_ = 0;
};

}  // namespace stripline::suites::nas
