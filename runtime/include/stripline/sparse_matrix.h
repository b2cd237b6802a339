// A sparse matrix whose rows are spread over the ranks, to be multiplied with vectors that are,
// too.
//
//   // Rows of this rank: row_begin[r] to row_begin[r + 1] are the entries of its row r.
//   auto matrix = stripline::SparseMatrix<double>::create(x, row_begin, columns, values);
//   if (!matrix.ok()) return stripline::report(matrix.error());
//   matrix->multiply(x, y);   // y[r] = sum over the entries e of row r: values[e] x[columns[e]]
//
// With GatherOptions::vectors it is multiplied with several vectors at a time, what is needed of
// all of which travels together:
//
//   matrix->multiply(std::array{&x0, &x1}, y);   // y[2 r + v] += values[e] xv[columns[e]]
//
// What a rank needs of the vector is gathered (<stripline/gather_plan.h>), and multiplied by one of
// three methods, each rank for itself:
//   * its own elements while the others are in flight, then those of each owner as they arrive;
//   * its own ones meanwhile, and all others when the last ones have arrived, where most rows have
//     columns of several owners and would be gone through for each of them;
//   * a row in one pass, with all elements copied side by side, when the last ones have arrived:
//     where all owners are load/store reachable, so that nothing comes meanwhile, or where it takes
//     less time, which the first products of a matrix find out. Only where many rows have columns
//     of this rank and of others.
// Sums are added up in the order of the method, and of what arrives, which may differ from product
// to product, and four at a time where rows are long: results differ in the last digits from a sum
// entry by entry. With GatherOrder::ring nothing is tried, and the order is the same in each
// product, but for elements that are fetched or passed on.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <stripline/gather_plan.h>

namespace stripline {

namespace detail {

/// What is wrong with rows of this many columns and values; empty: nothing.
std::string mistake_of_rows(std::span<const size_t> row_begin, size_t columns, size_t values);

}  // namespace detail

/// Moves; used by the rank's thread that communicates.
template <typename T>
class SparseMatrix {
  static_assert(std::is_arithmetic_v<T>, "entries are numbers");

 public:
  /// Collective. Every rank gives its own rows, as many as it likes: `row_begin` has one more than
  /// there are rows, begins with 0, does not descend and ends with the number of entries, of which
  /// there are as many `columns`, elements of x, as `values`. Copies all of it. Errors as
  /// GatherPlan::create(), also if a rank's rows are not as said.
  template <typename Layout, typename Ranks>
  static Result<SparseMatrix> create(const shared_array<T, Layout, Ranks>& x,
                                     std::span<const size_t> row_begin,
                                     std::span<const uint64_t> columns, std::span<const T> values,
                                     const GatherOptions& options = {},
                                     CallSite site = CallSite::current()) {
    detail::GatherRequest request;
    request.name = "SparseMatrix::create";
    request.mistake = detail::mistake_of_rows(row_begin, columns.size(), values.size());
    auto plan = GatherPlan<T>::create(x, columns, options, site, std::move(request));
    if (!plan.ok()) return plan.error();
    return SparseMatrix(std::move(*plan), row_begin, values);
  }

  /// This rank's.
  size_t rows() const { return rows_; }

  /// Collective: y = A x, of this rank's rows, which y has room for. x has the shape of the vector
  /// that the matrix was made for, and is not changed meanwhile. Ends the job otherwise.
  template <typename Layout, typename Ranks>
  void multiply(const shared_array<T, Layout, Ranks>& x, std::span<T> y,
                CallSite site = CallSite::current()) {
    plan_.start(x, site);
    add_all(y, site);
  }
  /// The same of several vectors, as many as the matrix was made for: the values of a row for all
  /// of them lie side by side in y, which has rows() times as many.
  template <array_pointers Arrays>
  void multiply(const Arrays& xs, std::span<T> y, CallSite site = CallSite::current()) {
    plan_.start(xs, site);
    add_all(y, site);
  }

