#include "base/descriptors.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace stripline {
namespace {

// More than any job needs. Container engines allow 2^30, and a program that closes every number it
// may have would be busy with that for minutes.
constexpr rlim_t kMostDescriptors = rlim_t{1} << 20;

rlimit current_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit;
}

// The soft one at the first call.
rlim_t former_limit() {
  static const rlim_t kFormer = current_limit().rlim_cur;
  return kFormer;
}

void open_standard_descriptors() {
  int opened = 0;
  do {
    opened = ::open("/dev/null", O_RDWR);  // inherited by children, as what it stands for
    // Without /dev (a bare chroot) anything that keeps the number taken is better than nothing.
    if (opened < 0) opened = ::open("/", O_RDONLY | O_DIRECTORY);
  } while (opened >= 0 && opened <= STDERR_FILENO);
  if (opened >= 0) ::close(opened);
}

}  // namespace

void prepare_descriptors() {
  open_standard_descriptors();
  rlimit limit = current_limit();
  const rlim_t wanted = std::min(limit.rlim_max, kMostDescriptors);
  if (former_limit() >= wanted || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void restore_descriptor_limit() {
  rlimit limit = current_limit();
  limit.rlim_cur = std::min(former_limit(), limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

uint64_t descriptor_limit() { return current_limit().rlim_cur; }

}  // namespace stripline
