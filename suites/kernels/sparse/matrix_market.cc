#include "suites/kernels/sparse/matrix_market.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "base/whole_file.h"

namespace stripline::sparse {
namespace {

constexpr size_t kMostFileBytes = size_t{4} << 30;
constexpr uint64_t kMostRows = std::numeric_limits<uint32_t>::max();

struct Entry {
  uint64_t row = 0;
  uint64_t column = 0;
  double value = 0;
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Lines without comments and empty ones, word by word.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  size_t number() const { return number_; }
  /// The next line with something on it; false at the end. The first one counts as it is.
  bool next() {
    while (!rest_.empty()) {
      const size_t end = std::min(rest_.find('\n'), rest_.size());
      line_ = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++number_;
      if (number_ > 1 && line_.starts_with('%')) continue;
      if (std::ranges::all_of(line_, is_space)) continue;
      return true;
    }
    return false;
  }
  /// The next word of the line; empty at its end.
  std::string_view word() {
    while (!line_.empty() && is_space(line_.front())) line_.remove_prefix(1);
    size_t end = 0;
    while (end < line_.size() && !is_space(line_[end])) ++end;
    const std::string_view found = line_.substr(0, end);
    line_.remove_prefix(end);
    return found;
  }
  template <typename Number>
  bool number_in(Number& number) {
    std::string_view found = word();
    if (found.starts_with('+')) found.remove_prefix(1);
    const auto [end, code] = std::from_chars(found.data(), found.data() + found.size(), number);
    return code == std::errc{} && end == found.data() + found.size();
  }
  bool at_end() { return word().empty(); }

  Error refuse(const std::string& what) const {
    return {ErrorCode::data_loss, "line " + std::to_string(number_) + ": " + what};
  }

 private:
  std::string_view rest_;
  std::string_view line_;
  size_t number_ = 0;
};

std::string lower(std::string_view word) {
  std::string text(word);
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

enum class Half { none, symmetric, skew };

struct Banner {
  bool pattern = false;
  Half half = Half::none;
};

Result<Banner> read_banner(Lines& lines) {
  if (!lines.next() || lower(lines.word()) != "%%matrixmarket") {
    return Error(ErrorCode::data_loss,
                 "the first line does not begin with %%MatrixMarket: not a file of that format");
  }
  const std::string object = lower(lines.word());
  const std::string format = lower(lines.word());
  const std::string field = lower(lines.word());
  const std::string symmetry = lower(lines.word());
  if (object != "matrix" || format != "coordinate") {
    return lines.refuse("only 'matrix coordinate' is read, not '" + object + " " + format + "'");
  }
  Banner banner;
  banner.pattern = field == "pattern";
  if (!banner.pattern && field != "real" && field != "integer") {
    return lines.refuse("numbers are real, integer or pattern, not '" + field + "'");
  }
  if (symmetry == "symmetric") {
    banner.half = Half::symmetric;
  } else if (symmetry == "skew-symmetric") {
    banner.half = Half::skew;
  } else if (symmetry != "general") {
    return lines.refuse("a matrix is general, symmetric or skew-symmetric, not '" + symmetry + "'");
  }
  return banner;
}

// Rows of sorted columns; what is at one place is added up.
MatrixRows sorted_rows(uint64_t rows, std::vector<Entry>& entries) {
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  MatrixRows made;
  made.begin.assign(rows + 1, 0);
  made.column.reserve(entries.size());
  made.value.reserve(entries.size());
  const Entry* before = nullptr;
  for (const Entry& entry : entries) {
    if (before != nullptr && before->row == entry.row && before->column == entry.column) {
      made.value.back() += entry.value;
    } else {
      made.column.push_back(entry.column);
      made.value.push_back(entry.value);
      ++made.begin[entry.row + 1];
    }
    before = &entry;
  }
  std::partial_sum(made.begin.begin(), made.begin.end(), made.begin.begin());
  return made;
}

}  // namespace

Result<MatrixRows> parse_matrix_market(std::string_view text) {
  Lines lines(text);
  STRIPLINE_ASSIGN_OR_RETURN(const Banner banner, read_banner(lines));
  uint64_t rows = 0;
  uint64_t columns = 0;
  uint64_t stored = 0;
  if (!lines.next() || !lines.number_in(rows) || !lines.number_in(columns) ||
      !lines.number_in(stored) || !lines.at_end()) {
    return lines.refuse("expected the numbers of rows, columns and entries");
  }
  if (rows != columns || rows == 0 || rows > kMostRows) {
    return lines.refuse(std::to_string(rows) + " rows and " + std::to_string(columns) +
                        " columns; matrices are square, of 1 to 4294967295 rows");
  }
  // What the text says is believed when it is there: an entry takes at least four characters.
  if (stored > text.size() / 4 + 1) {
    return lines.refuse(std::to_string(stored) + " entries, for which the file is too short");
  }
  // Rows cost memory without a character; a matrix has not many more of them than entries.
  if (rows > 64 * (stored + 1024)) {
    return lines.refuse(std::to_string(rows) + " rows with " + std::to_string(stored) +
                        " entries: nearly all rows are empty");
  }
  std::vector<Entry> entries;
  entries.reserve(banner.half == Half::none ? stored : 2 * stored);
  for (uint64_t i = 0; i < stored; ++i) {
    if (!lines.next()) {
      return lines.refuse("the file ends after " + std::to_string(i) + " of " +
                          std::to_string(stored) + " entries");
    }
    Entry entry{.row = 0, .column = 0, .value = 1};
    if (!lines.number_in(entry.row) || !lines.number_in(entry.column) ||
        (!banner.pattern && !lines.number_in(entry.value)) || !lines.at_end()) {
      return lines.refuse(banner.pattern ? "expected a row and a column"
                                         : "expected a row, a column and a value");
    }
    if (entry.row < 1 || entry.row > rows || entry.column < 1 || entry.column > rows) {
      return lines.refuse("row " + std::to_string(entry.row) + ", column " +
                          std::to_string(entry.column) + " of a matrix of " + std::to_string(rows) +
                          " rows");
    }
    if (!std::isfinite(entry.value)) return lines.refuse("the value is not a finite number");
    --entry.row;
    --entry.column;
    entries.push_back(entry);
    if (banner.half != Half::none && entry.row != entry.column) {
      const double mirrored = banner.half == Half::skew ? -entry.value : entry.value;
      entries.push_back({.row = entry.column, .column = entry.row, .value = mirrored});
    }
  }
  if (lines.next())
    return lines.refuse("more entries than the " + std::to_string(stored) + " said");
  return sorted_rows(rows, entries);
}

Result<MatrixRows> read_matrix_market(const std::string& path) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, read_whole_file(path, kMostFileBytes));
  Result<MatrixRows> matrix = parse_matrix_market(text);
  if (!matrix.ok()) return matrix.error().with_context(path);
  return matrix;
}

}  // namespace stripline::sparse
