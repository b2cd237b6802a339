#include "cli/grammar_parts.h"

#include <algorithm>
#include <sstream>

#include "base/quantity.h"

namespace stripline::cli {

CLI::Validator is_count() {
  return {[](std::string& text) {
            const bool digits = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
              return c >= '0' && c <= '9';
            });
            const bool positive = text.find_first_not_of('0') != std::string::npos;
            if (digits && positive) return std::string();
            return "'" + text + "' is not accepted; write a whole number from 1 on";
          },
          ""};
}

Result<std::string> bytes_as_text(const std::string& text) {
  STRIPLINE_ASSIGN_OR_RETURN(const uint64_t bytes, parse_bytes(text, "the size"));
  return std::to_string(bytes);
}

Result<std::string> seconds_as_text(const std::string& text) {
  STRIPLINE_ASSIGN_OR_RETURN(const double seconds, parse_seconds(text));
  std::ostringstream out;
  out.precision(17);
  out << seconds;
  return out.str();
}

}  // namespace stripline::cli
