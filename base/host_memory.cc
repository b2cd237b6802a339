#include "base/host_memory.h"

#include <limits>
#include <string>
#include <sys/statvfs.h>

#include "base/quantity.h"

namespace stripline {

std::optional<uint64_t> shared_memory_free_bytes(const char* folder) {
  struct statvfs status {};
  if (::statvfs(folder, &status) != 0) return std::nullopt;
  // A tmpfs without limit counts no blocks.
  if (status.f_blocks == 0) return std::numeric_limits<uint64_t>::max();
  return static_cast<uint64_t>(status.f_bavail) * status.f_frsize;
}

Status check_shared_memory(uint64_t bytes, std::string_view what, const char* folder) {
  const auto room = shared_memory_free_bytes(folder);
  if (!room) {
    return Error(ErrorCode::unavailable, std::string(what) +
                                             " need shared memory, but there is no " + folder +
                                             "; mount -t tmpfs tmpfs /dev/shm");
  }
  if (bytes <= *room) return {};
  return Error(ErrorCode::resource_exhausted,
               std::string(what) + " need " + bytes_text(bytes) + " of " + folder + ", which has " +
                   bytes_text(*room) + " free; " + std::string(kEnlargeSharedMemory));
}

}  // namespace stripline
