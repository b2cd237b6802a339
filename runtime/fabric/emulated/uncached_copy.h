// Copies as a NIC does: into memory, not into the caches of the CPU that happens to carry out the
// emulation. Without it, emulated data would arrive in cache, and computing on it would be faster
// than on a real network (Iancu et al., section 6.1: what was just fetched misses the cache).
#pragma once

#include <cstddef>

namespace stripline::fabric {

/// As memcpy. On x86 the bulk is written with non-temporal stores.
void copy_uncached(std::byte* destination, const std::byte* source, size_t bytes);

}  // namespace stripline::fabric
