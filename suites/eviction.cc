#include "suites/eviction.h"

#include <algorithm>
#include <fstream>
#include <string>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace stripline::suites {
namespace {

constexpr size_t kAssumedCacheBytes = size_t{32} << 20;
constexpr size_t kLineBytes = 64;

}  // namespace

size_t last_level_cache_bytes() {
  size_t largest = 0;
  for (int index = 0; index < 8; ++index) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) +
                       "/size");
    size_t size = 0;
    char unit = ' ';
    if (!(file >> size)) break;
    file >> unit;
    if (unit == 'K') size <<= 10;
    if (unit == 'M') size <<= 20;
    largest = std::max(largest, size);
  }
  return largest == 0 ? kAssumedCacheBytes : largest;
}

#if defined(__x86_64__)

void Evictor::evict(const void* memory, size_t bytes) {
  const auto* at = static_cast<const std::byte*>(memory);
  for (size_t i = 0; i < bytes; i += kLineBytes) _mm_clflush(at + i);
  if (bytes != 0) _mm_clflush(at + bytes - 1);
  _mm_mfence();
}

#else

void Evictor::evict(const void*, size_t) {
  const size_t size = 2 * last_level_cache_bytes();
  if (!buffer_) buffer_ = std::make_unique<std::byte[]>(size);
  for (size_t i = 0; i < size; i += kLineBytes) {
    auto* line = static_cast<volatile std::byte*>(buffer_.get() + i);
    *line = static_cast<std::byte>(i);
  }
}

#endif

}  // namespace stripline::suites
