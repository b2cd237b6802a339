#include "base/cancel_signals.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace stripline {

UniqueFd catch_cancel_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGINT);
  ::sigaddset(&set, SIGTERM);
  // Blocking an ignored signal would bring it back: signalfd reports it.
  struct sigaction hangup {};
  ::sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) ::sigaddset(&set, SIGHUP);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

namespace {

sigset_t terminal_stop() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTSTP);
  return set;
}

}  // namespace

UniqueFd catch_suspend_signal() {
  struct sigaction stop {};
  ::sigaction(SIGTSTP, nullptr, &stop);
  if (stop.sa_handler == SIG_IGN) return {};
  const sigset_t set = terminal_stop();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

void suspend_process(int suspend) {
  // Where no shell could continue the process, the kernel ignores this signal, unlike SIGSTOP.
  signalfd_siginfo told;
  while (::read(suspend, &told, sizeof told) > 0) continue;
  const sigset_t set = terminal_stop();
  ::raise(SIGTSTP);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace stripline
