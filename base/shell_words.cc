#include "base/shell_words.h"

#include <optional>
#include <utility>

namespace stripline {
namespace {

constexpr std::string_view kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";

Error unfinished(std::string_view text, const std::string& what) {
  return {ErrorCode::invalid_argument, "'" + std::string(text) + "' ends within " + what};
}

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  const auto add = [&word](char c) {
    if (!word) word.emplace();
    word->push_back(c);
  };
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      if (auto whole = std::exchange(word, std::nullopt)) words.push_back(*std::move(whole));
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
      if (!word) word.emplace();  // '' is a word
    } else if (c == '\\' && quote != '\'') {
      if (i + 1 == text.size()) return unfinished(text, "an escape");
      const char next = text[++i];
      // Between double quotes a backslash is one unless what follows has a meaning there.
      if (quote == '"' && next != '"' && next != '\\' && next != '$' && next != '`') add(c);
      add(next);
    } else {
      add(c);
    }
  }
  if (quote != 0) return unfinished(text, "quotes");
  if (word) words.push_back(*std::move(word));
  return words;
}

std::string quote_word(std::string_view word) {
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace stripline
