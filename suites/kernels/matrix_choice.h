// The sparse matrix that a kernel takes: one of a kind that occurs, or that of a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "optimizer/experiment/experiment.h"
#include "suites/kernels/sparse/matrix_rows.h"
#include "suites/session.h"

namespace stripline::suites {

/// Factors of kernels that take a matrix: its kind, and how many rows it has unless it is a file's.
experiment::Factor matrix_factor(const std::string& description);
inline constexpr const char* kMatrixRowsFactor = "rows";

class MatrixChoice {
 public:
  /// Reads the file if the point asks for one. Errors: failed_precondition if the job was given
  /// none; as read_matrix_market().
  static Result<MatrixChoice> of(const Session& session, const experiment::Point& point);

  uint64_t rows() const { return file_ ? file_->rows() : rows_; }
  /// Rows [first, last); as make_rows(). `entries` says nothing of a file.
  sparse::MatrixRows part(uint64_t first, uint64_t last,
                          uint64_t entries = sparse::kEntriesOfRow) const;

 private:
  sparse::MatrixKind kind_ = sparse::MatrixKind::banded;
  uint64_t rows_ = 0;
  std::optional<sparse::MatrixRows> file_;
};

/// "; matrix of NAME", for notes; empty if the point asks for no file.
std::string matrix_note(const Session& session, const experiment::Point& point);

}  // namespace stripline::suites
