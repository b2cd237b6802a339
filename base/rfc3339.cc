#include "base/rfc3339.h"

#include <cmath>
#include <ctime>

#include "base/formatted.h"

namespace stripline {

std::string rfc3339(double unix_s) {
  const auto milliseconds = static_cast<long long>(std::floor(unix_s * 1000));
  long long rest = milliseconds % 1000;
  if (rest < 0) rest += 1000;
  const auto seconds = static_cast<std::time_t>((milliseconds - rest) / 1000);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return formatted("%04d-%02d-%02dT%02d:%02d:%02d.%03lldZ", utc.tm_year + 1900, utc.tm_mon + 1,
                   utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, rest);
}

}  // namespace stripline
