#include <cerrno>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <functional>
#include <optional>
#include <signal.h>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "runtime/fabric/ofi/ofi_fabric.h"

namespace stripline::fabric {
namespace {

constexpr time_t kYoungSeconds = 60;

/// The namespace in which all processes of a host have numbers (PROC_PID_INIT_INO of Linux).
constexpr const char* kAllProcesses = "pid:[4026531836]";

bool sees_all_processes() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/ns/pid", error) == kAllProcesses;
}

/// The process that has made a file of this name: the provider calls its regions
/// PID:DOMAIN:ENDPOINT.
std::optional<pid_t> owner_of(const std::string& name) {
  pid_t owner = 0;
  const char* const last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data(), last, owner);
  if (error != std::errc() || owner <= 0 || end == last || *end != ':') return std::nullopt;
  return owner;
}

/// Removes the regions for which `is_left(owner, path)` holds.
void remove_regions(const std::function<bool(pid_t, const std::filesystem::path&)>& is_left) {
  std::error_code ignored;
  std::filesystem::directory_iterator entry("/dev/shm", ignored);
  while (!ignored && entry != std::filesystem::directory_iterator()) {
    const std::filesystem::path path = entry->path();
    entry.increment(ignored);
    const auto owner = owner_of(path.filename().string());
    std::error_code not_ours;
    if (owner && is_left(*owner, path)) std::filesystem::remove(path, not_ours);
  }
}

}  // namespace

void remove_ofi_leftovers(pid_t ended) {
  remove_regions([=](pid_t owner, const std::filesystem::path&) { return owner == ended; });
}

void remove_ofi_leftovers_of_the_dead() {
  const time_t least_age = sees_all_processes() ? 0 : kYoungSeconds;
  const time_t now = ::time(nullptr);
  remove_regions([=](pid_t owner, const std::filesystem::path& path) {
    // The names are not reserved.
    const std::string name = path.filename().string();
    if (name.find_first_not_of("0123456789:") != std::string::npos) return false;
    if (::kill(owner, 0) == 0 || errno != ESRCH) return false;
    struct stat file {};
    return ::lstat(path.c_str(), &file) == 0 && file.st_uid == ::geteuid() &&
           S_ISREG(file.st_mode) && now - file.st_mtime >= least_age;
  });
}

}  // namespace stripline::fabric
