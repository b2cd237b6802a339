// Points in time as files, logs and people see them.
#pragma once

#include <string>

namespace stripline {

/// RFC 3339 in UTC with milliseconds: "2024-03-01T09:30:00.250Z".
std::string rfc3339(double unix_s);

}  // namespace stripline
