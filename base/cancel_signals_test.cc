#include "base/cancel_signals.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/process_state.h"

namespace stripline {
namespace {

bool readable(const UniqueFd& fd) {
  pollfd watched{fd.get(), POLLIN, 0};
  return ::poll(&watched, 1, 0) == 1;
}

/// Exits with 0 if exactly what is expected of a SIGHUP happens. In a process of its own: it
/// changes what signals do.
[[noreturn]] void hang_up(bool ignored, bool cancels) {
  ::signal(SIGHUP, ignored ? SIG_IGN : SIG_DFL);
  const UniqueFd cancel = catch_cancel_signals();
  if (readable(cancel)) ::_exit(1);
  ::raise(SIGHUP);
  if (readable(cancel) != cancels) ::_exit(2);
  ::raise(SIGTERM);
  ::_exit(readable(cancel) ? 0 : 3);
}

/// Exits with 0 if a SIGTSTP waits until it is asked for, and the process goes on afterwards.
[[noreturn]] void suspend() {
  ::setpgid(0, 0);  // or no shell would know of the group, and the kernel not stop it
  ::alarm(60);
  const UniqueFd suspended = catch_suspend_signal();
  ::raise(SIGTSTP);
  if (!readable(suspended)) ::_exit(1);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    while (!process_state(parent)->stopped()) ::usleep(1000);
    ::kill(parent, SIGCONT);
    ::_exit(0);
  }
  suspend_process(suspended.get());
  int status = -1;
  if (::waitpid(child, &status, 0) != child || status != 0) ::_exit(2);
  if (readable(suspended)) ::_exit(3);
  ::raise(SIGTSTP);
  ::_exit(readable(suspended) ? 0 : 4);
}

TEST(CancelSignalsTest, AProcessStopsWhenItAsksFor) {
  EXPECT_EXIT(suspend(), ::testing::ExitedWithCode(0), "");
}

TEST(CancelSignalsTest, SignalsBecomeReadable) {
  EXPECT_EXIT(hang_up(false, true), ::testing::ExitedWithCode(0), "");
}

TEST(CancelSignalsTest, HangupThatIsIgnoredStaysIgnored) {
  EXPECT_EXIT(hang_up(true, false), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace stripline
