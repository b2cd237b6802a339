// Writes that follow each other in memory, which are put together (Chen, Optimizing PGAS Programs
// for Cluster Architectures, 2007, section 6.5: only what is exactly contiguous, because what lies
// between could be another rank's). What is written twice is put once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <stripline/global_ptr.h>

namespace stripline::fine {

/// A value; not thread-safe.
class WriteRun {
 public:
  /// The most that is put together.
  static constexpr size_t kMaxBytes = size_t{4} << 10;

  bool empty() const { return bytes_.empty(); }
  rank_t rank() const { return rank_; }
  uint64_t begin() const { return begin_; }
  uint64_t end() const { return begin_ + bytes_.size(); }
  const std::byte* data() const { return bytes_.data(); }
  size_t size() const { return bytes_.size(); }

  bool overlaps(rank_t of, uint64_t from, uint64_t to) const {
    return !empty() && of == rank_ && from < end() && begin_ < to;
  }
  /// Adds a write if the run is empty, or the write continues it or lies within.
  bool add(rank_t to, uint64_t offset, const std::byte* source, size_t bytes) {
    if (empty()) {
      rank_ = to;
      begin_ = offset;
      bytes_.assign(source, source + bytes);
      return true;
    }
    if (to != rank_ || offset < begin_) return false;
    if (offset == end() && bytes_.size() + bytes <= kMaxBytes) {
      bytes_.insert(bytes_.end(), source, source + bytes);
      return true;
    }
    if (offset + bytes > end()) return false;
    std::memcpy(bytes_.data() + (offset - begin_), source, bytes);
    return true;
  }
  void clear() { bytes_.clear(); }

 private:
  rank_t rank_ = 0;
  uint64_t begin_ = 0;
  std::vector<std::byte> bytes_;
};

}  // namespace stripline::fine
