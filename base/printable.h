// Text of others, made fit for a terminal: names, messages and summaries come from the network and
// from files, and a terminal obeys what is written to it.
#pragma once

#include <string>
#include <string_view>

namespace stripline {

/// `text` with everything that a terminal acts upon shown instead: control characters (but not
/// newlines and tabs) and characters that change the direction of writing as \u001b, bytes that are
/// no UTF-8 as \x9b. What \u shows reads as the same character in JSON, so that a document stays
/// what it was.
std::string printable(std::string_view text);

/// The same for what is to stay on one line: newlines and tabs are shown, too.
std::string printable_line(std::string_view text);

}  // namespace stripline
