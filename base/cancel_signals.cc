#include "base/cancel_signals.h"

#include <signal.h>
#include <sys/signalfd.h>

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

}  // namespace stripline
