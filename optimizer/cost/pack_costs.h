// What it costs a processor to gather regions into a contiguous buffer and to scatter them from
// one, compiled from the `pack` section of a model.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "optimizer/cost/corner.h"
#include "optimizer/cost/octave_table.h"
#include "optimizer/model/sections/pack.h"

namespace stripline::cost {

/// Immutable; safe to share between threads.
class PackCosts {
 public:
  /// No knowledge: packing is free.
  PackCosts() = default;

  explicit PackCosts(const model::PackModel& pack);

  /// Seconds to copy `bytes` in `regions` pieces into a buffer. The pieces belong to data that,
  /// with the gaps between them, span `span_bytes`. Rises with regions and bytes.
  double pack(double regions, double bytes, uint64_t span_bytes,
              Corner corner = Corner::nominal) const {
    return pack_[static_cast<size_t>(corner)].seconds(regions, bytes, span_bytes);
  }
  /// The same, out of a buffer.
  double unpack(double regions, double bytes, uint64_t span_bytes,
                Corner corner = Corner::nominal) const {
    return unpack_[static_cast<size_t>(corner)].seconds(regions, bytes, span_bytes);
  }

 private:
  struct Curves {
    OctaveTable region;
    OctaveTable byte;
    double seconds(double regions, double bytes, uint64_t span_bytes) const {
      return regions * region.at(span_bytes) + bytes * byte.at(span_bytes);
    }
  };
  static std::array<Curves, kCorners> compile(const std::vector<model::PackPoint>& points);

  std::array<Curves, kCorners> pack_;
  std::array<Curves, kCorners> unpack_;
};

}  // namespace stripline::cost
