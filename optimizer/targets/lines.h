// Files of settings as lines, for the strict readers of targets' grammars. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stripline::targets {

/// No file of settings is larger; readers refuse it.
inline constexpr size_t kMostFileBytes = size_t{4} << 20;

struct Line {
  size_t number = 0;  ///< from 1
  std::string_view text;
};

/// Lines without their ends ("\n" or "\r\n"). Errors: data_loss for a file that is too large, or
/// has a character that is neither printable ASCII nor white space outside of comments (from '#'
/// on); names the line.
Result<std::vector<Line>> lines_of(std::string_view text, std::string_view what);

/// Without blanks and tabs at both ends.
std::string_view trimmed(std::string_view text);

/// data_loss: "WHAT, line N: PROBLEM".
Error bad_line(std::string_view what, const Line& line, std::string_view problem);

/// What the writers put in front of a file: each line behind "# ". Control characters are left out.
std::string comment_block(const std::vector<std::string>& lines);

/// The lines of such a block at the beginning of a text.
std::vector<std::string> leading_comments(std::string_view text);

}  // namespace stripline::targets
