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
// three methods (ProductMethod), each rank for itself:
//   * by_owner: its own elements while the others are in flight, then those of each owner as they
//     arrive;
//   * together: its own ones meanwhile, and all others when the last ones have arrived, where most
//     rows have columns of several owners and would be gone through for each of them;
//   * whole: a row in one pass, with all elements copied side by side, when the last ones have
//     arrived: where all owners are load/store reachable, so that nothing comes meanwhile, or where
//     it takes less time. With one vector only.
// The numbers of rows, entries and owners decide without a tuned model; with one, what it predicts
// (optimizer/plan/product.h), and products that may be faster by another method are compared with
// it now and then, for which entries are kept in the order of each. Sums are added up in the order
// of the method, and of what arrives, which may differ from product to product, and four at a time
// where rows are long: results differ in the last digits from a sum entry by entry. With
// GatherOrder::ring nothing is compared, and the order is the same in each product, but for
// elements that are fetched or passed on.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <stripline/gather_plan.h>

namespace stripline {

/// How a rank multiplies its rows.
using ProductMethod = plan::ProductMethod;

namespace detail {

/// What is wrong with rows of this many columns and values; empty: nothing.
std::string mistake_of_rows(std::span<const size_t> row_begin, size_t columns, size_t values);

/// By which method a rank multiplies its rows, decided and compared.
class ProductMethods {
 public:
  /// For rows whose entries the gather has numbered. Goes before the Context.
  static std::unique_ptr<ProductMethods> create(Context& context, const GatherCore& gather,
                                                std::span<const size_t> row_begin,
                                                size_t element_bytes, bool use_model);
  virtual ~ProductMethods() = default;
  ProductMethods(const ProductMethods&) = delete;
  ProductMethods& operator=(const ProductMethods&) = delete;

  /// Methods that begin() may return.
  virtual std::vector<ProductMethod> methods() const = 0;
  /// A product begins, or is over. Returns its method.
  virtual ProductMethod begin(CallSite call) = 0;
  virtual void end() = 0;

 protected:
  ProductMethods() = default;
};

}  // namespace detail

/// Moves: multiply() and statistics() of the other one end the process. Used by the rank's thread
/// that communicates.
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
    request.mistake = values.data() == nullptr && !values.empty()
                          ? "values is at a null pointer"
                          : detail::mistake_of_rows(row_begin, columns.size(), values.size());
    auto plan = GatherPlan<T>::create(x, columns, options, site, std::move(request));
    if (!plan.ok()) return plan.error();
    auto methods = detail::ProductMethods::create(x.context(), plan->core(), row_begin, sizeof(T),
                                                  options.use_model);
    return SparseMatrix(std::move(*plan), std::move(methods), row_begin, values);
  }

  /// This rank's.
  size_t rows() const { return rows_; }

  /// Collective: y = A x, of this rank's rows, which y has room for. x has the shape of the vector
  /// that the matrix was made for, and is not changed meanwhile. Ends the job otherwise.
  template <typename Layout, typename Ranks>
  void multiply(const shared_array<T, Layout, Ranks>& x, std::span<T> y,
                CallSite site = CallSite::current()) {
    check_whole("SparseMatrix::multiply", site);
    const ProductMethod method = methods_->begin(site);
    plan_.start(x, site);
    add_all(method, y, site);
  }
  /// The same of several vectors, as many as the matrix was made for: the values of a row for all
  /// of them lie side by side in y, which has rows() times as many.
  template <array_pointers Arrays>
  void multiply(const Arrays& xs, std::span<T> y, CallSite site = CallSite::current()) {
    check_whole("SparseMatrix::multiply", site);
    const ProductMethod method = methods_->begin(site);
    plan_.start(xs, site);
    add_all(method, y, site);
  }

  /// What it has counted so far.
  const GatherStatistics& statistics(CallSite site = CallSite::current()) const {
    check_whole("SparseMatrix::statistics", site);
    return plan_.statistics();
  }

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

  SparseMatrix(GatherPlan<T> plan, std::unique_ptr<detail::ProductMethods> methods,
               std::span<const size_t> row_begin, std::span<const T> values)
      : plan_(std::move(plan)), methods_(std::move(methods)), rows_(row_begin.size() - 1) {
    size_t groups = 0;  // by which entries are parted
    for (const ProductMethod method : methods_->methods()) {
      if (method == ProductMethod::by_owner) groups = plan_.core().groups();
      if (method == ProductMethod::together) {
        groups = std::max<size_t>(groups, 1);
        put_together(row_begin, values);
      }
      if (method == ProductMethod::whole) {
        whole_ = Rows{{row_begin.begin(), row_begin.end()},
                      {values.begin(), values.end()},
                      std::vector<T>(elements_at_hand())};
      }
    }
    part(row_begin, values, groups);
  }

  void check_whole(const char* call, CallSite site) const {
    if (methods_ == nullptr) [[unlikely]]
      detail::fail_moved_from(call, site);
  }

  // Own ones and those that are received, among which may be some that are not read.
  size_t elements_at_hand() {
    size_t elements = plan_.core().own_elements();
    for (const uint32_t number : plan_.core().numbers()) {
      elements = std::max<size_t>(elements, number + size_t{1});
    }
    return elements;
  }

  // Entries by the owner of what they are multiplied with, of this many groups.
  void part(std::span<const size_t> row_begin, std::span<const T> values, size_t groups) {
    parts_.resize(groups);
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
    }
  }

  // What is received, in one part.
  void put_together(std::span<const size_t> row_begin, std::span<const T> values) {
    const std::span<const uint32_t> numbers = plan_.core().numbers();
    const size_t own = plan_.core().own_elements();
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

  // The gather that was started, and so the product.
  void add_all(ProductMethod method, std::span<T> y, CallSite site) {
    detail::GatherCore& gather = plan_.core();
    const size_t vectors = gather.vectors();
    if (y.size() < rows_ * vectors) {
      gather.refuse("SparseMatrix::multiply", site,
                    "into y of " + std::to_string(y.size()) + " elements; this rank's rows have " +
                        std::to_string(rows_ * vectors));
    }
    if (y.data() == nullptr && !y.empty()) [[unlikely]]
      gather.refuse("SparseMatrix::multiply", site, "into y at a null pointer");
    method == ProductMethod::whole ? add_whole(y, site) : add_parts(method, y, site);
    methods_->end();
  }

  // Row by row, when all has come.
  void add_whole(std::span<T> y, CallSite site) {
    detail::GatherCore& gather = plan_.core();
    const size_t own = gather.own_elements();
    std::vector<T>& x = whole_.x;
    std::copy_n(reinterpret_cast<const T*>(gather.group(0).values[0]), own, x.begin());
    plan_.wait(site);
    std::copy_n(reinterpret_cast<const T*>(gather.received()), x.size() - own,
                x.begin() + static_cast<ptrdiff_t>(own));
    each_sum(whole_.begin, whole_.value, gather.numbers(), x.data(),
             [&](size_t row, T sum) { y[row] = sum; });
  }

  // Own elements, then the others.
  void add_parts(ProductMethod method, std::span<T> y, CallSite site) {
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
    if (method == ProductMethod::together) {
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
  std::unique_ptr<detail::ProductMethods> methods_;
  size_t rows_;
  // As far as methods need them: entries by group, those of all received elements, and all of them.
  std::vector<Part> parts_;
  Part received_;
  std::vector<uint32_t> received_slots_;
  Rows whole_;
};

}  // namespace stripline
