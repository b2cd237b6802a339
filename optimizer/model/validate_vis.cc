#include <string>
#include <utility>
#include <vector>

#include "optimizer/model/validate_parts.h"

namespace stripline::model::detail {
namespace {

constexpr uint32_t kMaxWindow = 1U << 20;

Status check_curve(const std::string& where, const std::vector<PackPoint>& points) {
  if (points.size() > kMaxFootprints) {
    return wrong(where, "more than " + std::to_string(kMaxFootprints) + " spans");
  }
  for (size_t i = 0; i < points.size(); ++i) {
    const std::string element = where + "[" + std::to_string(i) + "]";
    if (points[i].span_bytes > kMaxBytes) {
      return wrong(element + ".span_bytes", "larger than " + std::to_string(kMaxBytes));
    }
    if (i > 0 && points[i].span_bytes <= points[i - 1].span_bytes) {
      return wrong(element + ".span_bytes", "spans must ascend");
    }
    STRIPLINE_RETURN_IF_ERROR(
        check_parameter(element + ".region_s", points[i].region_s, kSecondsRule));
    STRIPLINE_RETURN_IF_ERROR(
        check_parameter(element + ".s_per_byte", points[i].s_per_byte, kSecondsPerByteRule));
  }
  return {};
}

Status check_residuals(const std::string& where, const std::vector<VisResidual>& cells) {
  if (cells.size() > kMaxFootprints) {
    return wrong(where, "more than " + std::to_string(kMaxFootprints) + " cells");
  }
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string element = where + "[" + std::to_string(i) + "]";
    const VisResidual& cell = cells[i];
    if (cell.region_bytes == 0 || cell.region_bytes > kMaxBytes || cell.regions == 0 ||
        cell.regions > kMaxBytes) {
      return wrong(element, "region_bytes and regions must be 1 to " + std::to_string(kMaxBytes));
    }
    if (i > 0 && std::pair(cell.region_bytes, cell.regions) <=
                     std::pair(cells[i - 1].region_bytes, cells[i - 1].regions)) {
      return wrong(element, "cells must ascend by region_bytes, then by regions");
    }
    STRIPLINE_RETURN_IF_ERROR(check_parameter(element + ".ratio", cell.ratio, kRatioRule));
  }
  return {};
}

Status check_class(const std::string& where, const VisMethodResiduals& methods) {
  for (const auto& [name, member] : kResidualsOfMethod) {
    const std::string method = where + "." + name;
    const VisResiduals& residuals = methods.*member;
    STRIPLINE_RETURN_IF_ERROR(check_residuals(method + ".compact", residuals.compact));
    STRIPLINE_RETURN_IF_ERROR(check_residuals(method + ".spread", residuals.spread));
  }
  return {};
}

Status check_direction(const std::string& where, const VisDirection& vis) {
  if (vis.chunk_bytes && (*vis.chunk_bytes == 0 || *vis.chunk_bytes > kMaxBytes)) {
    return wrong(where + ".chunk_bytes", "must be 1 to " + std::to_string(kMaxBytes));
  }
  for (const auto& [name, window] :
       {std::pair(".window", &vis.window), std::pair(".pipelined_window", &vis.pipelined_window)}) {
    if (*window && (**window == 0 || **window > kMaxWindow)) {
      return wrong(where + name, "must be 1 to " + std::to_string(kMaxWindow));
    }
  }
  for (const auto& [name, parameter] : {std::pair(".iov_piece_s", &vis.iov_piece_s),
                                        std::pair(".light_delay_s", &vis.light_delay_s),
                                        std::pair(".heavy_delay_s", &vis.heavy_delay_s)}) {
    STRIPLINE_RETURN_IF_ERROR(check_optional(where + name, *parameter, kSecondsRule));
  }
  for (const auto& [name, member] : kResidualsOfClass) {
    STRIPLINE_RETURN_IF_ERROR(check_class(where + "." + name, vis.*member));
  }
  return {};
}

}  // namespace

Status check_pack(const PackModel& pack) {
  STRIPLINE_RETURN_IF_ERROR(check_curve("pack.pack", pack.pack));
  return check_curve("pack.unpack", pack.unpack);
}

Status check_vis(const std::string& where, const VisModel& vis) {
  if (vis.put) STRIPLINE_RETURN_IF_ERROR(check_direction(where + ".put", *vis.put));
  if (vis.get) STRIPLINE_RETURN_IF_ERROR(check_direction(where + ".get", *vis.get));
  return {};
}

}  // namespace stripline::model::detail
