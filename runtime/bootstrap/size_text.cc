#include "runtime/bootstrap/size_text.h"

#include <charconv>
#include <string>

namespace stripline::bootstrap {

Result<uint64_t> parse_size(std::string_view text, std::string_view what) {
  const auto refuse = [&](std::string_view why) {
    return Error(ErrorCode::invalid_argument,
                 std::string(what) + " '" + std::string(text) + "' " + std::string(why) +
                     "; write a number of bytes, or one with the suffix K, M, G or T, e.g. 256M");
  };
  uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) return refuse("is too large");
  if (error != std::errc()) return refuse("is not a size");
  std::string_view suffix(rest, static_cast<size_t>(text.data() + text.size() - rest));
  int shift = 0;
  if (!suffix.empty() && suffix.front() != 'B' && suffix.front() != 'b') {
    constexpr std::string_view kUnits = "kmgt";
    const char unit = static_cast<char>(suffix.front() | 0x20);
    const size_t index = kUnits.find(unit);
    if (index == std::string_view::npos) return refuse("has an unknown suffix");
    shift = 10 * (static_cast<int>(index) + 1);
    suffix.remove_prefix(1);
    if (suffix.starts_with('i')) suffix.remove_prefix(1);
  }
  if (!suffix.empty() && suffix != "B" && suffix != "b") return refuse("has an unknown suffix");
  if (number == 0) return refuse("is zero");
  if (number > (UINT64_MAX >> shift)) return refuse("is too large");
  return number << shift;
}

}  // namespace stripline::bootstrap
