// What the experiments on transfers of many regions share: regions of equal size at equal distances
// in the segment of rank 1, the same bytes without gaps in private memory of rank 0, and the check
// that they arrived.
#pragma once

#include <cstddef>
#include <vector>

#include <stripline/vis.h>

#include "base/result.h"
#include "optimizer/experiment/experiment.h"
#include "optimizer/plan/vis.h"
#include "suites/session.h"

namespace stripline::suites {

class VisTransfer {
 public:
  /// Collective. The point has the factors region_bytes, bytes and stride. Errors, the same on
  /// every rank: invalid_argument if that makes fewer than two regions, or more than a repetition
  /// moves in a reasonable time; resource_exhausted.
  static Result<VisTransfer> create(Session& session, const experiment::Point& point,
                                    plan::Direction direction);
  /// Collective.
  ~VisTransfer();
  VisTransfer(VisTransfer&& other) noexcept;
  VisTransfer& operator=(VisTransfer&&) = delete;

  size_t data_bytes() const { return regions_ * region_bytes_; }

  /// Rank 0: starts a transfer.
  future start(const VisOptions& options);

  /// Collective: makes one transfer and tells every rank whether it was carried out by
  /// `options.method`. Errors, the same on every rank: invalid_argument if it was not.
  Status check_method(const VisOptions& options);

  /// Collective: spoils the destination, makes one transfer, and tells every rank whether all
  /// regions hold what was sent and nothing else was written.
  bool verify(const VisOptions& options);

 private:
  VisTransfer(Session& session, plan::Direction direction, size_t region_bytes, size_t regions,
              size_t stride, global_ptr<std::byte> array);
  size_t span_bytes() const { return ((regions_ - 1) * stride_ + 1) * region_bytes_; }
  bool gets() const { return direction_ == plan::Direction::get; }
  bool holds(const std::byte* scattered, const std::byte* packed) const;

  Context* context_;
  plan::Direction direction_;
  size_t region_bytes_;
  size_t regions_;
  size_t stride_;                 // in regions
  global_ptr<std::byte> array_;   // this rank's part
  global_ptr<std::byte> remote_;  // rank 1's part
  std::vector<std::byte> packed_;
};

/// The factors region_bytes, bytes, stride; grids as given.
std::vector<experiment::Factor> vis_shape_factors(std::vector<experiment::ParamValue> region_bytes,
                                                  std::vector<experiment::ParamValue> bytes,
                                                  std::vector<experiment::ParamValue> stride);

/// Regions that one operation of this network takes; 1: it has no such operations.
size_t vis_iov_limit(Session& session);

}  // namespace stripline::suites
