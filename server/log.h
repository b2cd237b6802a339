// What the server tells its operator: lines on stderr, for people or for a log collector.
#pragma once

#include <string>

#include "base/result.h"

namespace stripline::server {

/// Sets spdlog's default logger up. `format`: "text", or "json" (one object with time, level and
/// message per line). `level`: "debug", "info", "warning" or "error". Call once, before threads
/// start. Errors: invalid_argument.
Status start_logging(const std::string& format, const std::string& level);

}  // namespace stripline::server
