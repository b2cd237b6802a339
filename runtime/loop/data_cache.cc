#include "runtime/loop/data_cache.h"

#include <algorithm>
#include <cstdlib>

namespace stripline::detail {
namespace {

using access::Lmad;

// A distance from the first byte of a region, as an index of each dimension and bytes of a run, and
// the same in the packed region.
struct Distance {
  std::array<uint64_t, access::kMaxDimensions> index{};
  uint64_t bytes = 0;
  int64_t packed = 0;
};

Distance distance_in(const Lmad& region, uint64_t distance) {
  std::array<uint64_t, access::kMaxDimensions> packed_stride{};
  uint64_t packed = region.run_bytes;
  for (size_t k = 0; k < region.dims.size(); ++k) {
    packed_stride[k] = packed;
    packed *= region.dims[k].count;
  }
  Distance of;
  for (size_t k = region.dims.size(); k-- > 0;) {
    const auto stride = static_cast<uint64_t>(region.dims[k].stride_bytes);
    of.index[k] = std::min(distance / stride, region.dims[k].count - 1);
    distance -= of.index[k] * stride;
    of.packed += static_cast<int64_t>(of.index[k] * packed_stride[k]);
  }
  of.bytes = distance;
  of.packed += static_cast<int64_t>(distance);
  return of;
}

// Where the wanted elements are in a region that holds all of them: only where no index of a
// dimension overflows from the lowest element to the highest, so that packing is linear.
std::optional<KeptRegion> view_of(const FetchedRegion& region, const WantedRegion& wanted) {
  int64_t low = wanted.base;
  int64_t high = wanted.base + static_cast<int64_t>(wanted.bytes);
  for (const access::Dimension& loop : wanted.loops) {
    (loop.stride_bytes < 0 ? low : high) += loop.span_bytes();
  }
  const access::Extent extent = region.bytes.extent();
  if (low < extent.begin || high > extent.end) return std::nullopt;
  const auto unaligned = [&](int64_t packed) {
    return packed % static_cast<int64_t>(wanted.element_bytes) != 0;
  };
  Distance sum = distance_in(region.bytes, static_cast<uint64_t>(low - extent.begin));
  if (unaligned(sum.packed)) return std::nullopt;
  KeptRegion kept;
  kept.data = region.data + sum.packed;
  for (size_t loop = 0; loop < wanted.loops.size(); ++loop) {
    const auto [stride_bytes, count] = wanted.loops[loop];
    if (count < 2 || stride_bytes == 0) continue;
    const Distance each = distance_in(region.bytes, static_cast<uint64_t>(std::abs(stride_bytes)));
    if (unaligned(each.packed)) return std::nullopt;
    for (size_t k = 0; k < region.bytes.dims.size(); ++k) {
      sum.index[k] += each.index[k] * (count - 1);
    }
    sum.bytes += each.bytes * (count - 1);
    kept.stride_bytes[loop] = stride_bytes < 0 ? -each.packed : each.packed;
    if (stride_bytes < 0) kept.data += each.packed * static_cast<int64_t>(count - 1);
  }
  for (size_t k = 0; k < region.bytes.dims.size(); ++k) {
    if (sum.index[k] >= region.bytes.dims[k].count) return std::nullopt;
  }
  if (sum.bytes + wanted.bytes > region.bytes.run_bytes) return std::nullopt;
  return kept;
}

}  // namespace

std::optional<KeptRegion> DataCache::find(const WantedRegion& wanted) {
  if (empty()) return std::nullopt;
  give_up_old();
  for (const auto& buffer : pool_.buffers()) {
    for (const FetchedRegion& region : buffer->contents) {
      if (region.rank != wanted.rank || !region.complete) continue;
      std::optional<KeptRegion> kept = view_of(region, wanted);
      if (!kept) continue;
      kept->buffer = buffer.get();
      ++statistics_.hits;
      uint64_t bytes = wanted.bytes;
      for (const access::Dimension& loop : wanted.loops) {
        if (loop.stride_bytes != 0) bytes *= loop.count;
      }
      statistics_.served_bytes += bytes;
      return kept;
    }
  }
  return std::nullopt;
}

void DataCache::keep(BufferPool::Buffer& buffer, rank_t rank, const Lmad& bytes, std::byte* data) {
  give_up_old();
  buffer.contents.push_back({rank, bytes, data, false});
  const access::Extent extent = bytes.extent();
  Keeper::keep(rank, static_cast<uint64_t>(extent.begin), static_cast<uint64_t>(extent.end));
}

void DataCache::complete(BufferPool::Buffer& buffer) {
  give_up_old();
  for (FetchedRegion& region : buffer.contents) {
    region.complete = true;
    ++statistics_.kept;
  }
}

void DataCache::give_up_old() {
  const uint64_t now = state_.operations.acquire_epoch();
  if (epoch_ == now) return;
  epoch_ = now;
  if (empty()) return;
  for (const auto& buffer : pool_.buffers()) {
    statistics_.acquired += buffer->contents.size();
    buffer->contents.clear();
  }
  keep_nothing();
}

void DataCache::stored(rank_t rank, uint64_t offset, uint64_t bytes) {
  give_up_old();
  const auto begin = static_cast<int64_t>(offset);
  const auto end = static_cast<int64_t>(offset + bytes);
  for (const auto& buffer : pool_.buffers()) {
    statistics_.overwritten += std::erase_if(buffer->contents, [&](const FetchedRegion& region) {
      const access::Extent extent = region.bytes.extent();
      return region.rank == rank && extent.begin < end && begin < extent.end;
    });
  }
}

}  // namespace stripline::detail
