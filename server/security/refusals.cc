#include "server/security/refusals.h"

#include <spdlog/spdlog.h>

#include "base/printable.h"
#include "server/clock.h"

namespace stripline::server {

void Refusals::note(const std::string& call, const std::string& peer, const std::string& why) {
  const std::string line = line_at(call, peer, why, steady_seconds());
  if (!line.empty()) spdlog::warn("{}", line);
}

std::string Refusals::line_at(const std::string& call, const std::string& peer,
                              const std::string& why, double now_s) {
  meters_.count(Meters::Counter::calls_refused);
  constexpr size_t kMostBytes = 1000;
  const std::string from = peer.empty() ? "" : " from " + peer;
  const std::string line =
      printable_line("refused " + call + from + ": " + why).substr(0, kMostBytes);
  const std::lock_guard lock(mutex_);
  // Strangers must be able to fill neither the log nor the memory: a line is remembered only where
  // it may be logged, and one that is not logged again takes nothing from the others.
  const bool logged = all_.has(1, now_s) && lines_.try_take(line, 1, now_s);
  if (logged) all_.try_take(1, now_s);
  return logged ? line : "";
}

size_t Refusals::remembered() {
  const std::lock_guard lock(mutex_);
  return lines_.size();
}

}  // namespace stripline::server
