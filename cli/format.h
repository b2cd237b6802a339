// How values look to people: units, durations, aligned tables. Output only; nothing reads these
// forms back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stripline::cli {

/// Seconds per byte as "0.28 ns/B".
std::string seconds_per_byte_text(double value);

/// "2026-11-26 07:34 UTC" of a server's time stamp (RFC 3339, UTC); anything else as it is.
std::string date_text(const std::string& rfc3339);

/// `text` in at most `width` columns; what is cut off is shown as "..".
std::string fit(const std::string& text, size_t width);

/// Columns of text, as wide as their widest cell and two spaces apart.
class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// One cell per column, shown as printable_line() does.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }

  /// Titles and rows, each line indented by `indent` spaces and without spaces at its end.
  std::string text(size_t indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace stripline::cli
