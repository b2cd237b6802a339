// Putting data out of the processor's caches, for measurements of cold memory.
#pragma once

#include <cstddef>
#include <memory>

namespace stripline::suites {

/// The size of the largest cache that this host names in /sys/devices/system/cpu, or 32 MiB if it
/// names none.
size_t last_level_cache_bytes();

/// Evicts memory from every cache level. On x86-64 it flushes the lines asked for; elsewhere it
/// writes to a buffer of twice the last-level cache, which it owns.
class Evictor {
 public:
  void evict(const void* memory, size_t bytes);

 private:
  std::unique_ptr<std::byte[]> buffer_;
};

}  // namespace stripline::suites
