#include "runtime/gather/hot_places.h"

#include <algorithm>
#include <map>
#include <utility>

namespace stripline::gathers {
namespace {

// By place: how many need it.
std::vector<std::pair<uint32_t, uint32_t>> counted(
    std::span<const std::span<const uint32_t>> needs) {
  std::vector<uint32_t> all;
  for (const auto& places : needs) all.insert(all.end(), places.begin(), places.end());
  std::ranges::sort(all);
  std::vector<std::pair<uint32_t, uint32_t>> counts;
  for (const uint32_t place : all) {
    if (counts.empty() || counts.back().first != place) counts.emplace_back(place, 0);
    ++counts.back().second;
  }
  return counts;
}

uint64_t saved(const HotPlaces& one) { return one.places.size() * (one.readers.size() - 1); }

}  // namespace

std::vector<HotPlaces> hot_places(std::span<const std::span<const uint32_t>> needs, size_t most) {
  std::vector<HotPlaces> found;
  if (needs.size() < kFewestReaders) return found;
  const auto counts = counted(needs);
  std::map<uint32_t, size_t> places_by_count;
  for (const auto& [place, count] : counts) ++places_by_count[count];
  for (const auto& [fewest, unused] : places_by_count) {
    if (fewest < kFewestReaders) continue;
    HotPlaces one;
    for (const auto& [place, count] : counts) {
      if (count >= fewest) one.places.push_back(place);
    }
    for (size_t reader = 0; reader < needs.size(); ++reader) {
      if (!std::ranges::includes(needs[reader], one.places)) continue;
      one.readers.push_back(reader);
      one.most_besides =
          std::max<uint64_t>(one.most_besides, needs[reader].size() - one.places.size());
    }
    if (one.readers.size() >= kFewestReaders) found.push_back(std::move(one));
  }
  std::ranges::sort(found, std::ranges::greater{}, saved);
  if (found.size() > most) found.resize(most);
  return found;
}

std::vector<uint32_t> hot_last(std::span<const uint32_t> places, std::span<const uint32_t> hot) {
  std::vector<uint32_t> where(places.size());
  uint32_t next = 0;
  auto next_hot = static_cast<uint32_t>(places.size() - hot.size());
  for (size_t i = 0; i < places.size(); ++i) {
    where[i] = std::ranges::binary_search(hot, places[i]) ? next_hot++ : next++;
  }
  return where;
}

}  // namespace stripline::gathers
