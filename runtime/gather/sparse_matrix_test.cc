// Products with random sparse matrices against the sums of their rows.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/sparse_matrix.h>

#include "base/random.h"
#include "optimizer/model/model_fixture.h"
#include "optimizer/plan/product_mechanism.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/loop/testing/model_file.h"

namespace stripline {
namespace {

class Sparse : public bootstrap::RanksTest {};

model::TunedModel model_with_pack() {
  model::TunedModel known = model::example_model();
  known.pack = model::example_pack();
  return known;
}

// Rows with columns of one owner go owner by owner, rows with columns of many at once: `width`
// says how far they reach.
struct Rows {
  std::vector<size_t> begin = {0};
  std::vector<uint64_t> columns;
  std::vector<double> values;

  Rows(uint64_t first, size_t rows, uint64_t elements, uint64_t width, uint64_t seed,
       size_t most_entries = 6) {
    SplitMix64 random(seed);
    for (size_t row = 0; row < rows; ++row) {
      const size_t entries = random.next() % (most_entries + 1);  // none in some
      for (size_t entry = 0; entry < entries; ++entry) {
        columns.push_back((first + row + random.next() % width) % elements);
        values.push_back(static_cast<double>(random.next() % 64));
      }
      begin.push_back(columns.size());
    }
  }
};

double element_of(uint64_t number, uint64_t round) {
  return static_cast<double>(hash_of(number, round) % 1024);
}

template <typename Layout>
void multiply_and_compare(Context& context, uint64_t elements, Layout layout, uint64_t width,
                          size_t most_entries) {
  auto x = shared_array<double, Layout>::create(context, elements, layout);
  ASSERT_TRUE(x.ok());
  const uint64_t seed = hash_of(context.rank_me(), width);
  // No rows on one of the ranks.
  const size_t rows = context.rank_me() == 1 ? 0 : 40 + context.rank_me();
  const Rows given(uint64_t{40} * context.rank_me(), rows, elements, width, seed, most_entries);
  auto matrix = SparseMatrix<double>::create(*x, given.begin, given.columns, given.values);
  ASSERT_TRUE(matrix.ok()) << matrix.error().message();
  ASSERT_EQ(matrix->rows(), rows);
  std::vector<double> y(rows);
  constexpr uint64_t kRounds = 8;
  for (uint64_t round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < x->local_span().size(); ++i) {
      x->local_span()[i] = element_of(x->index_of(i), round);
    }
    std::ranges::fill(y, std::nan(""));
    matrix->multiply(*x, y);
    for (size_t row = 0; row < rows; ++row) {
      double expected = 0;  // of small whole numbers, so that it is exact in any order
      for (size_t e = given.begin[row]; e < given.begin[row + 1]; ++e) {
        expected += given.values[e] * element_of(given.columns[e], round);
      }
      ASSERT_EQ(y[row], expected) << "round " << round << ", row " << row;
    }
  }
}

TEST_P(Sparse, ProductsAreTheSumsOfTheirRows) {
  for (const rank_t ranks : {1U, 2U, 4U}) {
    on_ranks(ranks, [ranks](Context& context) {
      constexpr uint64_t kElements = 160;
      for (const uint64_t width : {uint64_t{1}, uint64_t{30}, kElements}) {
        for (const size_t most_entries : {size_t{6}, size_t{60}}) {
          multiply_and_compare(context, kElements, blocked(kElements, ranks), width, most_entries);
          multiply_and_compare(context, kElements, cyclic{}, width, most_entries);
        }
      }
    });
  }
}

template <typename Layout>
void multiply_several(Context& context, uint64_t elements, Layout layout, uint64_t width) {
  using Array = shared_array<double, Layout>;
  std::vector<Array> vectors;
  std::vector<const Array*> xs;
  constexpr size_t kVectors = 3;
  for (size_t v = 0; v < kVectors; ++v) {
    auto x = Array::create(context, elements, layout);
    ASSERT_TRUE(x.ok());
    vectors.push_back(*x);
  }
  for (Array& x : vectors) xs.push_back(&x);
  const size_t rows = context.rank_me() == 1 ? 0 : 40 + context.rank_me();
  const Rows given(uint64_t{40} * context.rank_me(), rows, elements, width,
                   hash_of(context.rank_me(), width));
  auto matrix = SparseMatrix<double>::create(vectors.front(), given.begin, given.columns,
                                             given.values, {.vectors = kVectors});
  ASSERT_TRUE(matrix.ok()) << matrix.error().message();
  std::vector<double> y(rows * kVectors);
  for (uint64_t round = 0; round < 3; ++round) {
    for (size_t v = 0; v < kVectors; ++v) {
      for (size_t i = 0; i < vectors[v].local_span().size(); ++i) {
        vectors[v].local_span()[i] = element_of(vectors[v].index_of(i), 10 * round + v);
      }
    }
    std::ranges::fill(y, std::nan(""));
    matrix->multiply(xs, y);
    for (size_t row = 0; row < rows; ++row) {
      for (size_t v = 0; v < kVectors; ++v) {
        double expected = 0;
        for (size_t e = given.begin[row]; e < given.begin[row + 1]; ++e) {
          expected += given.values[e] * element_of(given.columns[e], 10 * round + v);
        }
        ASSERT_EQ(y[row * kVectors + v], expected) << "row " << row << ", vector " << v;
      }
    }
  }
}

TEST_P(Sparse, ProductsWithSeveralVectorsAreThoseWithEach) {
  for (const rank_t ranks : {1U, 2U, 3U, 7U}) {
    on_ranks(ranks, [ranks](Context& context) {
      for (const uint64_t width : {uint64_t{30}, uint64_t{280}}) {
        multiply_several(context, 280, blocked(280, ranks), width);
        multiply_several(context, 280, cyclic{}, width);
      }
    });
  }
}

// Each of them, and nothing else, and with a model, by which they are compared.
TEST_P(Sparse, ProductsByEachMethodAreTheSums) {
  const ModelFile model("sparse_methods", model_with_pack());
  for (const char* const tuning :
       {"product:*:by_owner", "product:*:together", "product:*:whole", "product:*:baseline", ""}) {
    bootstrap::ThreadGroupOptions options = bootstrap::group_on(GetParam(), 3);
    options.context.tuning = tuning;
    options.context.model_path = model.path();
    on_ranks(options, [](Context& context) {
      constexpr uint64_t kElements = 160;
      for (const uint64_t width : {uint64_t{30}, kElements}) {
        multiply_and_compare(context, kElements, blocked(kElements, 3), width, 6);
        multiply_and_compare(context, kElements, cyclic{}, width, 60);
      }
    });
  }
}

TEST_P(Sparse, ProductsInTheOrderOfTheRingAreTheSameEachTime) {
  constexpr rank_t kRanks = 4;
  on_ranks(kRanks, [](Context& context) {
    constexpr uint64_t kElements = 160;
    auto x = shared_array<double, cyclic>::create(context, kElements);
    ASSERT_TRUE(x.ok());
    for (size_t i = 0; i < x->local_span().size(); ++i) {
      x->local_span()[i] = 1 / static_cast<double>(1 + x->index_of(i));
    }
    const Rows given(0, 60, kElements, kElements, 7 + context.rank_me());
    auto matrix = SparseMatrix<double>::create(*x, given.begin, given.columns, given.values,
                                               {.order = GatherOrder::ring});
    ASSERT_TRUE(matrix.ok()) << matrix.error().message();
    std::vector<double> first(60);
    matrix->multiply(*x, first);
    for (int product = 0; product < 8; ++product) {
      std::vector<double> again(60);
      matrix->multiply(*x, again);
      ASSERT_EQ(again, first) << "to the last digit";  // of sums that round
    }
  });
}

TEST_P(Sparse, RefusesColumnsThatAreNoElements) {
  on_ranks(2, [](Context& context) {
    auto x = shared_array<double, cyclic>::create(context, 10);
    ASSERT_TRUE(x.ok());
    const std::vector<size_t> begin = {0, 1};
    const std::vector<uint64_t> columns = {context.rank_me() == 0 ? 10U : 3U};
    const std::vector<double> values = {1};
    auto matrix = SparseMatrix<double>::create(*x, begin, columns, values);
    ASSERT_FALSE(matrix.ok());
    EXPECT_EQ(matrix.error().code(), ErrorCode::invalid_argument);
  });
}

// Wrong on one rank: all of them refuse, and the matrix is made again after that.
TEST_P(Sparse, RefusesRowsThatAreNotAsSaid) {
  on_ranks(2, [](Context& context) {
    auto x = shared_array<double, cyclic>::create(context, 10);
    ASSERT_TRUE(x.ok());
    for (double& mine : x->local_span()) mine = 1;
    constexpr size_t kHuge = ~size_t{0};
    const std::vector<uint64_t> columns = {0, 3, 7, 9, 2};
    struct Case {
      std::vector<size_t> begin;
      size_t columns;
      size_t values;
      std::string message;
    };
    const std::vector<Case> cases = {
        {{}, 5, 5, "row_begin is empty"},
        {{}, 0, 0, "row_begin is empty"},
        {{1, 5}, 5, 5, "row_begin[0] is 1"},
        {{kHuge}, 5, 5, "row_begin[0] is 18446744073709551615"},
        {{0, 3, 2, 5}, 5, 5, "row_begin[2] is 2, less than row_begin[1], which is 3"},
        {{0, kHuge, 5}, 5, 5, "row_begin[2] is 5, less than row_begin[1]"},
        {{0, 2, 6}, 5, 5, "row_begin[2] is 6, but there are 5 columns"},
        {{0, 2, kHuge}, 5, 5, "but there are 5 columns"},
        {{0, 2, 4}, 5, 5, "row_begin[2] is 4, but there are 5 columns"},
        {{0}, 5, 5, "row_begin[0] is 0, but there are 5 columns"},
        {{0, 5}, 5, 4, "5 columns, but 4 values"},
        {{0, 5}, 5, 0, "5 columns, but 0 values"},
        {{0, 5}, 4, 5, "but there are 4 columns"},
        {{0, 0}, 0, 1, "0 columns, but 1 values"},
    };
    const std::vector<double> values(5, 2.0);
    for (const Case& wrong : cases) {
      const bool mine = context.rank_me() == 1;
      const std::vector<size_t> right = {0, 2, 5};
      auto matrix = SparseMatrix<double>::create(*x, mine ? wrong.begin : right,
                                                 std::span(columns).first(mine ? wrong.columns : 5),
                                                 std::span(values).first(mine ? wrong.values : 5));
      ASSERT_FALSE(matrix.ok()) << wrong.message;
      EXPECT_EQ(matrix.error().code(), ErrorCode::invalid_argument);
      const std::string message = matrix.error().message();
      EXPECT_TRUE(message.starts_with("SparseMatrix::create: ")) << message;
      const std::string expected = mine ? wrong.message : "what another rank gives is refused";
      EXPECT_NE(message.find(expected), std::string::npos) << message;
    }
    // None at all, and rows without an entry.
    for (const std::vector<size_t>& begin :
         {std::vector<size_t>{0}, std::vector<size_t>{0, 0, 0}}) {
      auto matrix = SparseMatrix<double>::create(*x, begin, {}, {});
      ASSERT_TRUE(matrix.ok()) << matrix.error().message();
      std::vector<double> y(begin.size() - 1, 7.0);
      matrix->multiply(*x, std::span(y));
      EXPECT_TRUE(std::ranges::all_of(y, [](double sum) { return sum == 0; }));
    }
    context.barrier();
  });
}

// What a trace shows of products, and the command that explains it.
TEST_P(Sparse, RefusesRowsThatAreNull) {
  on_ranks(2, [](Context& context) {
    auto x = shared_array<double, cyclic>::create(context, 10);
    ASSERT_TRUE(x.ok());
    const std::vector<size_t> begin = {0, 1};
    const std::vector<uint64_t> columns = {3};
    const std::vector<double> values = {1};
    const auto message = [&](const size_t* begin_at, const uint64_t* columns_at,
                             const double* values_at) {
      auto matrix = SparseMatrix<double>::create(*x, std::span(begin_at, 2),
                                                 std::span(columns_at, 1), std::span(values_at, 1));
      return matrix.ok() ? "made" : matrix.error().message();
    };
    EXPECT_EQ(message(begin.data(), columns.data(), values.data()), "made");
    EXPECT_EQ(message(nullptr, columns.data(), values.data()),
              "SparseMatrix::create: row_begin is at a null pointer");
    EXPECT_EQ(message(begin.data(), nullptr, values.data()),
              "SparseMatrix::create: the index of 1 entries is at a null pointer");
    EXPECT_EQ(message(begin.data(), columns.data(), nullptr),
              "SparseMatrix::create: values is at a null pointer");
  });
}

TEST(SparseTrace, ShowsTheMethodThatExplainNames) {
  const ModelFile model("sparse_trace", model_with_pack());
  auto group = bootstrap::group_on({"", "emulated:opteron-vapi,compute=none", "virtual"}, 2);
  group.context.model_path = model.path();
  group.context.trace = "sites";
  group.context.guard = false;  // which would compare it with others
  ::testing::internal::CaptureStderr();
  const Status ran = bootstrap::run_ranks(group, [](Context& context) {
    constexpr uint64_t kElements = 4000;
    multiply_and_compare(context, kElements, blocked(kElements, 2), kElements, 6);
  });
  const std::string said = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(ran.ok()) << ran.error().message();
  const std::string command = "stripline explain product " + model.path() + " --path inter-node ";
  const size_t at = said.find(command);
  ASSERT_NE(at, std::string::npos) << said;
  const std::string options = said.substr(at + command.size(), said.find('\n', at) - at);
  EXPECT_NE(options.find("--owners 1"), std::string::npos) << options;
  plan::ProductRequest request;
  for (const auto& field : plan::ProductMechanism::fields()) {
    const size_t place = options.find(std::string(field.text.option) + " ");
    if (place == std::string::npos || field.text.unit == plan::Unit::flag) continue;
    const char* const value = options.c_str() + place + std::string_view(field.text.option).size();
    field.set(request, plan::FieldValue(uint64_t{std::strtoull(value, nullptr, 10)}));
  }
  const plan::CompiledModel compiled(model_with_pack());
  const std::string method(
      to_string(plan::plan_product(request, compiled.path(model::Path::network)).method));
  EXPECT_NE(said.find(method + ", "), std::string::npos) << method << " in\n" << said;
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Sparse, ::testing::ValuesIn(bootstrap::fabrics_under_test()),
                         bootstrap::FabricLabel());

class SparseDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(SparseDeathTest, WritesNoMoreThanThereIsRoomFor) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         auto x = shared_array<double, cyclic>::create(context, 10);
                         const std::vector<size_t> begin = {0, 1, 2, 3};
                         const std::vector<uint64_t> columns = {1, 2, 3};
                         const std::vector<double> values = {1, 1, 1};
                         auto matrix = SparseMatrix<double>::create(*x, begin, columns, values);
                         std::vector<double> y(3);
                         matrix->multiply(*x, std::span(y).first(2));
                       }),
              ::testing::ExitedWithCode(2),
              "SparseMatrix::multiply into y of 2 elements; this rank's rows have 3");
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         auto x = shared_array<double, cyclic>::create(context, 10);
                         auto matrix = SparseMatrix<double>::create(*x, std::vector<size_t>{0, 1},
                                                                    std::vector<uint64_t>{1},
                                                                    std::vector<double>{1});
                         matrix->multiply(*x, std::span(static_cast<double*>(nullptr), 1));
                       }),
              ::testing::ExitedWithCode(2),
              "sparse_matrix_test.cc:[0-9]+: SparseMatrix::multiply into y at a null pointer");
}

