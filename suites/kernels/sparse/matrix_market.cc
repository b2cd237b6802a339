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
  uint32_t row = 0;
  uint32_t column = 0;
  double value = 0;
  bool mirrored = false;  // of the half that the file does not have
};

bool is_space(char c) { return c == ' ' || c == '\t'; }

// Lines without comments and empty ones, word by word. They end with LF, CR LF or CR.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  /// The next line with something on it; false at the end. The first one counts as it is.
  bool next() {
    while (!rest_.empty()) {
      const size_t end = std::min(rest_.find_first_of("\r\n"), rest_.size());
      line_ = rest_.substr(0, end);
      const size_t ends = rest_.substr(end).starts_with("\r\n") ? 2 : 1;
      rest_.remove_prefix(std::min(end + ends, rest_.size()));
      ++number_;
      while (!line_.empty() && is_space(line_.front())) line_.remove_prefix(1);
      if (line_.empty() || (number_ > 1 && line_.front() == '%')) continue;
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
  bool number_in(uint64_t& number) { return read(unsigned_word(), number) == std::errc{}; }
  /// With the exponents of C and of Fortran ("1.5D+02"). What is too small for a double is 0, what
  /// is too large is not finite.
  bool number_in(double& number) {
    std::string text(unsigned_word());
    std::ranges::replace_if(
        text, [](char c) { return c == 'd' || c == 'D' || c == 'E'; }, 'e');
    const std::errc code = read(text, number);
    if (code == std::errc::result_out_of_range) {
      number = text.find("e-") != std::string::npos ? 0 : std::numeric_limits<double>::infinity();
      return true;
    }
    return code == std::errc{};
  }
  bool at_end() { return word().empty(); }

  Error refuse(const std::string& what) const {
    return {ErrorCode::data_loss, "line " + std::to_string(number_) + ": " + what};
  }

 private:
  std::string_view unsigned_word() {
    std::string_view found = word();
    if (found.size() > 1 && found[0] == '+' && found[1] != '-') found.remove_prefix(1);
    return found;
  }
  template <typename Number>
  static std::errc read(std::string_view text, Number& number) {
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end != text.data() + text.size()) return std::errc::invalid_argument;
    return code;
  }

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

// What is no text, or another one, by how it begins. Empty: nothing of that.
std::string_view what_else(std::string_view text) {
  using std::string_view_literals::operator""sv;
  struct Beginning {
    std::string_view bytes;
    std::string_view means;
  };
  constexpr Beginning kBeginnings[] = {
      {"\x1f\x8b"sv, "it is compressed with gzip; decompress it first (gunzip)"},
      {"BZh"sv, "it is compressed with bzip2; decompress it first (bunzip2)"},
      {"\xfd"
       "7zXZ"sv,
       "it is compressed with xz; decompress it first (unxz)"},
      {"\x28\xb5\x2f\xfd"sv, "it is compressed with zstd; decompress it first (unzstd)"},
      {"PK\x03\x04"sv, "it is a zip archive; unpack it first (unzip)"},
      {"\xff\xfe"sv, "it is written in UTF-16; convert it to UTF-8 or ASCII first (iconv)"},
      {"\xfe\xff"sv, "it is written in UTF-16; convert it to UTF-8 or ASCII first (iconv)"},
      {"\x89HDF"sv, "it is an HDF5 file; export it in Matrix Market's format first"},
      {"<"sv, "it is an HTML or XML page; download the file itself"},
  };
  for (const Beginning& one : kBeginnings) {
    if (text.starts_with(one.bytes)) return one.means;
  }
  // The archives of collections hold the file beside others.
  if (text.size() > 262 && text.substr(257, 5) == "ustar") {
    return "it is a tar archive; unpack it first (tar -xf)";
  }
  return {};
}

Result<Banner> read_banner(Lines& lines) {
  // Some programs write one percent sign.
  const bool begins = lines.next();
  const std::string first = begins ? lower(lines.word()) : std::string();
  if (first != "%%matrixmarket" && first != "%matrixmarket") {
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
  if (banner.pattern && banner.half == Half::skew) {
    return lines.refuse("a pattern has no signs, so that it cannot be skew-symmetric");
  }
  return banner;
}

// Rows of sorted columns; what is at one place is added up. Refuses what a file that has one half
// says of the other one, too: the two are one entry, or are to be added up, as who reads it likes.
Result<MatrixRows> sorted_rows(uint64_t rows, std::vector<Entry>& entries) {
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    if (a.row != b.row) return a.row < b.row;
    return a.column != b.column ? a.column < b.column : a.mirrored < b.mirrored;
  });
  MatrixRows made;
  made.begin.assign(rows + 1, 0);
  made.column.reserve(entries.size());
  made.value.reserve(entries.size());
  const Entry* before = nullptr;
  for (const Entry& entry : entries) {
    if (before != nullptr && before->row == entry.row && before->column == entry.column) {
      if (before->mirrored != entry.mirrored) {
        const std::string low = std::to_string(entry.row + uint64_t{1});
        const std::string high = std::to_string(entry.column + uint64_t{1});
        return Error(ErrorCode::data_loss,
                     "there are entries of row " + low + ", column " + high + " and of row " +
                         high + ", column " + low +
                         ", but a symmetric or skew-symmetric file has one of the two halves; "
                         "leave out one, or call the matrix 'general'");
      }
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
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (const std::string_view other = what_else(text); !other.empty()) {
    return Error(ErrorCode::data_loss,
                 "not a file in Matrix Market's format: " + std::string(other));
  }
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
    uint64_t row = 0;
    uint64_t column = 0;
    double value = 1;
    if (!lines.number_in(row) || !lines.number_in(column) ||
        (!banner.pattern && !lines.number_in(value)) || !lines.at_end()) {
      return lines.refuse(banner.pattern ? "expected a row and a column"
                                         : "expected a row, a column and a value");
    }
    if (row < 1 || row > rows || column < 1 || column > rows) {
      return lines.refuse("row " + std::to_string(row) + ", column " + std::to_string(column) +
                          " of a matrix of " + std::to_string(rows) + " rows");
    }
    if (!std::isfinite(value)) {
      return lines.refuse("the value is not a finite number that a double can hold");
    }
    if (banner.half == Half::skew && row == column && value != 0) {
      return lines.refuse("row " + std::to_string(row) +
                          " has an entry on the diagonal, which is 0 in a skew-symmetric matrix");
    }
    const auto at_row = static_cast<uint32_t>(row - 1);
    const auto at_column = static_cast<uint32_t>(column - 1);
    entries.push_back({.row = at_row, .column = at_column, .value = value});
    if (banner.half != Half::none && row != column) {
      entries.push_back({.row = at_column,
                         .column = at_row,
                         .value = banner.half == Half::skew ? -value : value,
                         .mirrored = true});
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
