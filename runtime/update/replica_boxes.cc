#include "runtime/update/replica_boxes.h"

#include <algorithm>

namespace stripline::update {

uint64_t BoxChunks::header_bytes() const {
  constexpr uint64_t kLine = 64;
  return (boxes_in_chunk * sizeof(uint64_t) + kLine - 1) / kLine * kLine;
}

std::byte* BoxChunks::chunk(const worker_team& team, uint64_t box) const {
  return team.at(blocks[box / boxes_in_chunk]);
}

uint64_t& BoxChunks::number(const worker_team& team, uint64_t box) const {
  return reinterpret_cast<uint64_t*>(chunk(team, box))[box % boxes_in_chunk];
}

std::byte* BoxChunks::cells(const worker_team& team, uint64_t box) const {
  return chunk(team, box) + header_bytes() + box % boxes_in_chunk * box_bytes;
}

ReplicaBoxes::ReplicaBoxes(worker_team& team, const detail::CellOperations& operations,
                           BoxChunks& chunks)
    : team_(team), operations_(operations), chunks_(chunks) {}

void ReplicaBoxes::use(detail::SharedLane& lane, const BoxShift& shift, size_t budget_bytes) {
  if (table_.empty() || shift != shift_) {
    release();
    shift_ = shift;
    const grid_extent& shape = lane.shape;
    along_y_ = boxes_along(shape.y, shift[1]);
    along_z_ = boxes_along(shape.z, shift[2]);
    table_.assign(boxes_along(shape.x, shift[0]) * along_y_ * along_z_, nullptr);
    // As many chunks as there may be, each as small as that permits.
    chunks_.box_bytes = box_cells(shift) * operations_.bytes;
    const uint64_t boxes = budget_bytes / (chunks_.box_bytes + sizeof(uint64_t));
    chunks_.boxes_in_chunk = std::max<uint64_t>(1, boxes / BoxChunks::kMost);
    chunk_bytes_ = chunks_.header_bytes() + chunks_.boxes_in_chunk * chunks_.box_bytes;
    most_ =
        std::min<uint64_t>(BoxChunks::kMost, budget_bytes / chunk_bytes_) * chunks_.boxes_in_chunk;
  }
  lane.boxes = table_.data();
  lane.box_shift = shift_;
  lane.boxes_y = along_y_;
  lane.boxes_z = along_z_;
}

std::byte* ReplicaBoxes::add(uint64_t number) {
  if (used_ == have_) {
    if (have_ == most_) return nullptr;
    const Result<uint64_t> block = team_.allocate(chunk_bytes_);
    if (!block.ok()) return nullptr;
    chunks_.blocks[have_ / chunks_.boxes_in_chunk] = *block;
    have_ += chunks_.boxes_in_chunk;
  }
  std::byte* const box = chunks_.cells(team_, used_);
  chunks_.number(team_, used_) = number;
  if (used_ == filled_) {  // those of earlier epochs are clear
    operations_.fill(box, box_cells(shift_));
    ++filled_;
  }
  ++used_;
  return table_[number] = box;
}

void ReplicaBoxes::clear() {
  for (uint64_t box = 0; box < used_; ++box) {
    table_[chunks_.number(team_, box)] = nullptr;
    operations_.fill(chunks_.cells(team_, box), box_cells(shift_));
  }
  used_ = 0;
}

void ReplicaBoxes::release() {
  for (uint64_t i = 0; i < have_ / chunks_.boxes_in_chunk; ++i) {
    team_.deallocate(chunks_.blocks[i]);
  }
  table_.clear();
  have_ = used_ = filled_ = 0;
}

grid_cell ReplicaBoxes::corner(uint64_t number) const {
  const uint64_t z = number % along_z_;
  const uint64_t row = number / along_z_;
  return {row / along_y_ << shift_[0], row % along_y_ << shift_[1], z << shift_[2]};
}

}  // namespace stripline::update