  /// What it has counted so far.
  const GatherStatistics& statistics() const { return plan_.statistics(); }

 private:
  static constexpr size_t kSums = 4;  // each_sum()
  static constexpr size_t kEntriesOfLongRow = 4 * kSums;

  // Entries, row by row: rows that have any.
  struct Part {
    std::vector<uint32_t> row;
    std::vector<size_t> begin;
    std::vector<T> value;

    void reserve(size_t rows, size_t entries) {
      row.reserve(rows);
      begin.reserve(rows + 1);
      value.reserve(entries);
    }
    // The values that follow are of this row, which comes after those before it.
    void begin_row(size_t number) {
      row.push_back(static_cast<uint32_t>(number));
      begin.push_back(value.size());
    }
    void end() { begin.push_back(value.size()); }
  };

  // All entries, row by row, and all elements, own ones first, which GatherCore::numbers() name.
  struct Rows {
    std::vector<size_t> begin;
    std::vector<T> value;
    std::vector<T> x;
  };

  // Which of two ways takes less time: both are tried in turns, and the least time of each counts.
  struct Trial {
    static constexpr int kTries = 3;
    int products = 0;
    double parted_s = std::numeric_limits<double>::infinity();
    double whole_s = std::numeric_limits<double>::infinity();

    bool is_over() const { return products == 2 * kTries; }
    bool takes_whole() const { return is_over() ? whole_s < parted_s : products % 2 == 0; }
    void note(double seconds) {
      double& least_s = takes_whole() ? whole_s : parted_s;
      least_s = std::min(least_s, seconds);
      ++products;
    }
  };

  SparseMatrix(GatherPlan<T> plan, std::span<const size_t> row_begin, std::span<const T> values)
      : plan_(std::move(plan)), rows_(row_begin.size() - 1) {
    const size_t elements = elements_at_hand();
    const bool reachable = plan_.core().is_reachable();
    if ((reachable || !plan_.core().is_ordered()) && is_mixed(row_begin, elements)) {
      whole_.emplace(Rows{{row_begin.begin(), row_begin.end()},
                          {values.begin(), values.end()},
                          std::vector<T>(elements)});
      if (reachable) return;
      trial_.emplace();
    }
    part(row_begin, values);
  }

  // Own ones and those that are received, among which may be some that are not read.
  size_t elements_at_hand() {
    size_t elements = plan_.core().own_elements();
    for (const uint32_t number : plan_.core().numbers()) {
      elements = std::max<size_t>(elements, number + size_t{1});
    }
    return elements;
  }

  // True if so many rows have columns of this rank and of others that one pass may take less time,
  // for which all elements are copied. In two passes such a row is begun twice, its sum is loaded
  // and stored once more, and the end of its loop is mispredicted once more, which takes as long as
  // some copies.
  bool is_mixed(std::span<const size_t> row_begin, size_t elements) {
    constexpr size_t kCopiesOfARow = 4;
    const std::span<const uint32_t> numbers = plan_.core().numbers();
    const size_t own = plan_.core().own_elements();
    if (plan_.core().vectors() > 1 || elements == own) return false;
    size_t mixed = 0;  // rows of own elements and others
    for (size_t row = 0; row < rows_; ++row) {
      const std::span<const uint32_t> of_row =
          numbers.subspan(row_begin[row], row_begin[row + 1] - row_begin[row]);
      const auto others = std::ranges::count_if(of_row, [&](auto number) { return number >= own; });
      mixed += others > 0 && static_cast<size_t>(others) < of_row.size() ? 1 : 0;
    }
    return kCopiesOfARow * mixed >= elements;
  }

