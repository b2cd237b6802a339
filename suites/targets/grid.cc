#include "suites/targets/grid.h"

#include <algorithm>
#include <cmath>

namespace stripline::suites::tune {
namespace {

using targets::Collective;

constexpr uint64_t kFactor = 16;

// True if a rank has a buffer for each of the others.
bool has_blocks(Collective collective) {
  switch (collective) {
    case Collective::allreduce:
    case Collective::barrier:
    case Collective::bcast:
    case Collective::exscan:
    case Collective::reduce:
    case Collective::scan:
      return false;
    default:
      return true;
  }
}

}  // namespace

uint64_t largest_size(Collective collective, uint32_t ranks) {
  return has_blocks(collective) ? kMostBufferBytes / ranks / 8 * 8 : kMostBufferBytes;
}

std::vector<uint64_t> first_sizes(Collective collective, uint32_t ranks, uint64_t most_bytes) {
  if (collective == Collective::barrier) return {0};
  const uint64_t most = std::min(most_bytes, largest_size(collective, ranks));
  std::vector<uint64_t> sizes;
  for (uint64_t bytes = 8; bytes < most; bytes *= kFactor) sizes.push_back(bytes);
  // A last step of less than a factor of two is not worth a size of its own.
  if (sizes.size() > 1 && sizes.back() * 2 > most) sizes.pop_back();
  sizes.push_back(std::max<uint64_t>(most, 8));
  return sizes;
}

std::vector<targets::Cell> first_cells(const GridOptions& options) {
  std::vector<targets::Cell> cells;
  for (const uint32_t ranks : options.ranks) {
    for (const Collective collective : targets::kCollectives) {
      const auto& wanted = options.collectives;
      if (!wanted.empty() && std::ranges::find(wanted, collective) == wanted.end()) continue;
      for (const uint64_t bytes : first_sizes(collective, ranks, options.most_bytes)) {
        cells.push_back({collective, ranks, options.one_node ? ranks : 1, bytes});
      }
    }
  }
  return cells;
}

std::vector<CallKind> call_kinds(Collective collective, bool commutative_only) {
  std::vector<CallKind> kinds = {{"double", false}};
  if (collective == Collective::barrier) return kinds;
  if (collective != Collective::bcast) kinds.push_back({"double", true});
  if (!targets::has_operation(collective)) {
    kinds.push_back({"triple", false});
  } else if (!commutative_only) {
    kinds.push_back({"matrix", true});
  }
  return kinds;
}

uint64_t size_between(uint64_t below, uint64_t above) {
  if (below == 0 || above <= 2 * below) return 0;
  const double mean = std::sqrt(static_cast<double>(below) * static_cast<double>(above));
  const uint64_t bytes = static_cast<uint64_t>(std::llround(mean)) / 8 * 8;
  return bytes > below && bytes < above ? bytes : 0;
}

std::vector<std::vector<uint32_t>> launch_groups(std::span<const uint32_t> ranks,
                                                 uint32_t processors) {
  std::vector<uint32_t> roomy;
  std::vector<uint32_t> crowded;
  for (const uint32_t count : ranks) (count <= processors ? roomy : crowded).push_back(count);
  std::vector<std::vector<uint32_t>> groups;
  for (auto& group : {roomy, crowded}) {
    if (!group.empty()) groups.push_back(group);
  }
  return groups;
}

}  // namespace stripline::suites::tune
