// kernel.spmv: a sparse matrix times a vector, of which every rank needs some elements of others.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stripline/shared_array.h>
#include <stripline/sparse_matrix.h>
#include <stripline/team.h>

#include "base/quantity.h"
#include "base/random.h"
#include "optimizer/plan/score_map.h"
#include "suites/grids.h"
#include "suites/kernels/engine.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/matrix_choice.h"
#include "suites/kernels/measure_kernel.h"
#include "suites/kernels/sparse/matrix_rows.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;
using sparse::MatrixRows;
using Vector = shared_array<double, block_cyclic<>>;

constexpr const char* kNaive = "naive";
constexpr const char* kWhole = "whole";
constexpr const char* kHand = "hand";
constexpr const char* kTuned = "tuned";

constexpr const char* kEntriesFactor = "entries";
constexpr const char* kIterationsFactor = "iterations";
constexpr const char* kInspectionFactor = "inspection";
constexpr const char* kTimed = "timed";
constexpr double kTolerance = 1e-11;  // of a row's sum of magnitudes
// Reading elements one by one over a network takes a round trip each.
constexpr size_t kNaiveEntries = 1024;

// The method of a program that knows no gathers: which elements are needed is exchanged once; then
// they are packed, exchanged all at once, and multiplied.
class PackedByHand {
 public:
  PackedByHand(Context& context, const Vector& x, const MatrixRows& matrix)
      : all_(team::world(context)),
        own_(x.local_span()),
        slots_(matrix.entries()),
        send_counts_(context.rank_n(), 0),
        send_offsets_(context.rank_n(), 0),
        receive_counts_(context.rank_n(), 0),
        receive_offsets_(context.rank_n(), 0) {
    const rank_t me = context.rank_me();
    std::vector<std::vector<uint64_t>> wanted(context.rank_n());
    for (const uint64_t column : matrix.column) {
      const place at = x.distribution().locate(column);
      if (at.rank != me) wanted[at.rank].push_back(at.index);
    }
    std::vector<uint64_t> asked;
    for (rank_t rank = 0; rank < context.rank_n(); ++rank) {
      std::ranges::sort(wanted[rank]);
      wanted[rank].erase(std::unique(wanted[rank].begin(), wanted[rank].end()), wanted[rank].end());
      receive_offsets_[rank] = asked.size();
      receive_counts_[rank] = wanted[rank].size();
      asked.insert(asked.end(), wanted[rank].begin(), wanted[rank].end());
    }
    all_.all_to_all(receive_counts_, send_counts_);
    size_t sends = 0;
    for (rank_t rank = 0; rank < context.rank_n(); ++rank) {
      send_offsets_[rank] = sends;
      sends += send_counts_[rank];
    }
    places_.resize(sends);
    packed_.resize(sends);
    all_.all_to_all_v(asked, receive_counts_, receive_offsets_, places_, send_counts_,
                      send_offsets_);
    vector_.resize(own_.size() + asked.size());
    for (size_t entry = 0; entry < matrix.entries(); ++entry) {
      const place at = x.distribution().locate(matrix.column[entry]);
      if (at.rank == me) {
        slots_[entry] = at.index;
      } else {
        const auto found = std::ranges::lower_bound(wanted[at.rank], at.index);
        slots_[entry] = own_.size() + receive_offsets_[at.rank] +
                        static_cast<size_t>(found - wanted[at.rank].begin());
      }
    }
  }

  void multiply(const MatrixRows& matrix, std::span<double> y) {
    for (size_t i = 0; i < places_.size(); ++i) packed_[i] = own_[places_[i]];
    const std::span<double> theirs = std::span(vector_).subspan(own_.size());
    all_.all_to_all_v(packed_, send_counts_, send_offsets_, theirs, receive_counts_,
                      receive_offsets_);
    std::ranges::copy(own_, vector_.begin());
    for (size_t row = 0; row < matrix.rows(); ++row) {
      double sum = 0;
      for (size_t e = matrix.begin[row]; e < matrix.begin[row + 1]; ++e) {
        sum += matrix.value[e] * vector_[slots_[e]];
      }
      y[row] = sum;
    }
  }

 private:
  team all_;
  std::span<double> own_;
  std::vector<size_t> slots_;
  std::vector<size_t> send_counts_;
  std::vector<size_t> send_offsets_;
  std::vector<size_t> receive_counts_;
  std::vector<size_t> receive_offsets_;
  std::vector<uint64_t> places_;
  std::vector<double> packed_;
  std::vector<double> vector_;
};

