#include "cli/format.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/formatted.h"
#include "base/printable.h"
#include "base/table.h"

namespace stripline::cli {

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

std::string percent_text(double share) {
  return formatted(std::abs(share) < 0.0995 ? "%.2g %%" : "%.0f %%", 100 * share);
}

std::string params_text(const std::map<std::string, std::string>& params) {
  std::string text;
  for (const auto& [name, value] : params) text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

std::string labelled_line(const std::string& label, const std::string& value) {
  constexpr size_t kLabelWidth = 12;
  const size_t gap = label.size() < kLabelWidth ? kLabelWidth - label.size() : 1;
  return label + std::string(gap, ' ') + printable_line(value) + "\n";
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

}  // namespace stripline::cli
