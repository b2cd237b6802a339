#include "base/process_state.h"

#include <array>
#include <cstdio>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

#include "base/subprocess.h"

namespace stripline {

std::optional<ProcessState> process_state(pid_t pid) {
  std::array<char, 64> path{};
  (void)std::snprintf(path.data(), path.size(), "/proc/%d/stat", static_cast<int>(pid));
  const UniqueFd file(::open(path.data(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::array<char, 512> text{};  // ends in a null byte
  const ssize_t size = ::read(file.get(), text.data(), text.size() - 1);
  if (size <= 0) return std::nullopt;
  // "PID (NAME) STATE PPID GROUP ... UTIME STIME ...", where the name may be anything of at most 15
  // characters.
  const std::string_view line(text.data(), static_cast<size_t>(size));
  const size_t name_end = line.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  ProcessState result;
  int group = 0;
  unsigned long in_program = 0;
  unsigned long in_kernel = 0;
  if (std::sscanf(line.data() + name_end + 1, " %c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                  &result.state, &group, &in_program, &in_kernel) != 4) {
    return std::nullopt;
  }
  result.group = group;
  result.cpu_ticks = uint64_t{in_program} + in_kernel;
  return result;
}

}  // namespace stripline
