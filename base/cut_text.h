// Text of others that is repeated in an answer or a log: it must not grow with what was sent.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stripline {

/// What an error or a log repeats of a name that is not valid.
inline constexpr size_t kLongestQuoteBytes = 512;
/// A message as a whole, and a line of a log.
inline constexpr size_t kLongestMessageBytes = 4096;

/// `text` if it has no more than `most` bytes; else its first `most` or a few less, so that no
/// character of UTF-8 is cut in two, and how many bytes it has: "abc... (of 7340032 bytes)".
std::string cut_text(std::string_view text, size_t most);

/// The same within single quotes, with kLongestQuoteBytes.
std::string quoted_text(std::string_view text);

}  // namespace stripline
