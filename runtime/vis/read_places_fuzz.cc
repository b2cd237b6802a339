// What peers send about places: whatever the bytes, reading ends with a refusal or with places
// within the segment.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "runtime/vis/cursor.h"
#include "runtime/vis/wire.h"

namespace {

constexpr uint64_t kSegment = 1 << 16;

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stripline::vis;
  std::span<const std::byte> message(reinterpret_cast<const std::byte*>(data), size);
  wire::Head head;
  if (!wire::read_head(message, head)) return 0;
  if ((head.format & wire::kSignal) != 0) {
    wire::Signal signal;
    if (!wire::read_signal(message, kSegment, signal)) return 0;
    require(signal.offset % 8 == 0 && signal.offset + 8 <= kSegment);
  }
  if ((head.format & wire::kList) != 0) {
    wire::Place place;
    while (wire::read_place(message, kSegment, place)) {
      require(place.offset + place.bytes <= kSegment);
    }
    return 0;
  }
  wire::Part part;
  if (!wire::read_strided_places(message, head, kSegment, part)) return 0;
  SideCursor cursor;
  cursor.start(part.side, part.begin);
  for (uint64_t left = std::min<uint64_t>(part.bytes, 4096); left > 0;) {
    const Run run = cursor.next(left);
    const int64_t last = run.offset + run.stride * static_cast<int64_t>(run.count - 1);
    require(run.count > 0 && run.bytes > 0 && run.offset >= 0 && run.stride >= 0);
    require(last + static_cast<int64_t>(run.bytes) <= static_cast<int64_t>(kSegment));
    left -= run.count * run.bytes;
  }
  return 0;
}
