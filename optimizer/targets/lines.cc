#include "optimizer/targets/lines.h"

#include <algorithm>

namespace stripline::targets {

Result<std::vector<Line>> lines_of(std::string_view text, std::string_view what) {
  if (text.size() > kMostFileBytes) {
    return Error(ErrorCode::data_loss, std::string(what) + " has " + std::to_string(text.size()) +
                                           " bytes; files of settings have at most " +
                                           std::to_string(kMostFileBytes));
  }
  std::vector<Line> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    Line line{lines.size() + 1, text.substr(at, end - at)};
    if (line.text.ends_with('\r')) line.text.remove_suffix(1);
    const std::string_view before_comment =
        line.text.substr(0, std::min(line.text.find('#'), line.text.size()));
    const auto readable = [](char c) { return (c >= ' ' && c <= '~') || c == '\t'; };
    if (!std::ranges::all_of(before_comment, readable)) {
      return bad_line(what, line, "has a character that is not printable ASCII");
    }
    if (line.text.find('\0') != std::string_view::npos) {
      return bad_line(what, line, "has a NUL character, at which targets stop to read");
    }
    lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Error bad_line(std::string_view what, const Line& line, std::string_view problem) {
  return {ErrorCode::data_loss, std::string(what) + ", line " + std::to_string(line.number) + ": " +
                                    std::string(problem)};
}

std::string comment_block(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line.empty() ? "#" : "# ";
    std::ranges::copy_if(line, std::back_inserter(text),
                         [](char c) { return static_cast<unsigned char>(c) >= ' '; });
    text += '\n';
  }
  return text;
}

std::vector<std::string> leading_comments(std::string_view text) {
  std::vector<std::string> lines;
  while (text.starts_with('#')) {
    const size_t end = std::min(text.find('\n'), text.size());
    const size_t begin = text.starts_with("# ") ? 2 : 1;
    lines.emplace_back(text.substr(begin, end - begin));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace stripline::targets
