#include "agent/leftovers.h"

#include <algorithm>
#include <filesystem>
#include <sys/mman.h>
#include <system_error>

namespace stripline::agent {

void remove_leftovers(const std::string& job_id, const std::vector<pid_t>& ranks) {
  ::shm_unlink(("/stripline-" + job_id).c_str());
  std::error_code ignored;
  std::vector<std::filesystem::path> found;
  for (std::filesystem::directory_iterator entry("/dev/shm", ignored), end; entry != end;
       entry.increment(ignored)) {
    const std::string name = entry->path().filename().string();
    if (std::any_of(ranks.begin(), ranks.end(),
                    [&](pid_t rank) { return name.starts_with(std::to_string(rank) + ":"); })) {
      found.push_back(entry->path());
    }
  }
  for (const std::filesystem::path& path : found) std::filesystem::remove(path, ignored);
}

}  // namespace stripline::agent