TEST_F(SparseDeathTest, NamesCallsOfAMatrixThatHasBeenMoved) {
  using Matrix = SparseMatrix<double>;
  using Array = shared_array<double>;
  const std::vector<std::pair<const char*, std::function<void(Matrix&, const Array&)>>> calls = {
      {"multiply",
       [](Matrix& matrix, const Array& x) {
         std::vector<double> y(1);
         matrix.multiply(x, y);
       }},
      {"multiply",
       [](Matrix& matrix, const Array& x) {
         std::vector<double> y(1);
         matrix.multiply(std::array{&x}, y);
       }},
      {"statistics", [](Matrix& matrix, const Array&) { (void)matrix.statistics(); }},
  };
  for (const auto& [name, call] : calls) {
    EXPECT_EXIT(on_ranks(1,
                         [&call = call](Context& context) {
                           const auto x = Array::create(context, 10);
                           Matrix made =
                               *Matrix::create(*x, std::vector<size_t>{0, 1},
                                               std::vector<uint64_t>{1}, std::vector<double>{1});
                           const Matrix moved = std::move(made);
                           call(made, *x);  // NOLINT(bugprone-use-after-move)
                         }),
                ::testing::ExitedWithCode(2),
                std::string("sparse_matrix_test.cc:[0-9]+: SparseMatrix::") + name +
                    " of an object that has been moved from");
  }
}

}  // namespace
}  // namespace stripline
