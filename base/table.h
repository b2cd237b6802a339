// Aligned columns of text for people. Output only; nothing reads it back.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace stripline {

/// Characters of UTF-8 text, not bytes.
size_t columns_of(const std::string& text);

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

}  // namespace stripline
