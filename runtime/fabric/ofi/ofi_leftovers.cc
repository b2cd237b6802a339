#include <filesystem>
#include <string>
#include <system_error>

#include "runtime/fabric/ofi/ofi_fabric.h"

namespace stripline::fabric {

void remove_ofi_leftovers(pid_t ended) {
  // The provider names its regions PID:DOMAIN:ENDPOINT.
  const std::string prefix = std::to_string(ended) + ":";
  std::error_code ignored;
  std::filesystem::directory_iterator entry("/dev/shm", ignored);
  while (!ignored && entry != std::filesystem::directory_iterator()) {
    const std::filesystem::path path = entry->path();
    entry.increment(ignored);
    std::error_code not_ours;
    if (path.filename().string().starts_with(prefix)) std::filesystem::remove(path, not_ours);
  }
}

}  // namespace stripline::fabric
