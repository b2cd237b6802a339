// How values look to people: dates, and what is too long for its column. Output only; nothing reads
// these forms back.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace stripline::cli {

/// "2026-11-26 07:34 UTC" of a server's time stamp (RFC 3339, UTC); anything else as it is.
std::string date_text(const std::string& rfc3339);

/// "3.5 %", "0.02 %" of a share: two significant digits.
std::string percent_text(double share);

/// "bytes=4096 count=8" of parameters with their values.
std::string params_text(const std::map<std::string, std::string>& params);

/// "state       RUNNING\n": a line of what is shown of one thing. The value as printable_line()
/// shows it.
std::string labelled_line(const std::string& label, const std::string& value);

/// `text` in at most `width` columns; what is cut off is shown as "..".
std::string fit(const std::string& text, size_t width);

}  // namespace stripline::cli
