// What a daemon tells its operator: lines on stderr, for people or for a log collector.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace stripline {

/// "text" and "json".
const std::vector<std::string>& log_formats();
/// "debug", "info", "warning" and "error".
const std::vector<std::string>& log_levels();

/// Sets spdlog's default logger up. `format` and `level` are of the lists above. As text a line
/// begins with the time, the program and the level, and shows control characters of what others
/// wrote instead of passing them to a terminal; as JSON it is one object with time, level and
/// message. Call once, before threads start. Errors: invalid_argument.
Status start_logging(const std::string& program, const std::string& format,
                     const std::string& level);

/// From now on; any thread. Errors: invalid_argument.
Status set_log_level(const std::string& level);

}  // namespace stripline
