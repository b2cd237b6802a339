#include "base/symmetric_size.h"

#include <charconv>
#include <cmath>
#include <string>

#include "base/cut_text.h"

namespace stripline {
namespace {

Error not_a_size(std::string_view text, std::string_view variable) {
  return {ErrorCode::invalid_argument,
          std::string(variable) + "=" + quoted_text(text) +
              " is not a size of the symmetric heap; write bytes as 1048576, 512M or 1.5g"};
}

}  // namespace

Result<uint64_t> parse_symmetric_size(std::string_view text, std::string_view variable) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number < 0 || std::signbit(number)) {
    return not_a_size(text, variable);
  }
  int exponent = 0;
  if (end != text.data() + text.size()) {
    switch (*end) {
      case 'k':
      case 'K':
        exponent = 10;
        break;
      case 'm':
      case 'M':
        exponent = 20;
        break;
      case 'g':
      case 'G':
        exponent = 30;
        break;
      case 't':
      case 'T':
        exponent = 40;
        break;
      default:
        return not_a_size(text, variable);
    }
  }
  const double bytes = std::ceil(std::ldexp(number, exponent));
  // Beyond what addresses reach there is no need to be exact.
  if (bytes > std::ldexp(1.0, 60)) return not_a_size(text, variable);
  return static_cast<uint64_t>(bytes);
}

}  // namespace stripline
