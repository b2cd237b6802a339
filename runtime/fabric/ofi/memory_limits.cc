#include "runtime/fabric/ofi/memory_limits.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <sys/resource.h>

namespace stripline::fabric::ofi {
namespace {

/// A whole-file number; nullopt for "max" and for files that are not there.
std::optional<uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  uint64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

/// The path of this process in the unified hierarchy: the line "0::/path".
std::string cgroup_folder() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::")) return "/sys/fs/cgroup" + line.substr(3);
  }
  return {};
}

/// The least room in this group and in those around it.
std::optional<uint64_t> cgroup_free() {
  constexpr std::string_view kRoot = "/sys/fs/cgroup";
  std::optional<uint64_t> least;
  for (std::string folder = cgroup_folder(); folder.size() > kRoot.size();
       folder.erase(folder.rfind('/'))) {
    const auto limit = number_in(folder + "/memory.max");
    const auto current = number_in(folder + "/memory.current");
    if (!limit || !current) continue;
    const uint64_t room = *limit > *current ? *limit - *current : 0;
    least = std::min(least.value_or(room), room);
  }
  return least;
}

}  // namespace

uint64_t MemoryLimits::allocatable_bytes() const {
  return std::min(available_bytes, cgroup_free_bytes.value_or(available_bytes));
}

MemoryLimits MemoryLimits::read() {
  MemoryLimits limits;
  std::ifstream meminfo("/proc/meminfo");
  std::string key;
  std::string unit;
  for (uint64_t kibibytes = 0; meminfo >> key >> kibibytes; std::getline(meminfo, unit)) {
    if (key == "MemTotal:") limits.total_bytes = kibibytes << 10;
    if (key == "MemAvailable:") limits.available_bytes = kibibytes << 10;
  }
  limits.cgroup_free_bytes = cgroup_free();
  rlimit lock{};
  if (getrlimit(RLIMIT_MEMLOCK, &lock) == 0 && lock.rlim_cur != RLIM_INFINITY) {
    limits.lockable_bytes = lock.rlim_cur;
  }
  return limits;
}

}  // namespace stripline::fabric::ofi
