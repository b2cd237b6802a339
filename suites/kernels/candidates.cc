#include "suites/kernels/candidates.h"

#include <algorithm>
#include <string>

#include "suites/kernels/decomposition.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/strided_variants.h"
#include "suites/registry.h"

namespace stripline::suites {
namespace {

constexpr int64_t kSmallestStripBytes = 1 << 10;
constexpr int64_t kMostStrips = 256;
constexpr int64_t kWindows[] = {1, 2, 4, 8};

}  // namespace

Result<std::vector<experiment::Point>> forced_candidates(const experiment::Point& base,
                                                         uint32_t ranks) {
  STRIPLINE_ASSIGN_OR_RETURN(const Transfer transfer, transfer_of(base, ranks));
  const auto block = static_cast<int64_t>(transfer.block_bytes);
  const auto blocks = static_cast<int64_t>(transfer.blocks);
  std::vector<experiment::Point> points;
  const auto add = [&](int64_t strip_bytes, const char* schedule, int64_t window) {
    experiment::Point point = base;
    point.variant = "forced";
    point.params[kStripBytesFactor] = strip_bytes;
    point.params[kScheduleFactor] = std::string(schedule);
    point.params[kWindowFactor] = window;
    points.push_back(std::move(point));
  };
  const auto add_schedules = [&](int64_t strip_bytes, int64_t strips) {
    add(strip_bytes, "A", 0);
    for (const int64_t window : kWindows) {
      if (window < strips) add(strip_bytes, "B", window);
    }
  };
  add(0, "V", 0);
  add_schedules(0, blocks);
  int64_t size = 1;
  while (size * 2 < block) size *= 2;
  const auto strips = [&] { return (block + size - 1) / size * blocks; };
  for (; size >= kSmallestStripBytes && strips() <= kMostStrips; size /= 2) {
    add_schedules(size, strips());
  }
  return points;
}

Result<std::vector<experiment::Point>> search_candidates(const experiment::Point& base,
                                                         uint32_t ranks) {
  const Benchmark* const benchmark = find_benchmark(base.experiment);
  const bool strided = base.params.contains(kMethodFactor);
  std::vector<experiment::Point> points;
  if (!strided || benchmark == nullptr) {
    STRIPLINE_ASSIGN_OR_RETURN(points, forced_candidates(base, ranks));
  }
  if (benchmark == nullptr) return points;
  const experiment::Experiment& declaration = benchmark->declaration;
  const auto values_of = [&](const char* name) {
    const auto factor = std::ranges::find(declaration.factors, name, &experiment::Factor::name);
    return factor == declaration.factors.end() ? std::vector<experiment::ParamValue>{}
                                               : factor->values;
  };
  const auto add = [&](const std::string& variant, const experiment::Params& params) {
    if (std::ranges::find(declaration.variants, variant) == declaration.variants.end()) return;
    points.push_back(base);
    points.back().variant = variant;
    for (const auto& [name, value] : params) points.back().params[name] = value;
  };
  const auto pieces = values_of(kPiecesFactor);
  const std::vector<experiment::Params> in_pieces =
      pieces.empty() ? std::vector<experiment::Params>{{}}
                     : experiment::crossed({{}}, kPiecesFactor, pieces);
  for (const experiment::Params& params : in_pieces) add("hand", params);
  for (const char* by_hand : {"hand4", "pencils", "packed"}) add(by_hand, {});
  if (!strided) return points;
  for (const auto& params :
       experiment::crossed(in_pieces, kMethodFactor, values_of(kMethodFactor))) {
    add("forced", params);
  }
  return points;
}

std::vector<experiment::Point> hand_swept(const std::vector<experiment::Point>& candidates) {
  std::vector<experiment::Point> kept;
  for (const experiment::Point& point : candidates) {
    const bool all_at_once = experiment::text_param(point, kScheduleFactor).value_or("") == "A";
    if (point.variant != "forced" || all_at_once) kept.push_back(point);
  }
  return kept;
}

}  // namespace stripline::suites
