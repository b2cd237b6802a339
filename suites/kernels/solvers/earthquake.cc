// kernel.earthquake: waves through a body of finite elements, as SPEC's equake computes them. Each
// step multiplies a sparse matrix of 3 x 3 blocks with the displacements of all nodes.
#include <algorithm>
#include <array>
#include <cmath>

#include "suites/grids.h"
#include "suites/kernels/engine.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/matrix_choice.h"
#include "suites/kernels/solvers/gather_variants.h"

namespace stripline::suites {
namespace {

constexpr const char* kStepsFactor = "steps";
constexpr double kTolerance = 1e-10;  // of the largest displacement

struct Displacement {
  std::array<double, 3> along{};
};
using Nodes = RepeatedReads<Displacement>::Array;

// A block is an entry of the matrix times these: coupled directions, positive definite.
constexpr std::array<std::array<double, 3>, 3> kCoupling = {
    {{1, 0.25, 0.125}, {0.25, 1, 0.25}, {0.125, 0.25, 1}}};

void add_block(double entry, const Displacement& of, Displacement& sum) {
  for (size_t i = 0; i < 3; ++i) {
    double part = 0;
    for (size_t j = 0; j < 3; ++j) part += kCoupling[i][j] * of.along[j];
    sum.along[i] += entry * part;
  }
}

Displacement first_displacement(uint64_t node) {
  Displacement made;
  for (size_t i = 0; i < 3; ++i) made.along[i] = sparse::vector_element(node, i);
  return made;
}

// The square of the time step over the masses. Waves do not grow while four over it exceeds all
// eigenvalues: 3 of the matrix times 1.375 of a block at most.
constexpr double kStepSquare = 0.25;

// One step of a node: `now` becomes what comes next, `before` what it was.
void advance(const Displacement& force, Displacement& now, Displacement& before) {
  for (size_t i = 0; i < 3; ++i) {
    const double next = 2 * now.along[i] - before.along[i] - kStepSquare * force.along[i];
    before.along[i] = now.along[i];
    now.along[i] = next;
  }
}

// The displacements of all nodes after `steps` steps.
std::vector<Displacement> go_alone(const sparse::MatrixRows& matrix, size_t steps) {
  std::vector<Displacement> now(matrix.rows());
  for (size_t node = 0; node < now.size(); ++node) now[node] = first_displacement(node);
  std::vector<Displacement> before = now;
  std::vector<Displacement> force(now.size());
  for (size_t step = 0; step < steps; ++step) {
    std::ranges::fill(force, Displacement{});
    for (size_t row = 0; row < now.size(); ++row) {
      for (size_t e = matrix.begin[row]; e < matrix.begin[row + 1]; ++e) {
        add_block(matrix.value[e], now[matrix.column[e]], force[row]);
      }
    }
    for (size_t row = 0; row < now.size(); ++row) advance(force[row], now[row], before[row]);
  }
  return now;
}

Result<experiment::SampleSeries> run_earthquake(Session& session, const experiment::Point& point,
                                                const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const size_t steps = size_param(point, kStepsFactor);
  STRIPLINE_ASSIGN_OR_RETURN(const sparse::MatrixRows matrix, solver_matrix(session, point));
  const uint64_t rows = matrix.rows();
  STRIPLINE_ASSIGN_OR_RETURN(Nodes nodes, Nodes::create(ctx, rows, blocked(rows, ctx.rank_n())));
  const std::span<Displacement> now = nodes.local_span();
  const uint64_t first = now.empty() ? rows : nodes.index_of(0);
  const sparse::MatrixRows own = sparse::rows_of(matrix, first, first + now.size());
  std::vector<uint32_t> row_of(own.entries());
  for (size_t row = 0; row < own.rows(); ++row) {
    for (size_t e = own.begin[row]; e < own.begin[row + 1]; ++e) {
      row_of[e] = static_cast<uint32_t>(row);
    }
  }
  constexpr WorkOfRead kBlock{.flops = 24, .bytes = 36};
  std::optional<RepeatedReads<Displacement>> reads;
  STRIPLINE_ASSIGN_OR_RETURN(reads, RepeatedReads<Displacement>::create(
                                        nodes, own.column, gather_variant_of(point), kBlock));
  GatherTimes times;
  times.add_inspection(reads->inspection_s());
  std::vector<Displacement> before(now.size());
  std::vector<Displacement> force(now.size());
  // Rank 0 alone compares: what takes longer than the kernel itself is not done by all.
  std::vector<Displacement> expected;
  if (ctx.rank_me() == 0) expected = go_alone(matrix, steps);

  // Displacements are proportional to those in the beginning.
  const auto scale_of = [](uint64_t salt) { return static_cast<double>(1 + salt); };
  KernelParts parts;
  parts.prepare = [&](uint64_t salt) {
    for (size_t node = 0; node < now.size(); ++node) {
      now[node] = first_displacement(first + node);
      for (double& part : now[node].along) part *= scale_of(salt);
    }
    std::ranges::copy(now, before.begin());
  };
  parts.run = [&] {
    const double before_s = reads->waited_s();
    for (size_t step = 0; step < steps; ++step) {
      std::ranges::fill(force, Displacement{});
      reads->for_each([&](size_t e, const Displacement& there) {
        add_block(own.value[e], there, force[row_of[e]]);
      });
      for (size_t node = 0; node < now.size(); ++node) {
        advance(force[node], now[node], before[node]);
      }
      if (Work* const work = ctx.work()) {
        const auto count = static_cast<double>(now.size());
        work->compute(12 * count, 96 * count);
      }
    }
    times.add(reads->waited_s() - before_s, steps);
  };
  parts.verify = [&](uint64_t salt) {
    ctx.barrier();
    bool right = true;
    if (ctx.rank_me() == 0) {
      std::vector<Displacement> all(rows);
      nodes.read_range(0, rows, all.data());
      for (size_t node = 0; node < rows; ++node) {
        for (size_t i = 0; i < 3; ++i) {
          const double wrong = all[node].along[i] / scale_of(salt) - expected[node].along[i];
          right = right && std::abs(wrong) <= kTolerance;
        }
      }
    }
    ctx.barrier();
    return right;
  };
  parts.scale = 1 / static_cast<double>(steps);
  experiment::SampleSeries series = measure_kernel(session, rule, parts);
  series.note = series.verified ? times.note(ctx) + matrix_note(session, point) : kWrongResult;
  reads.reset();
  ctx.barrier();
  nodes.destroy();
  return series;
}

}  // namespace

Benchmark earthquake_benchmark() {
  std::vector<experiment::Factor> factors = solver_matrix_factors(32768);
  factors.push_back(integer_factor(
      kStepsFactor, "1", "Steps in a repetition; a sample is the time of one.", {10}, 1, 1000));
  return gather_benchmark(
      {.known = experiment::kernels::kEarthquake,
       .run = run_earthquake,
       .title = "Waves through finite elements",
       .description = "Nodes of a mesh lie in blocks on the ranks; each step multiplies a sparse "
                      "matrix of 3 x 3 blocks with the displacements of all nodes, and moves them.",
       .factors = std::move(factors),
       .metric = {"time_per_step", "s", true},
       .verification = "Rank 0 compares the displacements of all nodes with those that it has "
                       "computed alone, to 1e-10, in every repetition."});
}

}  // namespace stripline::suites
