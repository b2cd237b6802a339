#include "suites/kernels/nas/is_share.h"

#include <algorithm>

namespace stripline::suites::nas {
namespace {

uint64_t square(uint64_t key) { return key * key; }

}  // namespace

IsShare::IsShare(const IsProblem& problem, const IsPartition& partition, uint32_t me,
                 std::span<uint32_t> shared)
    : problem_(problem),
      partition_(partition),
      me_(me),
      shared_(shared),
      keys_(partition.keys_per_rank()),
      totals_(partition.counts_elements()),
      bucket_next_(problem.buckets()),
      segments_(partition.ranks()),
      counters_(problem.max_key()) {
  start();
}

void IsShare::start() {
  make_is_keys(problem_, me_ * keys_.size(), {keys_.data(), keys_.size()});
  squares_ = 0;
  for (size_t i = 0; i < keys_.size(); ++i) squares_ += square(keys_[i]);
  passed_tests_ = 0;
  imbalance_ = 0;
}

void IsShare::set_key(size_t at, uint32_t key) {
  squares_ += square(key) - square(keys_[at]);
  keys_[at] = key;
}

void IsShare::count_buckets(size_t iteration) {
  iteration_ = iteration;
  if (me_ == 0) {
    set_key(iteration, static_cast<uint32_t>(iteration));
    set_key(iteration + kIsIterations, problem_.max_key() - static_cast<uint32_t>(iteration));
  }
  const auto counts = shared_.subspan(partition_.counts_offset(), partition_.counts_elements());
  std::fill(counts.begin(), counts.end(), 0U);
  const uint32_t shift = problem_.log2_max_key - problem_.log2_buckets;
  for (size_t i = 0; i < keys_.size(); ++i) ++counts[keys_[i] >> shift];
  const size_t first = me_ * keys_.size();
  for (size_t t = 0; t < kIsTests; ++t) {
    const size_t index = problem_.tests[t].index;
    if (index >= first && index - first < keys_.size()) {
      counts[problem_.buckets() + t] = keys_[index - first];
    }
  }
  std::copy(counts.begin(), counts.end(), totals_.begin());
  uint32_t next = 0;
  for (size_t bucket = 0; bucket < bucket_next_.size(); ++bucket) {
    bucket_next_[bucket] = next;
    next += counts[bucket];
  }
  did(keys_.size(), 2, 4);
  did(counts.size(), 1, 16);
}

void IsShare::scatter(size_t begin, size_t end) {
  const uint32_t shift = problem_.log2_max_key - problem_.log2_buckets;
  const uint32_t* const keys = keys_.data();
  uint32_t* const next = bucket_next_.data();
  uint32_t* const outgoing = shared_.data() + partition_.outgoing_offset();
  for (size_t i = begin; i < end; ++i) outgoing[next[keys[i] >> shift]++] = keys[i];
  did(end - begin, 3, 8);
}

void IsShare::divide() {
  const std::span<uint32_t> segments =
      shared_.subspan(partition_.segments_offset(), 2 * size_t{partition_.ranks()});
  const std::span<const uint32_t> own = counts();
  const uint32_t bucket_keys = problem_.max_key() >> problem_.log2_buckets;
  size_t bucket = 0;
  uint64_t total = 0;
  uint32_t own_begin = 0;
  for (uint32_t rank = 0; rank < partition_.ranks(); ++rank) {
    const size_t first = bucket;
    const uint64_t total_before = total;
    uint32_t own_end = own_begin;
    const uint64_t enough = (rank + uint64_t{1}) * partition_.keys_per_rank();
    const bool last = rank + 1 == partition_.ranks();
    for (; bucket < problem_.buckets() && (last || total < enough); ++bucket) {
      total += totals_[bucket];
      own_end += own[bucket];
    }
    segments[2 * size_t{rank}] = own_begin;
    segments[2 * size_t{rank} + 1] = own_end - own_begin;
    own_begin = own_end;
    if (rank == me_) {
      range_begin_ = static_cast<uint32_t>(first) * bucket_keys;
      range_end_ = static_cast<uint32_t>(bucket) * bucket_keys;
      keys_before_ = total_before;
    }
  }
  std::fill(counters_.data() + range_begin_, counters_.data() + range_end_, 0U);
  did(bucket, 3, 8);
  did(range_end_ - range_begin_, 0, 4);
}

void IsShare::place() {
  size_t next = 0;
  for (uint32_t owner = 0; owner < partition_.ranks(); ++owner) {
    IsSegment& segment = segments_[owner];
    const bool fits = segment.begin <= partition_.keys_per_rank() &&
                      segment.count <= partition_.keys_per_rank() - segment.begin &&
                      segment.count <= partition_.room() - next;
    if (!fits) segment = {};
    places()[owner] = static_cast<uint32_t>(next);
    next += segment.count;
  }
  incoming_count_ = next;
}

void IsShare::count_keys(size_t begin, size_t end) {
  // The mask keeps spoiled keys inside of the array, and costs nothing beside the access.
  const uint32_t mask = problem_.max_key() - 1;
  const uint32_t* const keys = shared_.data() + partition_.incoming_offset();
  uint32_t* const counters = counters_.data();
  for (size_t i = begin; i < end; ++i) ++counters[keys[i] & mask];
  did(end - begin, 2, 12);
}

void IsShare::rank_keys(size_t iteration) {
  uint32_t smaller = 0;
  uint64_t squares = 0;
  for (uint32_t key = range_begin_; key < range_end_; ++key) {
    const uint32_t count = counters_[key];
    squares += count * square(key);
    counters_[key] = smaller;
    smaller += count;
  }
  did(range_end_ - range_begin_, 4, 8);
  imbalance_ += weight() * (squares - squares_);
  for (size_t t = 0; t < kIsTests; ++t) {
    const uint32_t key = totals_[problem_.buckets() + t];
    if (key < range_begin_ || key >= range_end_) continue;
    const IsTest& test = problem_.tests[t];
    const auto rank = static_cast<int64_t>(keys_before_ + counters_[key]);
    const int64_t expected = test.rank + test.sign * (static_cast<int64_t>(iteration) - test.lag);
    if (rank == expected) ++passed_tests_;
  }
}

bool IsShare::sort() {
  sorted_.assign(incoming_count_, 0);
  bool right = true;
  for (const uint32_t key : incoming()) {
    if (key < range_begin_ || key >= range_end_) {
      right = false;
      continue;
    }
    const uint32_t at = counters_[key]++;
    if (at < sorted_.size()) {
      sorted_[at] = key;
    } else {
      right = false;
    }
  }
  return right && std::is_sorted(sorted_.begin(), sorted_.end());
}

int64_t IsShare::last_key() const {
  return sorted_.empty() ? int64_t{range_begin_} - 1 : int64_t{sorted_.back()};
}

bool IsShare::follows(int64_t last_key, int64_t range_end) const {
  return range_end == range_begin_ && (sorted_.empty() || last_key <= int64_t{sorted_.front()});
}

int64_t IsShare::imbalance() const {
  return static_cast<int64_t>(imbalance_ & ((uint64_t{1} << 40) - 1));
}

}  // namespace stripline::suites::nas
