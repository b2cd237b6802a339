#include "optimizer/campaign/pair_sampling.h"

#include <algorithm>
#include <string_view>

namespace stripline::campaign {
namespace {

std::vector<std::string> segments(std::string_view switches) {
  std::vector<std::string> all;
  while (true) {
    const size_t dot = switches.find('.');
    all.emplace_back(switches.substr(0, dot));
    if (dot == std::string_view::npos) return all;
    switches.remove_prefix(dot + 1);
  }
}

// The bits of a node's number but for the lowest, the highest one first: neighbours share a switch.
std::vector<std::string> number_path(size_t number, size_t bits) {
  std::vector<std::string> path;
  for (size_t bit = bits; bit > 1; --bit) {
    path.emplace_back((number >> (bit - 1) & 1) != 0 ? "1" : "0");
  }
  return path;
}

size_t bits_of(size_t nodes) {
  size_t bits = 1;
  while ((size_t{1} << bits) < nodes) ++bits;
  return bits;
}

uint64_t pairs_of(uint64_t nodes) { return nodes * (nodes - 1) / 2; }

}  // namespace

NetworkPlaces::NetworkPlaces(const std::vector<NodePlace>& nodes) {
  by_switches_ = !nodes.empty() && std::ranges::none_of(nodes, [](const NodePlace& place) {
    return place.switches.empty();
  });
  const size_t bits = bits_of(nodes.size());
  for (size_t number = 0; number < nodes.size(); ++number) {
    auto path = by_switches_ ? segments(nodes[number].switches) : number_path(number, bits);
    depth_ = std::max(depth_, path.size());
    paths_[nodes[number].node] = std::move(path);
  }
  // A shorter path ends at a switch of its own.
  for (auto& [node, path] : paths_) {
    while (path.size() < depth_) path.push_back("." + node);
  }
}

std::optional<uint32_t> NetworkPlaces::distance(const std::string& one,
                                                const std::string& other) const {
  const auto a = paths_.find(one);
  const auto b = paths_.find(other);
  if (a == paths_.end() || b == paths_.end()) return std::nullopt;
  const auto [end, unused] = std::ranges::mismatch(a->second, b->second);
  return static_cast<uint32_t>(a->second.end() - end);
}

std::map<uint32_t, uint64_t> NetworkPlaces::pairs() const {
  std::map<uint32_t, uint64_t> pairs;
  uint64_t nearer = 0;
  for (size_t distance = 0; distance <= depth_; ++distance) {
    // Those below the same switch of this level.
    std::map<std::vector<std::string>, uint64_t> groups;
    for (const auto& [node, path] : paths_) {
      ++groups[{path.begin(), path.end() - static_cast<std::ptrdiff_t>(distance)}];
    }
    uint64_t within = 0;
    for (const auto& [prefix, nodes] : groups) within += pairs_of(nodes);
    if (within > nearer) pairs[static_cast<uint32_t>(distance)] = within - nearer;
    nearer = within;
  }
  return pairs;
}

NodePair next_pair(const NetworkPlaces& places, const std::vector<std::string>& candidates,
                   const std::vector<NodePair>& earlier) {
  std::map<uint32_t, size_t> taken;
  for (const auto& [one, other] : earlier) {
    if (const auto distance = places.distance(one, other)) ++taken[*distance];
  }
  const std::string& first = candidates.front();
  const std::string* chosen = &candidates.at(1);
  std::optional<size_t> fewest;
  for (size_t at = 1; at < candidates.size(); ++at) {
    const auto distance = places.distance(first, candidates[at]);
    if (!distance) continue;
    const auto found = taken.find(*distance);
    const size_t times = found == taken.end() ? 0 : found->second;
    if (fewest && times >= *fewest) continue;
    fewest = times;
    chosen = &candidates[at];
  }
  return {first, *chosen};
}

std::map<uint32_t, uint32_t> runs_by_distance(const NetworkPlaces& places, uint32_t runs) {
  std::map<uint32_t, uint32_t> shares;
  const auto pairs = places.pairs();
  while (runs > 0 && !pairs.empty()) {
    for (const auto& [distance, number] : pairs) {
      if (runs == 0) break;
      ++shares[distance];
      --runs;
    }
  }
  return shares;
}

}  // namespace stripline::campaign
