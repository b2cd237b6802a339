#include "suites/kernels/decomposition.h"

#include <algorithm>
#include <array>

#include "suites/grids.h"
#include "suites/kernels/nas/cg_problem.h"
#include "suites/kernels/nas/exchanges/factors.h"
#include "suites/kernels/nas/ft_problem.h"
#include "suites/kernels/nas/is_problem.h"
#include "suites/kernels/prk/sparse_share.h"
#include "suites/kernels/prk/transpose_share.h"
#include "suites/kernels/prk_factors.h"
#include "suites/kernels/transpose_problem.h"
#include "suites/registry.h"

namespace stripline::suites {
namespace {

constexpr std::array<std::string_view, 8> kVariantNames = {
    "blocking", "fine", "hand", "hand4", "untuned", "tuned", "guarded", "forced"};

}  // namespace

std::vector<std::string> variant_names() { return {kVariantNames.begin(), kVariantNames.end()}; }

Variant variant_of(const experiment::Point& point) {
  const auto found = std::find(kVariantNames.begin(), kVariantNames.end(), point.variant);
  return static_cast<Variant>(found - kVariantNames.begin());
}

std::vector<experiment::Factor> decomposition_factors() {
  experiment::Factor schedule;
  schedule.name = kScheduleFactor;
  schedule.description =
      "Variant forced: A issues all strips up front, B keeps `window` of them ahead, V fetches "
      "block by block, blocking.";
  schedule.values = {std::string("A"), std::string("B"), std::string("V")};
  return {integer_factor(kStripBytesFactor, "B",
                         "Variant forced: size of a strip; 0 does not divide the blocks.", {0}, 0,
                         double{1 << 30}),
          schedule,
          integer_factor(kWindowFactor, "1",
                         "Variant forced under schedule B: strips ahead; else 0.", {0}, 0, 4096)};
}

bool is_decomposition_factor(std::string_view name) {
  return name == kStripBytesFactor || name == kScheduleFactor || name == kWindowFactor;
}

Result<plan::StripCandidate> decomposition_of(const experiment::Point& point) {
  plan::StripCandidate candidate;
  candidate.strip_bytes = size_param(point, kStripBytesFactor);
  candidate.window = static_cast<uint32_t>(size_param(point, kWindowFactor));
  const std::string schedule = experiment::text_param(point, kScheduleFactor).value_or("A");
  candidate.schedule = schedule == "B"   ? plan::Schedule::pipelined
                       : schedule == "V" ? plan::Schedule::vectorised
                                         : plan::Schedule::all_issued;
  if (variant_of(point) != Variant::forced &&
      (candidate.strip_bytes != 0 || candidate.window != 0 || schedule != "A")) {
    return Error(ErrorCode::invalid_argument,
                 "only variant 'forced' takes strip_bytes, schedule and window; variant '" +
                     point.variant + "' decides for itself");
  }
  if ((schedule == "B") != (candidate.window != 0)) {
    return Error(ErrorCode::invalid_argument,
                 "schedule B needs a window of at least 1, the others none (window=0)");
  }
  if (schedule == "V" && candidate.strip_bytes != 0) {
    return Error(ErrorCode::invalid_argument,
                 "schedule V does not divide the blocks; leave strip_bytes=0");
  }
  return candidate;
}

Result<Transfer> transfer_of(const experiment::Point& point, uint32_t ranks) {
  if (point.experiment == kernels::kMatvec) {
    return Transfer{size_param(point, "rows") * size_param(point, "cols") * sizeof(double), 1};
  }
  if (point.experiment == kernels::kTriad) {
    return Transfer{size_param(point, "elements") * sizeof(double), 1};
  }
  if (point.experiment == kernels::kTranspose) {
    const size_t n = size_param(point, "n");
    if (n == 0 || n % ranks != 0) {
      return Error(ErrorCode::invalid_argument, "n=" + std::to_string(n) +
                                                    " is not a multiple of the " +
                                                    std::to_string(ranks) + " ranks");
    }
    return Transfer{(n / ranks) * (n / ranks) * sizeof(Complex), ranks - 1};
  }
  if (point.experiment == kernels::kPrkTranspose) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto partition,
                               prk::TransposePartition::create(size_param(point, "n"), ranks));
    return Transfer{partition.block_elements() * sizeof(double), ranks - 1};
  }
  if (point.experiment == kernels::kPrkSparse) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto partition,
                               prk::SparsePartition::create(sparse_size_of(point), ranks));
    return Transfer{partition.rows_per_rank() * sizeof(double), ranks - 1};
  }
  if (point.experiment == kernels::kNasCg) {
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto partition,
        nas::CgPartition::create(nas::cg_problem(nas_class_of(point)), ranks));
    return Transfer{(partition.sums_offset(1) - partition.sums_offset(0)) * sizeof(double), 1};
  }
  if (point.experiment == kernels::kNasFt) {
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto partition,
        nas::FtPartition::create(nas::ft_problem(nas_class_of(point)), ranks));
    const nas::FtTransposition t = partition.inverse();
    return Transfer{t.rows_per_rank() * t.nx * sizeof(nas::FtComplex), t.planes * (ranks - 1)};
  }
  if (point.experiment == kernels::kNasIs) {
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto partition,
        nas::IsPartition::create(nas::is_problem(nas_class_of(point)), ranks));
    return Transfer{partition.keys_per_rank() / ranks * sizeof(uint32_t), ranks - 1};
  }
  return Error(ErrorCode::invalid_argument,
               "experiment '" + point.experiment +
                   "' has no decomposition to search; use kernel.matvec, kernel.transpose, "
                   "kernel.triad, kernel.nas_cg, kernel.nas_ft, kernel.nas_is, "
                   "kernel.prk_sparse or kernel.prk_transpose");
}

}  // namespace stripline::suites
