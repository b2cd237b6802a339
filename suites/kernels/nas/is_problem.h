// The problem of NAS IS (Bailey et al., NAS-91-002, section 3.6): its classes, and what each rank
// holds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "suites/kernels/nas/nas_class.h"

namespace stripline::suites::nas {

/// Iterations, each of which changes two keys and ranks all.
inline constexpr size_t kIsIterations = 10;
inline constexpr size_t kIsTests = 5;

/// A key whose rank is published: rank + sign * (iteration - lag) in the iterations 1 to 10, as the
/// changed keys are below or above it.
struct IsTest {
  uint32_t index;  ///< of the key in the whole sequence
  int64_t rank;
  int64_t sign;
  int64_t lag;
};

/// Ranking of integer keys below 2^log2_max_key, by buckets of equal ranges of keys.
struct IsProblem {
  uint32_t log2_keys;
  uint32_t log2_max_key;
  uint32_t log2_buckets;
  std::array<IsTest, kIsTests> tests;

  size_t keys() const { return size_t{1} << log2_keys; }
  uint32_t max_key() const { return 1U << log2_max_key; }
  size_t buckets() const { return size_t{1} << log2_buckets; }
  uint32_t bucket_of(uint32_t key) const { return key >> (log2_max_key - log2_buckets); }
};

/// The classes' parameters and verification values (NPB 3).
const IsProblem& is_problem(NasClass problem_class);

/// The keys [begin, begin + keys.size()) of the sequence: floor(max_key / 4 * (sum of four random
/// numbers)).
void make_is_keys(const IsProblem& problem, size_t begin, std::span<uint32_t> keys);

/// What one rank sends to another, or receives from it.
struct IsSegment {
  uint32_t begin = 0;
  uint32_t count = 0;
};

/// The keys in equal parts over ranks, before the ranking; after it a rank has the keys of
/// consecutive buckets. Also where each rank has what peers access, in elements (uint32_t) from the
/// start of its shared memory, alike on all ranks.
class IsPartition {
 public:
  /// Refuses numbers of ranks that do not divide the keys, or leave ranks without a bucket.
  static Result<IsPartition> create(const IsProblem& problem, uint32_t ranks);

  uint32_t ranks() const { return ranks_; }
  size_t keys_per_rank() const { return keys_per_rank_; }
  /// The keys that a rank has room for after the ranking. A rank's buckets hold the average number
  /// of keys and at most one bucket's more; the fullest bucket holds 8/3 of an average bucket's
  /// keys (the density of the mean of four uniform numbers at 1/2), for which there is room for 4.
  size_t room() const { return room_; }

  size_t shared_elements() const { return incoming_offset() + room_; }
  /// The number of own keys in each bucket, then the keys with the tests' indices or 0.
  size_t counts_offset() const { return 0; }
  size_t counts_elements() const { return buckets_ + kIsTests; }
  /// For each rank two elements: what it is to take of outgoing, as an IsSegment.
  size_t segments_offset() const { return whole_lines(counts_elements()); }
  /// For each rank: where in incoming its keys go. Exchanges that send need it.
  size_t places_offset() const { return segments_offset() + whole_lines(2 * size_t{ranks_}); }
  /// The own keys, sorted by bucket.
  size_t outgoing_offset() const { return places_offset() + whole_lines(ranks_); }
  /// The keys of this rank's buckets.
  size_t incoming_offset() const { return outgoing_offset() + whole_lines(keys_per_rank_); }

 private:
  IsPartition(const IsProblem& problem, uint32_t ranks);
  static size_t whole_lines(size_t elements) { return (elements + 15) / 16 * 16; }

  uint32_t ranks_;
  size_t buckets_;
  size_t keys_per_rank_;
  size_t room_;
};

}  // namespace stripline::suites::nas