// Every element where it is needed; `entries` of them at most.
void multiply_naively(const Vector& x, const MatrixRows& matrix, size_t entries,
                      std::span<double> y) {
  for (size_t row = 0; row < matrix.rows() && matrix.begin[row] < entries; ++row) {
    double sum = 0;
    for (size_t e = matrix.begin[row]; e < matrix.begin[row + 1]; ++e) {
      sum += matrix.value[e] * x.read(matrix.column[e]);
    }
    y[row] = sum;
  }
}

void multiply_whole(const Vector& x, const MatrixRows& matrix, std::vector<double>& copy,
                    std::span<double> y) {
  x.read_range(0, x.size(), copy.data());
  for (size_t row = 0; row < matrix.rows(); ++row) {
    double sum = 0;
    for (size_t e = matrix.begin[row]; e < matrix.begin[row + 1]; ++e) {
      sum += matrix.value[e] * copy[matrix.column[e]];
    }
    y[row] = sum;
  }
}

// How those that are not packed get here.
std::string methods_text(const GatherStatistics& said) {
  const std::array<std::pair<uint64_t, const char*>, 4> methods = {
      {{said.bound_owners, " by their bound"},
       {said.pulled_owners, " pulled"},
       {said.broadcast_owners, " passed on"},
       {said.shared_owners, " shared"}}};
  std::string text;
  for (const auto& [owners, method] : methods) {
    if (owners > 0) text += ", " + std::to_string(owners) + method;
  }
  return text;
}

Result<SampleSeries> run_spmv(Session& session, const experiment::Point& point,
                              const experiment::StopRule& rule) {
  Context& ctx = session.context();
  STRIPLINE_ASSIGN_OR_RETURN(const MatrixChoice choice, MatrixChoice::of(session, point));
  const uint64_t rows = choice.rows();
  const size_t iterations = size_param(point, kIterationsFactor);
  STRIPLINE_ASSIGN_OR_RETURN(Vector x, Vector::create(ctx, rows, blocked(rows, ctx.rank_n())));
  const std::span<double> own = x.local_span();
  const uint64_t first = own.empty() ? rows : x.index_of(0);
  const MatrixRows matrix =
      choice.part(first, first + own.size(), size_param(point, kEntriesFactor));
  std::vector<double> y(own.size());
  std::vector<double> sum(own.size());

  const std::string& variant = point.variant;
  const bool partial = variant == kNaive && matrix.entries() > kNaiveEntries;
  size_t multiplied = matrix.rows();  // rows
  if (partial) {
    multiplied = static_cast<size_t>(std::ranges::lower_bound(matrix.begin, kNaiveEntries) -
                                     matrix.begin.begin());
  }
  std::optional<PackedByHand> by_hand;
  std::optional<SparseMatrix<double>> gathered;
  std::vector<double> copy(variant == kWhole ? rows : 0);
  const bool gathers = variant != kNaive && variant != kWhole && variant != kHand;
  const bool inspection_counts =
      std::get<std::string>(point.params.at(kInspectionFactor)) == kTimed;
  const auto inspect = [&]() -> Status {
    if (variant == kHand) by_hand.emplace(ctx, x, matrix);
    if (!gathers) return {};
    gathered.reset();
    GatherOptions options;
    options.method = plan::method_named<GatherMethod>(variant, plan::kGatherMethodNames)
                         .value_or(GatherMethod::best);
    STRIPLINE_ASSIGN_OR_RETURN(
        SparseMatrix<double> made,
        SparseMatrix<double>::create(x, matrix.begin, matrix.column, matrix.value, options));
    gathered.emplace(std::move(made));
    return {};
  };
  Status inspected = inspect();
  STRIPLINE_RETURN_IF_ERROR(inspected);

  const auto fill = [&](uint64_t salt) {
    for (size_t i = 0; i < own.size(); ++i) own[i] = sparse::vector_element(first + i, salt);
  };
  KernelParts parts;
  uint64_t salt_of_run = 0;
  parts.prepare = [&](uint64_t salt) {
    std::ranges::fill(sum, 0);
    salt_of_run = salt;
  };
  parts.run = [&] {
    if (inspection_counts) inspected = inspect();
    if (!inspected.ok()) return;  // on all ranks
    for (size_t i = 0; i < iterations; ++i) {
      fill(derive_seed(salt_of_run, i));
      if (gathered) {
        gathered->multiply(x, y);
      } else if (by_hand) {
        by_hand->multiply(matrix, y);
      } else {
        ctx.barrier();
        if (variant == kWhole) {
          multiply_whole(x, matrix, copy, y);
        } else {
          multiply_naively(x, matrix, partial ? kNaiveEntries : matrix.entries(), y);
        }
        ctx.barrier();  // all have read
      }
      for (size_t row = 0; row < multiplied; ++row) sum[row] += y[row];
      if (Work* const work = ctx.work()) {
        const auto entries = static_cast<double>(matrix.begin[multiplied]);
        work->compute(2 * entries, 20 * entries);
      }
    }
  };
  parts.verify = [&](uint64_t salt) {
    for (size_t row = 0; row < multiplied; ++row) {
      double expected = 0;
      double magnitude = 0;
      for (size_t i = 0; i < iterations; ++i) {
        for (size_t e = matrix.begin[row]; e < matrix.begin[row + 1]; ++e) {
          const double term =
              matrix.value[e] * sparse::vector_element(matrix.column[e], derive_seed(salt, i));
          expected += term;
          magnitude += std::abs(term);
        }
      }
      if (!(std::abs(sum[row] - expected) <= kTolerance * magnitude)) return false;
    }
    return true;
  };
  parts.scale = 1 / static_cast<double>(iterations);
  if (partial) {
    parts.scale *=
        static_cast<double>(matrix.entries()) / static_cast<double>(matrix.begin[multiplied]);
  }
  SampleSeries series = measure_kernel(session, rule, parts);
  STRIPLINE_RETURN_IF_ERROR(inspected);
  if (!series.verified) {
    series.note = kWrongResult;
  } else if (gathered) {
    const GatherStatistics& said = gathered->statistics();
    series.note = count_text(said.elements, "element") + " of " + count_text(said.owners, "rank") +
                  methods_text(said) + "; inspected in " + seconds_text(said.inspection_s) +
                  matrix_note(session, point);
  }
  gathered.reset();
  ctx.barrier();
  x.destroy();
  return series;
}

}  // namespace

