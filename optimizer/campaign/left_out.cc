#include "optimizer/campaign/left_out.h"

namespace stripline::campaign {
namespace {

constexpr uint32_t kMaxFailures = 2;

}  // namespace

bool leave_out(const std::string& experiment, const std::string& why, bool for_good,
               const std::map<std::string, int64_t>& requirements,
               std::map<std::string, uint32_t>& failures, experiment::LeftOut& left_out) {
  if (!requirements.contains(experiment) || left_out.contains(experiment)) return false;
  if (++failures[experiment] < kMaxFailures && !for_good) return false;
  if (left_out.size() + 1 >= requirements.size()) return false;
  left_out[experiment] = why;
  return true;
}

std::string left_out_text(const experiment::LeftOut& left_out) {
  std::string text;
  for (const auto& [experiment, why] : left_out) {
    text += "; without " + experiment + ", which was left out after " + why;
  }
  return text;
}

}  // namespace stripline::campaign
