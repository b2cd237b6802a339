#include "base/memory_limits.h"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <limits>
#include <sys/resource.h>

#include "base/quantity.h"

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

}  // namespace

std::optional<GroupRoom> group_room(std::string_view membership, const std::string& root) {
  std::optional<GroupRoom> least;
  for_each_group(membership, "memory", root, [&](const std::string& folder, GroupVersion version) {
    const auto room = room_in(folder, version == GroupVersion::first ? kFirst : kSecond);
    if (room && (!least || *room < least->free_bytes)) least = GroupRoom{*room, folder};
  });
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

ShellLimits ShellLimits::read() {
  const auto soft = [](auto resource) -> std::optional<uint64_t> {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
    return limit.rlim_cur;
  };
  ShellLimits limits;
  limits.address_space_bytes = soft(RLIMIT_AS);
  limits.data_bytes = soft(RLIMIT_DATA);
  limits.file_bytes = soft(RLIMIT_FSIZE);
  limits.processes = soft(RLIMIT_NPROC);
  limits.processor_s = soft(RLIMIT_CPU);
  limits.stack_bytes = soft(RLIMIT_STACK);
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_max != RLIM_INFINITY) {
    limits.open_files = files.rlim_max;
  }
  return limits;
}

std::string limit_behind(int signal, const ShellLimits& limits) {
  constexpr uint64_t kUsualStackBytes = uint64_t{8} << 20;  // what Linux begins with
  switch (signal) {
    case SIGXCPU:
      return "it has used the processor time that the shell allows a process ('ulimit -t "
             "unlimited' lifts the limit)";
    case SIGXFSZ:
      return "the shell allows no file of the size that it wanted, shared memory among them "
             "('ulimit -f unlimited' lifts the limit)";
    case SIGKILL:
      if (!limits.processor_s) return {};
      return "perhaps because it has used the " + std::to_string(*limits.processor_s) +
             " s of processor time that the shell allows a process ('ulimit -t unlimited' lifts "
             "the limit)";
    case SIGSEGV:
      if (!limits.stack_bytes || *limits.stack_bytes >= kUsualStackBytes) return {};
      return "perhaps for want of stack, of which the shell allows a thread " +
             bytes_text(*limits.stack_bytes) + " ('ulimit -s 8192' sets the usual 8 MiB)";
    default:
      return {};
  }
}

bool may_size_file(uint64_t bytes) {
  const auto limit = ShellLimits::read().file_bytes;
  return !limit || bytes <= *limit;
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
  limits.group = group_room(group_membership());
  rlimit lock{};
  if (getrlimit(RLIMIT_MEMLOCK, &lock) == 0 && lock.rlim_cur != RLIM_INFINITY) {
    limits.lockable_bytes = lock.rlim_cur;
  }
  return limits;
}

}  // namespace stripline
