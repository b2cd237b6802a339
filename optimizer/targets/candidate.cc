#include "optimizer/targets/candidate.h"

#include <bit>

namespace stripline::targets {

bool same(const Candidate& a, const Candidate& b) {
  return a.id == b.id && a.segment_bytes == b.segment_bytes && a.fan == b.fan;
}

std::string refusal(const Candidate& candidate, const Cell& cell, const Safety& safety) {
  for (const auto& [variable, number] : candidate.select) {
    if (number == 0 || !safety.unsettable.contains(variable)) continue;
    return "needs " + variable + ", which cannot be set in this version";
  }
  if (cell.ranks < candidate.least_ranks) {
    return "takes at least " + std::to_string(candidate.least_ranks) + " ranks";
  }
  if (cell.ranks > candidate.most_ranks) {
    return "takes at most " + std::to_string(candidate.most_ranks) + " ranks";
  }
  if (candidate.power_of_two_ranks && !std::has_single_bit(cell.ranks)) {
    return "takes a power of two of ranks";
  }
  if (candidate.even_ranks && cell.ranks % 2 != 0) return "takes an even number of ranks";
  if (candidate.commutative_only && !safety.commutative_only && has_operation(cell.collective)) {
    return "gives wrong results with operations that are not commutative (--commutative-only "
           "allows it)";
  }
  if (candidate.segment_bytes > 0 && candidate.segment_bytes >= cell.bytes) {
    return "cuts into segments that are not smaller than the message";
  }
  const uint64_t elements = cell.bytes / kLargestElementBytes;
  if (elements < uint64_t{candidate.elements_per_rank} * cell.ranks) {
    return "falls back to another algorithm when elements of " +
           std::to_string(kLargestElementBytes) + " B are fewer than ranks";
  }
  return {};
}

}  // namespace stripline::targets
