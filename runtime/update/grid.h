// Ranks as a grid of rows, over which updates travel in two hops: along the row of their source to
// the column of their owner, and along that to the owner. So a rank sends to the others of its row
// and of its column only.
//
// The last row may be shorter. A source in it that would need a rank which is not there goes the
// other way round: along its column to the row of the owner, and along that. Rows wait for columns
// then, and columns, of sources in the last row, for rows; those do not lead to the last row again,
// so that nobody waits in a circle.
#pragma once

#include <cmath>
#include <cstdint>

#include <stripline/global_ptr.h>

#include "runtime/update/parcel.h"

namespace stripline::update {

class Grid {
 public:
  Grid(rank_t me, rank_t ranks)
      : ranks_(ranks),
        width_(static_cast<rank_t>(std::ceil(std::sqrt(static_cast<double>(ranks))))),
        row_(me / width_),
        column_(me % width_) {}

  rank_t width() const { return width_; }
  rank_t rows() const { return (ranks_ + width_ - 1) / width_; }

  /// True if this rank sends to `peer` itself.
  bool is_next(rank_t peer) const { return peer / width_ == row_ || peer % width_ == column_; }
  /// Where an update of another rank's cell goes first, and with which number.
  struct Step {
    rank_t next = 0;
    rank_t number = 0;
  };
  Step step_to(rank_t owner) const {
    const rank_t row = owner / width_;
    const rank_t column = owner % width_;
    const bool around = row_ == rows() - 1 && column == column_;  // that lane has columns
    if (row == row_) return {owner, row};
    if (column == column_) return {owner, around ? column : 0};
    const rank_t corner = row_ * width_ + column;
    if (corner < ranks_) return {corner, row};
    return {row * width_ + column_, column};
  }
  /// What the numbers mean that go to `next`.
  Onward meaning(rank_t next) const {
    if (next / width_ == row_) return Onward::row_of;
    return row_ == rows() - 1 ? Onward::column_of : Onward::nothing;
  }
  /// The owner that a number stands for here. May be no rank if nobody sends that.
  rank_t owner_of(Onward onward, uint64_t number) const {
    if (number >= ranks_) return ranks_;
    const auto place = static_cast<rank_t>(number);
    return onward == Onward::row_of ? place * width_ + column_ : row_ * width_ + place;
  }

 private:
  rank_t ranks_;
  rank_t width_;
  rank_t row_;
  rank_t column_;
};

}  // namespace stripline::update