  // Entries by the owner of what they are multiplied with.
  void part(std::span<const size_t> row_begin, std::span<const T> values) {
    parts_.resize(plan_.core().groups());
    size_t visits = 0;  // of rows, owner by owner
    for (size_t number = 0; number < parts_.size(); ++number) {
      Part& part = parts_[number];
      const std::span<const uint32_t> reads = plan_.core().group(number).reads;
      part.reserve(std::min(rows_, reads.size()), reads.size());
      size_t row = 0;
      for (size_t k = 0; k < reads.size();) {  // ascending
        while (reads[k] >= row_begin[row + 1]) ++row;
        part.begin_row(row);
        for (; k < reads.size() && reads[k] < row_begin[row + 1]; ++k) {
          part.value.push_back(values[reads[k]]);
        }
      }
      part.end();
      if (number > 0) visits += part.row.size();
    }
    put_together(row_begin, values, visits);
  }

  // What is received, in one part, if that halves the visits of rows.
  void put_together(std::span<const size_t> row_begin, std::span<const T> values, size_t visits) {
    const std::span<const uint32_t> numbers = plan_.core().numbers();
    const size_t own = plan_.core().own_elements();
    size_t rows = 0;  // with entries that are received
    for (size_t row = 0; row < rows_; ++row) {
      const std::span<const uint32_t> of_row =
          numbers.subspan(row_begin[row], row_begin[row + 1] - row_begin[row]);
      rows += std::ranges::any_of(of_row, [&](uint32_t number) { return number >= own; }) ? 1 : 0;
    }
    at_once_ = visits > 0 && visits >= 2 * rows;
    if (!at_once_) return;
    parts_.resize(1);
    for (size_t row = 0; row < rows_; ++row) {
      for (size_t entry = row_begin[row]; entry < row_begin[row + 1]; ++entry) {
        if (numbers[entry] < own) continue;
        if (received_.row.empty() || received_.row.back() != row) received_.begin_row(row);
        received_.value.push_back(values[entry]);
        received_slots_.push_back(static_cast<uint32_t>(numbers[entry] - own));
      }
    }
    received_.end();
  }

  // The gather that was started: what has come, as it comes.
  void add_all(std::span<T> y, CallSite site) {
    detail::GatherCore& gather = plan_.core();
    const size_t vectors = gather.vectors();
    if (y.size() < rows_ * vectors) {
      gather.refuse("SparseMatrix::multiply", site,
                    "into y of " + std::to_string(y.size()) + " elements; this rank's rows have " +
                        std::to_string(rows_ * vectors));
    }
    if (!trial_) return whole_ ? add_whole(y, site) : add_parts(y, site);
    const double begun_s = gather.now_s();
    trial_->takes_whole() ? add_whole(y, site) : add_parts(y, site);
    trial_->note(gather.now_s() - begun_s);
    if (trial_->is_over()) {
      trial_->takes_whole() ? parts_.clear() : whole_.reset();
      trial_.reset();
    }
  }

  // Row by row, when all has come.
  void add_whole(std::span<T> y, CallSite site) {
    detail::GatherCore& gather = plan_.core();
    const size_t own = gather.own_elements();
    std::vector<T>& x = whole_->x;
    std::copy_n(reinterpret_cast<const T*>(gather.group(0).values[0]), own, x.begin());
    plan_.wait(site);
    std::copy_n(reinterpret_cast<const T*>(gather.received()), x.size() - own,
                x.begin() + static_cast<ptrdiff_t>(own));
    each_sum(whole_->begin, whole_->value, gather.numbers(), x.data(),
             [&](size_t row, T sum) { y[row] = sum; });
  }

  // Own elements, then the others.
  void add_parts(std::span<T> y, CallSite site) {
    detail::GatherCore& gather = plan_.core();
    const size_t vectors = gather.vectors();
    std::fill_n(y.data(), rows_ * vectors, T{});
    const detail::GatherGroup own = gather.group(0);
    if (vectors == 1) {
      add(parts_[0], own.slots, own.values[0], y.data());
    } else {
      add_apart(parts_[0], own.slots, own.values, y.data());
    }
    const auto add_received = [&](const Part& part, std::span<const uint32_t> slots,
                                  const std::byte* values) {
      if (vectors == 1) {
        add(part, slots, values, y.data());
      } else {
        add_together(part, slots, values, vectors, y.data());
      }
    };
    if (at_once_) {
      plan_.wait(site);
      add_received(received_, received_slots_, gather.received());
    } else {
      while (const auto group = gather.next(site)) {
        add_received(parts_[group->number], group->slots, group->values[0]);
      }
      plan_.wait(site);
    }
  }

