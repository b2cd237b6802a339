// kernel.sparse_cg: conjugate gradients on a sparse matrix. Each iteration multiplies it with a
// vector that is spread over the ranks.
#include <algorithm>
#include <cmath>

#include "suites/grids.h"
#include "suites/kernels/engine.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/matrix_choice.h"
#include "suites/kernels/solvers/gather_variants.h"

namespace stripline::suites {
namespace {

constexpr const char* kIterationsFactor = "iterations";
constexpr double kTolerance = 1e-9;

// Solves A x = b, for the rows of a rank.
class Solver {
 public:
  using Reads = RepeatedReads<double>;

  Solver(Reads::Array direction, sparse::MatrixRows matrix, Reads reads)
      : direction_(direction),
        matrix_(std::move(matrix)),
        reads_(std::move(reads)),
        row_(matrix_.entries()),
        x_(matrix_.rows()),
        rest_(matrix_.rows()),
        product_(matrix_.rows()) {
    for (size_t row = 0; row < matrix_.rows(); ++row) {
      for (size_t e = matrix_.begin[row]; e < matrix_.begin[row + 1]; ++e) {
        row_[e] = static_cast<uint32_t>(row);
      }
    }
  }

  void begin(std::span<const double> right_side) {
    std::ranges::fill(x_, 0);
    std::ranges::copy(right_side, rest_.begin());
    std::ranges::copy(right_side, direction_.local_span().begin());
  }

  void solve(size_t iterations) {
    double square = sum_of_products(rest_, rest_);
    for (size_t i = 0; i < iterations; ++i) {
      std::ranges::fill(product_, 0);
      reads_.for_each(
          [&](size_t e, double value) { product_[row_[e]] += matrix_.value[e] * value; });
      const std::span<double> direction = direction_.local_span();
      const double curvature = sum_of_products(direction, product_);
      // Nothing is left to do.
      const double length = curvature > 0 ? square / curvature : 0;
      for (size_t row = 0; row < x_.size(); ++row) {
        x_[row] += length * direction[row];
        rest_[row] -= length * product_[row];
      }
      const double before = square;
      square = sum_of_products(rest_, rest_);
      const double turn = before > 0 ? square / before : 0;
      for (size_t row = 0; row < x_.size(); ++row) {
        direction[row] = rest_[row] + turn * direction[row];
      }
      if (Work* const work = direction_.context().work()) {
        const auto rows = static_cast<double>(x_.size());
        work->compute(6 * rows, 64 * rows);
      }
    }
  }

  std::span<const double> solution() const { return x_; }
  const Reads& reads() const { return reads_; }

 private:
  double sum_of_products(std::span<const double> a, std::span<const double> b) const {
    Context& context = direction_.context();
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    if (Work* const work = context.work()) {
      const auto rows = static_cast<double>(a.size());
      work->compute(2 * rows, 16 * rows);
    }
    return context.reduce_all(sum, Context::ReduceOp::sum);
  }

  Reads::Array direction_;
  sparse::MatrixRows matrix_;
  Reads reads_;
  std::vector<uint32_t> row_;  // of each entry
  std::vector<double> x_;
  std::vector<double> rest_;
  std::vector<double> product_;
};

Result<experiment::SampleSeries> run_sparse_cg(Session& session, const experiment::Point& point,
                                               const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const size_t iterations = size_param(point, kIterationsFactor);
  STRIPLINE_ASSIGN_OR_RETURN(const sparse::MatrixRows matrix, solver_matrix(session, point));
  const uint64_t rows = matrix.rows();
  using Vector = Solver::Reads::Array;
  STRIPLINE_ASSIGN_OR_RETURN(Vector direction,
                             Vector::create(ctx, rows, blocked(rows, ctx.rank_n())));
  const size_t count = direction.local_span().size();
  const uint64_t first = count == 0 ? rows : direction.index_of(0);
  sparse::MatrixRows own = sparse::rows_of(matrix, first, first + count);
  constexpr WorkOfRead kEntry{.flops = 2, .bytes = 20};
  STRIPLINE_ASSIGN_OR_RETURN(
      Solver::Reads reads,
      Solver::Reads::create(direction, own.column, gather_variant_of(point), kEntry));
  GatherTimes times;
  times.add_inspection(reads.inspection_s());
  std::optional<Solver> solver;
  solver.emplace(direction, own, std::move(reads));
  std::vector<double> right_side(count);
  KernelParts parts;
  parts.prepare = [&](uint64_t salt) {
    for (size_t row = 0; row < count; ++row) {
      right_side[row] = 0;
      for (size_t e = own.begin[row]; e < own.begin[row + 1]; ++e) {
        right_side[row] += own.value[e] * sparse::vector_element(own.column[e], salt);
      }
    }
    solver->begin(right_side);
  };
  parts.run = [&] {
    const double before_s = solver->reads().waited_s();
    solver->solve(iterations);
    times.add(solver->reads().waited_s() - before_s, iterations);
  };
  parts.verify = [&](uint64_t salt) {
    for (size_t row = 0; row < count; ++row) {
      const double expected = sparse::vector_element(first + row, salt);
      if (!(std::abs(solver->solution()[row] - expected) <= kTolerance)) return false;
    }
    return true;
  };
  parts.scale = 1 / static_cast<double>(iterations);
  experiment::SampleSeries series = measure_kernel(session, rule, parts);
  series.note = series.verified ? times.note(ctx) + matrix_note(session, point) : kWrongResult;
  solver.reset();
  ctx.barrier();
  direction.destroy();
  return series;
}

}  // namespace

Benchmark sparse_cg_benchmark() {
  std::vector<experiment::Factor> factors = solver_matrix_factors(32768);
  factors.push_back(integer_factor(kIterationsFactor, "1",
                                   "Iterations in a repetition; a sample is the time of one.", {50},
                                   30, 10000));
  return gather_benchmark(
      {.known = experiment::kernels::kSparseCg,
       .run = run_sparse_cg,
       .title = "Conjugate gradients on a sparse matrix",
       .description = "Rows of a symmetric sparse matrix lie in blocks on the ranks; each "
                      "iteration multiplies them with a vector that has changed, and adds up two "
                      "sums. Of a file's matrix the places of entries count, not their values.",
       .factors = std::move(factors),
       .metric = {"time_per_iteration", "s", true},
       .verification = "The solution is compared with the one that the right side was made from, "
                       "to 1e-9, in every repetition."});
}

}  // namespace stripline::suites
