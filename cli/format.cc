#include "cli/format.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/printable.h"

namespace stripline::cli {
namespace {

// Characters, not bytes: continuation bytes of UTF-8 take no column.
size_t columns_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

std::string seconds_per_byte_text(double value) {
  const double nanoseconds = value * 1e9;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g ns/B", nanoseconds);
  return text.data();
}

std::string date_text(const std::string& rfc3339) {
  constexpr std::string_view kPattern = "0000-00-00T00:00";
  const auto alike = [](char pattern, char c) {
    return pattern == '0' ? c >= '0' && c <= '9' : c == pattern;
  };
  if (rfc3339.size() <= kPattern.size() || !rfc3339.ends_with('Z') ||
      !std::equal(kPattern.begin(), kPattern.end(), rfc3339.begin(), alike)) {
    return rfc3339;
  }
  std::string text = rfc3339.substr(0, kPattern.size());
  text[text.find('T')] = ' ';
  return text + " UTC";
}

std::string fit(const std::string& text, size_t width) {
  if (columns_of(text) <= width) return text;
  if (width < 3) return std::string(width, '.');
  std::string out;
  size_t columns = 0;
  for (const char c : text) {
    const bool starts = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (starts && columns == width - 2) break;
    columns += starts ? 1 : 0;
    out += c;
  }
  return out + "..";
}

void Table::add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = printable_line(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::text(size_t indent) const {
  std::vector<size_t> widths;
  for (const Column& column : columns_) widths.push_back(columns_of(column.title));
  for (const auto& row : rows_) {
    for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  std::string out;
  const auto add_line = [&](const auto& cell) {
    std::string line(indent, ' ');
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) line += "  ";
      const std::string& content = cell(i);
      const std::string padding(widths[i] - columns_of(content), ' ');
      line += columns_[i].align == Align::right ? padding + content : content + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  };
  add_line([&](size_t i) -> const std::string& { return columns_[i].title; });
  for (const auto& row : rows_) add_line([&](size_t i) -> const std::string& { return row[i]; });
  return out;
}

}  // namespace stripline::cli
