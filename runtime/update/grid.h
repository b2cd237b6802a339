// Ranks as a grid, over which updates travel in two hops or three: along the row of their source to
// the column of their owner, and along that, and so on. So a rank sends to the others of its row,
// of its column, and of what is behind, only. Where a row is a node, an update goes to another rank
// of the node by stores first, and then through the network once for each further direction.
//
// A rank is x + width (y + height z); with two hops there is one layer. The last row and the last
// layer may be shorter. What is not there is never needed if updates from the last layer go to the
// layer of their owner first, and those from the last row of the last layer, within that, to the
// row of their owner first; all others go along their row first, then along their column, and then
// to the layer of their owner.
//
// No rank waits in a circle: of these, each waits for later ones only, and the last ones are
// carried out wherever they arrive.
//
//   from the last layer to another one; along rows; along columns; from other layers to any,
//
// where, in the last layer, its last row comes before its other rows:
//
//   along the last row; from the last row along columns; along other rows; along other columns.
//
// For that, parcels of each kind wait by themselves where they are sent on (forwarder.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include <stripline/global_ptr.h>

#include "optimizer/plan/update.h"
#include "runtime/update/parcel.h"

namespace stripline::update {

class Grid {
 public:
  /// `row`: the length of the first rows, if those are nodes; else 1.
  Grid(rank_t me, rank_t ranks, uint32_t hops, uint32_t row = 1)
      : ranks_(ranks), sides_(plan::update_grid(ranks, hops, row)), me_(place_of(me)) {}

  /// True if this rank sends to `peer` itself.
  bool is_next(rank_t peer) const {
    const Place there = place_of(peer);
    return (there.x == me_.x ? 0 : 1) + (there.y == me_.y ? 0 : 1) + (there.z == me_.z ? 0 : 1) ==
           1;
  }
  /// Where an update of another rank's cell goes first, and with which number.
  struct Step {
    rank_t next = 0;
    rank_t number = 0;
  };
  Step step_to(rank_t owner) const {
    const Place there = place_of(owner);
    if (there.z != me_.z && (in_last_layer() || (there.x == me_.x && there.y == me_.y))) {
      return {rank_of({me_.x, me_.y, there.z}),
              in_last_layer() ? there.x + sides_[0] * there.y : 0};
    }
    if (there.y != me_.y && (in_last_row() || there.x == me_.x)) {
      return {rank_of({me_.x, there.y, me_.z}), in_last_row() ? there.x : there.z};
    }
    return {rank_of({there.x, me_.y, me_.z}), there.y + sides_[1] * there.z};
  }
  /// What the numbers mean that go to `next`.
  Onward meaning(rank_t next) const {
    const Place there = place_of(next);
    if (there.x != me_.x) return Onward::row_of;
    if (there.y != me_.y) {
      if (in_last_row()) return Onward::column_of;
      return sides_[2] > 1 ? Onward::layer_of : Onward::nothing;
    }
    return in_last_layer() ? Onward::place_of : Onward::nothing;
  }
  /// The owner that a number stands for here. May be no rank if no one sends that.
  rank_t owner_of(Onward onward, uint64_t number) const {
    if (number >= ranks_) return ranks_;
    const auto n = static_cast<rank_t>(number);
    switch (onward) {
      case Onward::row_of:
        return rank_of({me_.x, n % sides_[1], n / sides_[1]});
      case Onward::column_of:
        return rank_of({n, me_.y, me_.z});
      case Onward::layer_of:
        return rank_of({me_.x, me_.y, n});
      case Onward::place_of:
        return rank_of({n % sides_[0], n / sides_[0], me_.z});
      case Onward::nothing:
        break;
    }
    return ranks_;
  }
  /// Numbers that go to a rank are below this.
  static uint64_t numbers(rank_t ranks, uint32_t hops, uint32_t row = 1) {
    const auto sides = plan::update_grid(ranks, hops, row);
    return std::max(uint64_t{sides[1]} * sides[2],
                    uint64_t{sides[0]} * (sides[2] > 1 ? sides[1] : 1));
  }

 private:
  struct Place {
    rank_t x = 0;
    rank_t y = 0;
    rank_t z = 0;
  };
  Place place_of(rank_t rank) const {
    return {rank % sides_[0], rank / sides_[0] % sides_[1], rank / sides_[0] / sides_[1]};
  }
  rank_t rank_of(const Place& place) const {
    return place.x + sides_[0] * (place.y + sides_[1] * place.z);
  }
  bool in_last_layer() const {
    return sides_[2] > 1 && me_.z == (ranks_ - 1) / sides_[0] / sides_[1];
  }
  // True in the last row of the last layer, which may be shorter than others.
  bool in_last_row() const {
    return me_.z == (ranks_ - 1) / sides_[0] / sides_[1] &&
           me_.y == (ranks_ - 1) / sides_[0] % sides_[1];
  }

  rank_t ranks_;
  std::array<uint32_t, plan::kMostUpdateHops> sides_;
  Place me_;
};

}  // namespace stripline::update
