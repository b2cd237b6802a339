#include "runtime/fabric/ofi/ofi_settings.h"

#include <cstdlib>

#include "base/cut_text.h"
#include "base/number_text.h"
#include "base/quantity.h"

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
    const auto seconds = parse_seconds(text, kTimeLimits);
    if (!seconds.ok()) return seconds.error().with_context("STRIPLINE_PEER_TIMEOUT");
    settings.peer_timeout_s = *seconds;
  }
  if (const std::string text = environment("STRIPLINE_INJECTION_QUEUES"); !text.empty()) {
    const auto queues = number_from_text<decltype(settings.injectors)>(text);
    if (!queues) {
      return Error(ErrorCode::invalid_argument,
                   "STRIPLINE_INJECTION_QUEUES=" + quoted_text(text) +
                       " is not a number of queues; use a whole number, 0 for none");
    }
    settings.injectors = *queues;
  }
  return settings;
}

}  // namespace stripline::fabric::ofi
