#include "runtime/fabric/emulated/uncached_copy.h"

#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace stripline::fabric {

void copy_uncached(std::byte* destination, const std::byte* source, size_t bytes) {
#ifdef __SSE2__
  constexpr size_t kVector = sizeof(__m128i);
  // Below a few lines the fence costs more than the lines are worth.
  constexpr size_t kSmall = 256;
  if (bytes >= kSmall) {
    const size_t head = (kVector - reinterpret_cast<uintptr_t>(destination) % kVector) % kVector;
    std::memcpy(destination, source, head);
    size_t done = head;
    for (; done + kVector <= bytes; done += kVector) {
      const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + done));
      _mm_stream_si128(reinterpret_cast<__m128i*>(destination + done), value);
    }
    _mm_sfence();
    std::memcpy(destination + done, source + done, bytes - done);
    return;
  }
#endif
  if (bytes > 0) std::memcpy(destination, source, bytes);
}

}  // namespace stripline::fabric
