// Command lines as a POSIX shell reads them, without a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stripline {

/// The words of a command: separated by white space outside of '...' and "...", with backslashes as
/// in a shell. Nothing is expanded: $, * and ~ mean themselves. Errors: invalid_argument if a quote
/// is not closed, or a backslash is the last character.
Result<std::vector<std::string>> split_words(std::string_view text);

/// One word for the command line of a shell, whatever characters it has.
std::string quote_word(std::string_view word);

}  // namespace stripline
