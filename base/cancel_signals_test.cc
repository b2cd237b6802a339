#include "base/cancel_signals.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <gtest/gtest.h>

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

TEST(CancelSignalsTest, SignalsBecomeReadable) {
  EXPECT_EXIT(hang_up(false, true), ::testing::ExitedWithCode(0), "");
}

TEST(CancelSignalsTest, HangupThatIsIgnoredStaysIgnored) {
  EXPECT_EXIT(hang_up(true, false), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace stripline
