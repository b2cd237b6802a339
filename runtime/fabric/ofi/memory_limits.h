// How much memory this process may use and lock, from the kernel and the control group.
#pragma once

#include <cstdint>
#include <optional>

namespace stripline::fabric::ofi {

struct MemoryLimits {
  uint64_t total_bytes = 0;      ///< MemTotal
  uint64_t available_bytes = 0;  ///< MemAvailable
  std::optional<uint64_t>
      cgroup_free_bytes;                   ///< memory.max - memory.current (cgroup v2), if limited
  std::optional<uint64_t> lockable_bytes;  ///< RLIMIT_MEMLOCK; nullopt: unlimited

  /// What an allocation may take at most now.
  uint64_t allocatable_bytes() const;

  static MemoryLimits read();
};

}  // namespace stripline::fabric::ofi
