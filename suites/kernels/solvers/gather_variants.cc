#include "suites/kernels/solvers/gather_variants.h"

#include "base/quantity.h"
#include "suites/grids.h"
#include "suites/kernels/matrix_choice.h"

namespace stripline::suites {
GatherVariant gather_variant_of(const experiment::Point& point) {
  if (point.variant == "whole") return GatherVariant::whole;
  if (point.variant == "ring") return GatherVariant::ring;
  return point.variant == "inspector" ? GatherVariant::inspector : GatherVariant::reordered;
}

std::string GatherTimes::note(Context& context) const {
  const auto mean = [&](double sum, uint64_t count) {
    const double own = count > 0 ? sum / static_cast<double>(count) : 0;
    return context.reduce_all(own, Context::ReduceOp::sum) / context.rank_n();
  };
  const double waited_s = mean(waited_s_, steps_);
  const double inspected_s = mean(inspected_s_, inspections_);
  std::string text = "waited " + seconds_text(waited_s) + " in a step";
  if (inspected_s > 0) text += ", inspected in " + seconds_text(inspected_s);
  return text;
}

Benchmark gather_benchmark(ExperimentRow row) {
  row.description +=
      " The parts of all ranks are read one after the other, between barriers (whole); "
      "or what is needed is gathered (<stripline/gather.h>), and used in the order of "
      "the index when all of it is here (inspector), as it arrives, own elements first "
      "(reordered), or then owner by owner, the rank before first (ring). The plan of "
      "a sample says how long ranks have waited.";
  row.min_ranks = 1;
  return declare(std::move(row));
}

Result<sparse::MatrixRows> solver_matrix(const Session& session, const experiment::Point& point) {
  STRIPLINE_ASSIGN_OR_RETURN(const MatrixChoice choice, MatrixChoice::of(session, point));
  return sparse::make_definite(choice.part(0, choice.rows()));
}

std::vector<experiment::Factor> solver_matrix_factors(int64_t rows) {
  experiment::Factor kinds =
      matrix_factor("The kind of matrix, made symmetric and positive definite.");
  // What is measured if nothing is said.
  const auto first = std::ranges::find(kinds.values, experiment::ParamValue(std::string("space")));
  std::rotate(kinds.values.begin(), first, kinds.values.end());
  return {std::move(kinds),
          integer_factor(kMatrixRowsFactor, "1", "Rows of the matrix; grids take fewer.", {rows}, 1,
                         1 << 24)};
}

}  // namespace stripline::suites