  // Calls take(r, sum) with the sum of entries begin[r] to begin[r + 1] for every r. An addition
  // has to wait for the one before it: four sums at a time take less time where rows are long, as
  // those of finite elements are, and more where they are short.
  template <typename Take>
  static void each_sum(std::span<const size_t> begin, std::span<const T> values,
                       std::span<const uint32_t> slots, const T* x, const Take& take) {
    const size_t rows = begin.size() - 1;
    const T* const value = values.data();
    const uint32_t* const slot = slots.data();
    if (begin.back() > kEntriesOfLongRow * rows) {
      for (size_t r = 0; r < rows; ++r) {
        take(r, sum_by_four(value, slot, begin[r], begin[r + 1], x));
      }
    } else {
      for (size_t r = 0; r < rows; ++r) {
        take(r, sum_from(T{}, value, slot, begin[r], begin[r + 1], x));
      }
    }
  }
  static T sum_from(T sum, const T* value, const uint32_t* slot, size_t begin, size_t end,
                    const T* x) {
    for (size_t e = begin; e < end; ++e) sum += value[e] * x[slot[e]];
    return sum;
  }
  static T sum_by_four(const T* value, const uint32_t* slot, size_t begin, size_t end, const T* x) {
    if (end - begin < kSums) return sum_from(T{}, value, slot, begin, end, x);
    std::array<T, kSums> sums{};
    size_t e = begin;
    for (; end - e >= kSums; e += kSums) {
      for (size_t i = 0; i < kSums; ++i) sums[i] += value[e + i] * x[slot[e + i]];
    }
    const T sum = static_cast<T>((sums[0] + sums[1]) + (sums[2] + sums[3]));
    return sum_from(sum, value, slot, e, end, x);
  }

  static void add(const Part& part, std::span<const uint32_t> slots, const std::byte* values,
                  T* y) {
    each_sum(part.begin, part.value, slots, reinterpret_cast<const T*>(values),
             [&](size_t r, T sum) { y[part.row[r]] += sum; });
  }
  // Vectors that lie each by itself.
  static void add_apart(const Part& part, std::span<const uint32_t> slots,
                        std::span<const std::byte* const> values, T* y) {
    const size_t vectors = values.size();
    for (size_t v = 0; v < vectors; ++v) {
      each_sum(part.begin, part.value, slots, reinterpret_cast<const T*>(values[v]),
               [&](size_t r, T sum) { y[part.row[r] * vectors + v] += sum; });
    }
  }
  // Vectors whose elements lie side by side.
  static void add_together(const Part& part, std::span<const uint32_t> slots,
                           const std::byte* values, size_t vectors, T* y) {
    const T* const x = reinterpret_cast<const T*>(values);
    for (size_t r = 0; r < part.row.size(); ++r) {
      T* const sums = y + part.row[r] * vectors;
      for (size_t e = part.begin[r]; e < part.begin[r + 1]; ++e) {
        const T* const element = x + slots[e] * vectors;
        for (size_t v = 0; v < vectors; ++v) sums[v] += part.value[e] * element[v];
      }
    }
  }

  GatherPlan<T> plan_;
  size_t rows_;
  std::vector<Part> parts_;  // by group; own columns alone if it goes at once
  bool at_once_ = false;
  Part received_;
  std::vector<uint32_t> received_slots_;
  std::optional<Rows> whole_;   // instead of parts, or while both are tried
  std::optional<Trial> trial_;  // while they are
};

}  // namespace stripline
