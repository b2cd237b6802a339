#include "runtime/rma/keepers.h"

#include "base/quantity.h"

namespace stripline::rma {

std::string kept_text(const KeptStatistics& statistics) {
  return "data cache: " + std::to_string(statistics.kept) + " regions kept; " +
         std::to_string(statistics.hits) + " times served, " + bytes_text(statistics.served_bytes) +
         "; given up for acquires " + std::to_string(statistics.acquired) + ", for own stores " +
         std::to_string(statistics.overwritten) + ", for room " +
         std::to_string(statistics.evicted);
}

Keeper::Keeper(Keepers& keepers) : keepers_(keepers) { keepers.keepers_.push_back(this); }

Keeper::~Keeper() { std::erase(keepers_.keepers_, this); }

void Keeper::keep(rank_t rank, uint64_t begin, uint64_t end) {
  if (!keepers_.tracks_) keepers_.track();
  bounds_.add(keepers_.ranks_, rank, begin, end);
}

void Keepers::track() {
  tracks_ = true;
  if (!stored_untracked_) return;
  for (rank_t rank = 0; rank < ranks_; ++rank) pending_.add(ranks_, rank, 0, INT64_MAX);
}

void Keepers::tell_of_pending_stores() const {
  pending_.for_each(
      [this](rank_t rank, uint64_t begin, uint64_t end) { tell(rank, begin, end - begin); });
}

}  // namespace stripline::rma
