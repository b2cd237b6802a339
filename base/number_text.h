// Numbers read from text.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace stripline {

/// The number that the text is from its first character to its last, as std::from_chars() reads
/// it: without white space or a plus sign. nullopt: it is not one, or `Number` cannot hold it.
template <typename Number>
std::optional<Number> number_from_text(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace stripline