Benchmark spmv_benchmark() {
  ExperimentRow row = {
      .known = kernels::kSpmv,
      .run = run_spmv,
      .title = "Sparse matrix-vector product",
      .description =
          "Rows of a sparse matrix, of a kind that occurs, and elements of the vector lie in "
          "blocks on the ranks; in each iteration the vector changes and is multiplied. The "
          "elements that a rank needs of others are read one by one (naive: of the first 1024 "
          "entries, the time scaled), read with all others (whole), packed and exchanged all at "
          "once as programs do by hand (hand), or gathered (<stripline/gather.h>): packed (pack), "
          "all between the first and the last (bound), fetched by the reader (pull), passed on by "
          "readers of the same (broadcast), once for a node (share), or as the model says for "
          "each pair of ranks (tuned).",
      .variants = {kNaive, kWhole, kHand},
      .metric = {"time_per_product", "s", true},
      .verification =
          "Each row's sum over all iterations is compared with the sum of its terms, "
          "to 1e-11 of their magnitudes, in every repetition."};
  row.factors = {
      matrix_factor("The kind of matrix."),
      integer_factor(kMatrixRowsFactor, "1", "Rows of the matrix; grids take fewer.",
                     {1 << 16, 1 << 12, 1 << 18}, 1, 1 << 28),
      integer_factor(kEntriesFactor, "1", "Entries of each row of banded and random matrices.",
                     {static_cast<int64_t>(sparse::kEntriesOfRow)}, 1, 1024),
      integer_factor(kIterationsFactor, "1",
                     "Products in a repetition; a sample is the time of one.", {10}, 1, 1000),
      name_factor(kInspectionFactor,
                  "Whether finding out who needs what is done before, or at the beginning "
                  "of each repetition.",
                  {"before", kTimed})};
  for (const std::string_view method :
       plan::methods_of(plan::kGatherMethodNames, plan::kGatherMethods)) {
    row.variants.emplace_back(method);
  }
  row.variants.emplace_back(kTuned);
  return declare(std::move(row));
}

}  // namespace stripline::suites
