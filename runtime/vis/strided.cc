#include "runtime/vis/strided.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace stripline::vis {
namespace {

// A few such values can be added without overflow.
constexpr int64_t kLimit = int64_t{1} << 60;

// base += steps * stride; false beyond the limit.
bool advance(int64_t& base, int64_t stride, uint64_t steps) {
  int64_t distance = 0;
  return steps < static_cast<uint64_t>(kLimit) &&
         !__builtin_mul_overflow(stride, static_cast<int64_t>(steps), &distance) &&
         !__builtin_add_overflow(base, distance, &base) && base > -kLimit && base < kLimit;
}

// True if everything from the start on can be addressed.
bool within_limits(const Strided& shape) {
  uint64_t total = shape.bytes;
  int64_t remote = 0;
  int64_t local = 0;
  if (std::abs(shape.remote) >= kLimit || std::abs(shape.local) >= kLimit) return false;
  for (const Dimension& dimension : shape.dimensions) {
    if (__builtin_mul_overflow(total, dimension.count, &total) ||
        total >= static_cast<uint64_t>(kLimit) || dimension.remote_stride <= -kLimit ||
        dimension.local_stride <= -kLimit ||
        !advance(remote, std::abs(dimension.remote_stride), dimension.count - 1) ||
        !advance(local, std::abs(dimension.local_stride), dimension.count - 1)) {
      return false;
    }
  }
  return true;
}

bool continues(int64_t outer_stride, int64_t stride, uint64_t count) {
  int64_t whole = 0;
  return !__builtin_mul_overflow(stride, static_cast<int64_t>(count), &whole) &&
         whole == outer_stride;
}

bool is_one_region(const Dimension& dimension, uint64_t bytes) {
  const auto length = static_cast<int64_t>(bytes);
  return dimension.remote_stride == length && dimension.local_stride == length;
}
bool is_one_region(const SideDimension& dimension, uint64_t bytes) {
  return dimension.stride == static_cast<int64_t>(bytes);
}
bool is_continued(const Dimension& inner, const Dimension& outer) {
  return continues(outer.remote_stride, inner.remote_stride, inner.count) &&
         continues(outer.local_stride, inner.local_stride, inner.count);
}
bool is_continued(const SideDimension& inner, const SideDimension& outer) {
  return continues(outer.stride, inner.stride, inner.count);
}

// Keeps the order of the bytes.
template <typename AnyDimension>
void fold(DimensionList<AnyDimension>& dimensions, uint64_t& bytes) {
  size_t kept = 0;
  for (const AnyDimension& dimension : dimensions) {
    if (kept == 0 && is_one_region(dimension, bytes)) {
      bytes *= dimension.count;
    } else if (kept > 0 && is_continued(dimensions[kept - 1], dimension)) {
      dimensions[kept - 1].count *= dimension.count;
    } else {
      dimensions[kept++] = dimension;
    }
  }
  dimensions.resize(kept);
}

template <typename AnyDimension>
uint64_t product(const DimensionList<AnyDimension>& dimensions) {
  uint64_t regions = 1;
  for (const AnyDimension& dimension : dimensions) regions *= dimension.count;
  return regions;
}

void take_side(const Strided& shape, int64_t base, int64_t Dimension::*stride, Side& side) {
  side.base = base;
  side.bytes = shape.bytes;
  side.dimensions.clear();
  for (const Dimension& dimension : shape.dimensions) {
    side.dimensions.push_back({dimension.count, dimension.*stride});
  }
  fold(side.dimensions, side.bytes);
}

}  // namespace

uint64_t Strided::regions() const { return product(dimensions); }
uint64_t Side::regions() const { return product(dimensions); }

bool normalise(Strided& shape) {
  DimensionList<Dimension>& dimensions = shape.dimensions;
  const bool empty = std::any_of(dimensions.begin(), dimensions.end(),
                                 [](const Dimension& dimension) { return dimension.count == 0; });
  if (empty || shape.bytes == 0) {
    shape.bytes = 0;
    dimensions.clear();
    return true;
  }
  dimensions.erase(std::remove_if(dimensions.begin(), dimensions.end(),
                                  [](const Dimension& dimension) { return dimension.count == 1; }),
                   dimensions.end());
  if (!within_limits(shape)) return false;
  for (Dimension& dimension : dimensions) {
    if (dimension.remote_stride > 0 ||
        (dimension.remote_stride == 0 && dimension.local_stride >= 0)) {
      continue;
    }
    // From the other end.
    if (!advance(shape.remote, dimension.remote_stride, dimension.count - 1) ||
        !advance(shape.local, dimension.local_stride, dimension.count - 1)) {
      return false;
    }
    dimension.remote_stride = -dimension.remote_stride;
    dimension.local_stride = -dimension.local_stride;
  }
  std::sort(dimensions.begin(), dimensions.end(), [](const Dimension& a, const Dimension& b) {
    return std::tuple(a.remote_stride, std::abs(a.local_stride)) <
           std::tuple(b.remote_stride, std::abs(b.local_stride));
  });
  fold(dimensions, shape.bytes);
  return true;
}

Extent remote_extent(const Strided& shape) {
  Extent extent{shape.remote, shape.remote + static_cast<int64_t>(shape.bytes)};
  for (const Dimension& dimension : shape.dimensions) {
    extent.high += dimension.remote_stride * static_cast<int64_t>(dimension.count - 1);
  }
  return extent;
}

void remote_side(const Strided& shape, Side& side) {
  take_side(shape, shape.remote, &Dimension::remote_stride, side);
}
void local_side(const Strided& shape, Side& side) {
  take_side(shape, shape.local, &Dimension::local_stride, side);
}

}  // namespace stripline::vis
