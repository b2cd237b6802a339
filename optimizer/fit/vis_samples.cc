#include "optimizer/fit/vis_samples.h"

#include <string_view>

namespace stripline::fit {
namespace {

namespace factor = experiment::factor;
namespace micro = experiment::micro;
namespace variant = experiment::variant;
using plan::ComputeClass;
using plan::Direction;
using plan::VisMethod;

// One of the enumerators, which count from 0; the table has no other names.
template <typename Enum>
Enum named(std::string_view name) {
  size_t i = 0;
  while (name != plan::to_string(static_cast<Enum>(i))) ++i;
  return static_cast<Enum>(i);
}

VisShape shape_of(const SampleRow& row, Direction direction) {
  const uint64_t region_bytes = row.number(factor::kRegionBytes);
  return {direction, region_bytes, row.number(factor::kBytes) / region_bytes,
          row.number(factor::kStride)};
}

uint32_t window_of(const SampleRow& row) {
  return static_cast<uint32_t>(row.number(factor::kWindow));
}

}  // namespace

plan::VisRequest request_of(const VisShape& shape, ComputeClass compute, uint64_t medium_bytes) {
  plan::VisRequest request;
  request.direction = shape.direction;
  request.regions = shape.regions;
  request.region_bytes = shape.region_bytes;
  request.extent_bytes = ((shape.regions - 1) * shape.stride + 1) * shape.region_bytes;
  request.local_regions = 1;
  request.bounding_box_allowed = shape.direction == Direction::get;
  request.medium_bytes = medium_bytes;
  request.message_bytes = plan::kUsualMessageBytes;
  request.max_buffer_bytes = plan::kUsualBoxBytes;
  request.compute = compute;
  return request;
}

VisSamples sort_vis_samples(const SampleTable& table) {
  VisSamples sorted;
  for (const SampleRow& row : table.rows(micro::kPack)) {
    (row.variant == variant::kPack
         ? sorted.pack
         : sorted.unpack)[row.number(factor::kSpanBytes)][row.number(factor::kRegionBytes)] =
        row.medians;
  }
  for (const SampleRow& row : table.rows(micro::kVis)) {
    const auto compute = named<ComputeClass>(row.name(factor::kClass));
    const VisShape shape = shape_of(row, named<Direction>(row.name(factor::kDirection)));
    VisTimes& times = sorted.cells[static_cast<size_t>(compute)][shape];
    if (row.variant == variant::kCompute) {
      times.compute = row.medians;
      continue;
    }
    const auto method = named<VisMethod>(row.variant);
    const auto iov_limit =
        method == VisMethod::native_iov ? row.number(factor::kIovLimit) : uint64_t{1};
    times.methods[static_cast<size_t>(method)][{row.number(factor::kChunkBytes), window_of(row),
                                                static_cast<uint32_t>(iov_limit)}] = row.medians;
  }
  for (const SampleRow& row : table.rows(micro::kVisChunk)) {
    sorted.chunks[shape_of(row, named<Direction>(row.variant))]
                 [{row.number(factor::kChunkBytes), window_of(row), 1}] = row.medians;
  }
  for (const SampleRow& row : table.rows(micro::kVisWindow)) {
    sorted.windows[shape_of(row, named<Direction>(row.variant))][{0, window_of(row), 1}] =
        row.medians;
  }
  sorted.pack_raw = table.raw_samples(micro::kPack);
  sorted.vis_raw = table.raw_samples(micro::kVis);
  return sorted;
}

}  // namespace stripline::fit
