#include "suites/targets/leftovers.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number_text.h"

namespace stripline::suites::tune {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSharedMemory = "/dev/shm";

// Calls `look(pid, folder)` for each process of this user.
template <typename Look>
void for_each_process(Look look) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    const auto pid = number_from_text<pid_t>(name);
    if (!pid) continue;
    struct stat facts {};
    if (::stat(entry.path().c_str(), &facts) != 0 || facts.st_uid != ::geteuid()) continue;
    look(*pid, entry.path());
  }
}

// Files of /proc have no size.
std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

size_t kill_processes_of(const std::string& launch) {
  const std::string wanted = std::string(kLaunchVariable) + "=" + launch;
  size_t killed = 0;
  for_each_process([&](pid_t pid, const fs::path& folder) {
    if (pid == ::getpid()) return;
    const std::string environment = text_of(folder / "environ");
    for (size_t at = 0; at < environment.size();) {
      const size_t end = std::min(environment.find('\0', at), environment.size());
      if (environment.compare(at, end - at, wanted) == 0) {
        if (::kill(pid, SIGKILL) == 0) ++killed;
        return;
      }
      at = end + 1;
    }
  });
  return killed;
}

std::set<std::string> shared_memory_files(const std::vector<std::string_view>& prefixes) {
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(kSharedMemory, error)) {
    const std::string name = entry.path().filename().string();
    const bool known = std::ranges::any_of(
        prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
    struct stat facts {};
    if (!known || ::lstat(entry.path().c_str(), &facts) != 0) continue;
    if (facts.st_uid == ::geteuid() && S_ISREG(facts.st_mode)) names.insert(name);
  }
  return names;
}

size_t remove_shared_memory_files(const std::vector<std::string_view>& prefixes,
                                  const std::set<std::string>& before) {
  std::set<std::string> ours = shared_memory_files(prefixes);
  std::erase_if(ours, [&](const std::string& name) { return before.contains(name); });
  if (ours.empty()) return 0;
  // Another job of this user may have made one meanwhile.
  for_each_process([&](pid_t /*pid*/, const fs::path& folder) {
    const std::string maps = text_of(folder / "maps");
    std::erase_if(ours, [&](const std::string& name) {
      return maps.find(std::string(kSharedMemory) + "/" + name) != std::string::npos;
    });
  });
  size_t removed = 0;
  for (const std::string& name : ours) {
    std::error_code error;
    if (fs::remove(fs::path(kSharedMemory) / name, error)) ++removed;
  }
  return removed;
}

}  // namespace stripline::suites::tune
