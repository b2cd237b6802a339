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
  constexpr size_t kMaxBytes = 1000;
  const std::string from = peer.empty() ? "" : " from " + peer;
  const std::string line =
      printable_line("refused " + call + from + ": " + why).substr(0, kMaxBytes);
  const std::lock_guard lock(mutex_);
  // Strangers must be able to fill neither the log nor the memory.
  return lines_.try_take(line, now_s) ? line : "";
}

size_t Refusals::remembered() {
  const std::lock_guard lock(mutex_);
  return lines_.size();
}

}  // namespace stripline::server
