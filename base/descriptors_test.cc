#include "base/descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/subprocess.h"

namespace stripline {
namespace {

bool is_null_device(int fd) {
  struct stat here {};
  struct stat null {};
  return ::fstat(fd, &here) == 0 && ::stat("/dev/null", &null) == 0 && here.st_rdev == null.st_rdev;
}

void set_limits(rlim_t soft, rlim_t hard) {
  const rlimit limit{.rlim_cur = soft, .rlim_max = hard};
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// In a process of its own, which ends with 0 if `good`. The death test's own descriptors matter to
// no one by then.
template <typename Function>
void expect_in_child(Function good) {
  EXPECT_EXIT(::_exit(good() ? 0 : 1), ::testing::ExitedWithCode(0), "");
}

TEST(Descriptors, ClosedStandardOnesBecomeTheNullDevice) {
  expect_in_child([] {
    for (const int fd : {0, 1, 2}) ::close(fd);
    prepare_descriptors();
    const int next = ::open("/", O_RDONLY);
    return is_null_device(0) && is_null_device(1) && is_null_device(2) && next > 2 &&
           (::fcntl(1, F_GETFD) & FD_CLOEXEC) == 0;
  });
}

TEST(Descriptors, OpenStandardOnesStay) {
  expect_in_child([] {
    ::close(0);
    ::close(1);
    const UniqueFd folder(::open("/", O_RDONLY));  // is 0
    prepare_descriptors();
    return !is_null_device(0) && is_null_device(1);
  });
}

TEST(Descriptors, TheSoftLimitBecomesTheHardOneAndChildrenHaveTheFormer) {
  expect_in_child([] {
    set_limits(64, 200);
    prepare_descriptors();
    prepare_descriptors();
    const bool raised = descriptor_limit() == 200;
    auto child = Subprocess::spawn({.argv = {"sh", "-c", "test $(ulimit -Sn) = 64"}});
    const bool inherited = child.ok() && child->wait(10)->ok();
    restore_descriptor_limit();
    return raised && inherited && descriptor_limit() == 64;
  });
}

}  // namespace
}  // namespace stripline
