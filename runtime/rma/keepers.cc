#include "runtime/rma/keepers.h"

#include "base/quantity.h"

namespace stripline::rma {

std::string kept_text(const KeptStatistics& statistics) {
  return "data cache: " + std::to_string(statistics.kept) + " regions kept; " +
         std::to_string(statistics.hits) + " times served, " + bytes_text(statistics.served_bytes) +
         "; given up for synchronisations " + std::to_string(statistics.synchronised) +
         ", for own stores " + std::to_string(statistics.overwritten) + ", for room " +
         std::to_string(statistics.evicted);
}

Keeper::Keeper(Keepers& keepers) : keepers_(keepers) { keepers.keepers_.push_back(this); }

Keeper::~Keeper() { std::erase(keepers_.keepers_, this); }

void Keeper::keep(rank_t rank, uint64_t begin, uint64_t end) {
  if (bounds_.empty()) bounds_.resize(keepers_.ranks_);
  Bounds& bounds = bounds_[rank];
  if (bounds.end == 0) touched_.push_back(rank);
  bounds.begin = std::min(bounds.begin, begin);
  bounds.end = std::max(bounds.end, end);
}

void Keeper::keep_nothing() {
  for (const rank_t rank : touched_) bounds_[rank] = {};
  touched_.clear();
}

}  // namespace stripline::rma
