#include "suites/kernels/matrix_choice.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "suites/grids.h"
#include "suites/kernels/sparse/matrix_market.h"

namespace stripline::suites {
namespace {

constexpr const char* kMatrixFactor = "matrix";
constexpr const char* kOfFile = "file";

}  // namespace

experiment::Factor matrix_factor(const std::string& description) {
  std::vector<experiment::ParamValue> kinds;
  for (const std::string_view name : sparse::kMatrixKindNames) {
    kinds.emplace_back(std::string(name));
  }
  kinds.emplace_back(std::string(kOfFile));
  return name_factor(kMatrixFactor, description + " \"file\": the one of --matrix.",
                     std::move(kinds));
}

Result<MatrixChoice> MatrixChoice::of(const Session& session, const experiment::Point& point) {
  const auto& name = std::get<std::string>(point.params.at(kMatrixFactor));
  MatrixChoice choice;
  if (name == kOfFile) {
    if (session.matrix_file().empty()) {
      return Error(ErrorCode::failed_precondition,
                   "no file was given to take the matrix from; 'stripline-bench run --matrix FILE' "
                   "does so");
    }
    STRIPLINE_ASSIGN_OR_RETURN(choice.file_, sparse::read_matrix_market(session.matrix_file()));
    return choice;
  }
  const auto found = std::ranges::find(sparse::kMatrixKindNames, name);
  choice.kind_ = static_cast<sparse::MatrixKind>(found - sparse::kMatrixKindNames.begin());
  choice.rows_ = sparse::fitting_rows(choice.kind_, size_param(point, kMatrixRowsFactor));
  return choice;
}

sparse::MatrixRows MatrixChoice::part(uint64_t first, uint64_t last, uint64_t entries) const {
  return file_ ? sparse::rows_of(*file_, first, last)
               : sparse::make_rows(kind_, rows_, first, last, entries);
}

std::string matrix_note(const Session& session, const experiment::Point& point) {
  if (experiment::text_param(point, kMatrixFactor) != kOfFile) return {};
  return "; matrix of " + std::filesystem::path(session.matrix_file()).filename().string();
}

}  // namespace stripline::suites
