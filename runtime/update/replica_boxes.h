// A worker's boxes: replicas of small parts of a grid, which come into use when a cell of theirs is
// first updated. They lie in chunks that all workers reach; at the end of an epoch each folds what
// it owns of the others' boxes, which are free again then.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stripline/shared_cells.h>
#include <stripline/worker_team.h>

namespace stripline::update {

/// Extents of a box as powers of two.
using BoxShift = std::array<uint32_t, 3>;
inline uint64_t box_cells(const BoxShift& shift) {
  return uint64_t{1} << (shift[0] + shift[1] + shift[2]);
}
inline uint64_t boxes_along(uint64_t cells, uint32_t shift) {
  return (cells + (uint64_t{1} << shift) - 1) >> shift;
}

/// How others find a worker's boxes, in the order in which they came into use. A chunk begins with
/// the numbers of its boxes.
struct BoxChunks {
  static constexpr size_t kMost = 64;
  std::array<uint64_t, kMost> blocks{};
  uint64_t boxes_in_chunk = 1;
  uint64_t box_bytes = 0;

  uint64_t header_bytes() const;
  uint64_t& number(const worker_team& team, uint64_t box) const;
  std::byte* cells(const worker_team& team, uint64_t box) const;

 private:
  std::byte* chunk(const worker_team& team, uint64_t box) const;
};

class ReplicaBoxes {
 public:
  /// Others find them by `chunks`. Both must outlive it.
  ReplicaBoxes(worker_team& team, const detail::CellOperations& operations, BoxChunks& chunks);
  ~ReplicaBoxes() { release(); }
  ReplicaBoxes(const ReplicaBoxes&) = delete;
  ReplicaBoxes& operator=(const ReplicaBoxes&) = delete;

  /// Boxes of these extents from now on, in at most `budget_bytes`. Has `lane`, whose shape they
  /// are for, find them. None is in use.
  void use(detail::SharedLane& lane, const BoxShift& shift, size_t budget_bytes);
  /// A clear box; null if there is no room.
  std::byte* add(uint64_t number);
  /// Clears those in use, and none is in use any more.
  void clear();
  /// Gives the memory back.
  void release();

  uint64_t used() const { return used_; }
  const BoxShift& shift() const { return shift_; }
  /// The first cell of a box.
  grid_cell corner(uint64_t number) const;
  size_t bytes() const { return have_ / chunks_.boxes_in_chunk * chunk_bytes_; }

 private:
  worker_team& team_;
  const detail::CellOperations operations_;
  BoxChunks& chunks_;
  BoxShift shift_{};
  uint64_t along_y_ = 0;
  uint64_t along_z_ = 0;
  std::vector<std::byte*> table_;  // by number; null: not in use
  uint64_t chunk_bytes_ = 0;
  uint64_t most_ = 0;    // that the budget permits
  uint64_t have_ = 0;    // for which there is memory
  uint64_t used_ = 0;    // from the first one on
  uint64_t filled_ = 0;  // that have been in use at some time
};

}  // namespace stripline::update
