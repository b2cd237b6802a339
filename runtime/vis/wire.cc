#include "runtime/vis/wire.h"

namespace stripline::vis::wire {
namespace {

template <typename Value>
std::byte* put(std::byte* out, const Value& value) {
  std::memcpy(out, &value, sizeof value);
  return out + sizeof value;
}

template <typename Value>
bool take(std::span<const std::byte>& message, Value& value) {
  if (message.size() < sizeof value) return false;
  std::memcpy(&value, message.data(), sizeof value);
  message = message.subspan(sizeof value);
  return true;
}

}  // namespace

std::byte* write_strided_places(const Side& side, uint64_t begin, uint64_t bytes, std::byte* out) {
  out = put(out, StridedHead{static_cast<uint64_t>(side.base), side.bytes, begin, bytes});
  for (const SideDimension& dimension : side.dimensions) {
    out = put(out, dimension.count);
    out = put(out, static_cast<uint64_t>(dimension.stride));
  }
  return out;
}

bool read_head(std::span<const std::byte>& message, Head& head) { return take(message, head); }

bool read_landing(std::span<const std::byte>& message, Landing& landing) {
  return take(message, landing);
}

bool read_signal(std::span<const std::byte>& message, uint64_t segment_bytes, Signal& signal) {
  return take(message, signal) && signal.offset % sizeof(uint64_t) == 0 &&
         segment_bytes >= sizeof(uint64_t) && signal.offset <= segment_bytes - sizeof(uint64_t);
}

bool read_strided_places(std::span<const std::byte>& message, const Head& head,
                         uint64_t segment_bytes, Part& part) {
  StridedHead places;
  if (!take(message, places) || places.region_bytes == 0 || places.base > segment_bytes ||
      places.region_bytes > segment_bytes - places.base) {
    return false;
  }
  part.side.base = static_cast<int64_t>(places.base);
  part.side.bytes = places.region_bytes;
  part.side.dimensions.clear();
  uint64_t room = segment_bytes - places.base - places.region_bytes;  // beyond the last region
  uint64_t total = places.region_bytes;
  for (unsigned i = 0; i < head.dimensions; ++i) {
    uint64_t count = 0;
    uint64_t stride = 0;
    uint64_t length = 0;
    if (!take(message, count) || !take(message, stride) || count < 2 ||
        __builtin_mul_overflow(count - 1, stride, &length) || length > room ||
        __builtin_mul_overflow(total, count, &total)) {
      return false;
    }
    room -= length;
    part.side.dimensions.push_back({count, static_cast<int64_t>(stride)});
  }
  part.begin = places.begin;
  part.bytes = places.bytes;
  return places.begin <= total && places.bytes <= total - places.begin;
}

}  // namespace stripline::vis::wire
