#include "runtime/fabric/ofi/ofi_settings.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace stripline::fabric::ofi {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing calls setenv
  return value != nullptr ? value : "";
}

}  // namespace

Result<Settings> Settings::from_environment() {
  Settings settings;
  settings.address = environment("STRIPLINE_ADDRESS");
  settings.interface = environment("STRIPLINE_IFACE");

  if (const std::string text = environment("STRIPLINE_PEER_TIMEOUT"); !text.empty()) {
    double seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(seconds) ||
        seconds <= 0) {
      return Error(ErrorCode::invalid_argument,
                   "STRIPLINE_PEER_TIMEOUT is '" + text + "'; use a positive number of seconds");
    }
    settings.peer_timeout_s = seconds;
  }
  return settings;
}

}  // namespace stripline::fabric::ofi
