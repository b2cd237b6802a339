#include "base/memory_limits.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <sys/resource.h>

namespace stripline {
namespace {

/// Files of one version of control groups.
struct Version {
  const char* limit;
  const char* used;
  /// Lines of memory.stat: page cache, part of what is used, that the kernel gives up under
  /// pressure.
  const char* cache_in_use;
  const char* cache_not_in_use;
};
constexpr Version kFirst = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_active_file",
                            "total_inactive_file"};
constexpr Version kSecond = {"memory.max", "memory.current", "active_file", "inactive_file"};

/// Version 1 says "unlimited" by the largest multiple of a page.
constexpr uint64_t kUnlimited = uint64_t{1} << 62;

/// A whole-file number; nullopt for "max" and for files that are not there.
std::optional<uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  uint64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

uint64_t cache_of(const std::string& folder, const Version& version) {
  std::ifstream file(folder + "/memory.stat");
  uint64_t sum = 0;
  uint64_t value = 0;
  for (std::string key; file >> key >> value;) {
    if (key == version.cache_in_use || key == version.cache_not_in_use) sum += value;
  }
  return sum;
}

std::optional<uint64_t> room_in(const std::string& folder, const Version& version) {
  const auto limit = number_in(folder + "/" + version.limit);
  const auto used = number_in(folder + "/" + version.used);
  if (!limit || !used || *limit >= kUnlimited) return std::nullopt;
  const uint64_t kept = *used - std::min(*used, cache_of(folder, version));
  return *limit > kept ? *limit - kept : 0;
}

/// Whether "cpu,memory" lists the memory controller.
bool lists_memory(std::string_view controllers) {
  std::istringstream list{std::string(controllers)};
  for (std::string one; std::getline(list, one, ',');) {
    if (one == "memory") return true;
  }
  return false;
}

}  // namespace

std::optional<GroupRoom> group_room(std::string_view membership, const std::string& root) {
  std::optional<GroupRoom> least;
  // From the group up to the root. In a container the root is its own group, and the path that the
  // host gives it is not there.
  const auto climb = [&](const std::string& top, std::string path, const Version& version) {
    while (true) {
      const auto room = room_in(top + path, version);
      if (room && (!least || *room < least->free_bytes)) least = GroupRoom{*room, top + path};
      if (path.empty()) return;
      path.erase(path.rfind('/'));
    }
  };
  std::istringstream lines{std::string(membership)};
  // "NUMBER:CONTROLLERS:/PATH", of version 2 without controllers.
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(":/", first == std::string::npos ? 0 : first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    if (controllers.empty()) climb(root, path, kSecond);
    if (lists_memory(controllers)) climb(root + "/memory", path, kFirst);
  }
  return least;
}

uint64_t MemoryLimits::allocatable_bytes() const {
  const uint64_t host = total_bytes == 0 ? std::numeric_limits<uint64_t>::max() : available_bytes;
  return group ? std::min(host, group->free_bytes) : host;
}

std::string MemoryLimits::limited_by() const {
  const bool by_group = group && (total_bytes == 0 || group->free_bytes < available_bytes);
  return by_group ? "the control group " + group->folder : "this host";
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
  std::ifstream membership("/proc/self/cgroup");
  limits.group = group_room(std::string(std::istreambuf_iterator<char>(membership), {}));
  rlimit lock{};
  if (getrlimit(RLIMIT_MEMLOCK, &lock) == 0 && lock.rlim_cur != RLIM_INFINITY) {
    limits.lockable_bytes = lock.rlim_cur;
  }
  return limits;
}

}  // namespace stripline
