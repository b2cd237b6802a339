// Room in /dev/shm, and what to tell a user when it or the limit of locked memory is too small;
// huge pages.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace stripline {

/// Where huge pages may begin on usual hosts. On others alignment to it is in vain, and harmless.
inline constexpr uint64_t kHugePageBytes = uint64_t{2} << 20;

/// How to get more of it, for the end of a message.
inline constexpr std::string_view kEnlargeSharedMemory =
    "enlarge /dev/shm ('mount -o remount,size=50% /dev/shm'; 'docker run --shm-size=SIZE'; an "
    "emptyDir with medium Memory in Kubernetes)";
inline constexpr std::string_view kRaiseLockedMemory =
    "'ulimit -l unlimited', LimitMEMLOCK=infinity in a systemd unit, /etc/security/limits.conf, or "
    "'docker run --ulimit memlock=-1'";

/// Bytes that can still be put into /dev/shm; nullopt if no such file system is there.
std::optional<uint64_t> shared_memory_free_bytes(const char* folder = "/dev/shm");

/// Checks whether `bytes` more fit into /dev/shm now. `what` names them at the start of a sentence:
/// "4 segments of 256 MiB". Call it before creating them: a file there may be larger than the file
/// system, and a process that then writes to it is killed by SIGBUS. (Whoever creates one makes
/// sure of its pages with posix_fallocate(), too: others may be creating theirs.) Errors:
/// resource_exhausted, with the room there is and how to get more; unavailable if /dev/shm is not
/// there.
Status check_shared_memory(uint64_t bytes, std::string_view what, const char* folder = "/dev/shm");

}  // namespace stripline
