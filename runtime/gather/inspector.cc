#include "runtime/gather/inspector.h"

#include <algorithm>
#include <bit>

namespace stripline::gathers {
namespace {

// A bit per place is gone through in words of 64: up to here there are no more words than reads, so
// that the work is linear in the reads. Where places lie thinner, they are sorted.
constexpr uint64_t kPlacesPerRead = 64;

// The different places of `slots`, which become their numbers.
void number_dense(std::span<uint32_t> slots, uint32_t first, uint64_t span, OwnerReads& reads) {
  std::vector<uint64_t> marks((span + 63) / 64, 0);
  for (const uint32_t place : slots) {
    marks[(place - first) / 64] |= uint64_t{1} << ((place - first) % 64);
  }
  std::vector<uint32_t> before(marks.size());
  uint32_t count = 0;
  for (size_t word = 0; word < marks.size(); ++word) {
    before[word] = count;
    count += static_cast<uint32_t>(std::popcount(marks[word]));
  }
  reads.places.reserve(count);
  for (size_t word = 0; word < marks.size(); ++word) {
    for (uint64_t left = marks[word]; left != 0; left &= left - 1) {
      reads.places.push_back(first + static_cast<uint32_t>(64 * word) +
                             static_cast<uint32_t>(std::countr_zero(left)));
    }
  }
  for (uint32_t& slot : slots) {
    const uint32_t bit = slot - first;
    const uint64_t below = marks[bit / 64] & ((uint64_t{1} << (bit % 64)) - 1);
    slot = before[bit / 64] + static_cast<uint32_t>(std::popcount(below));
  }
}

// For places that ascend, as those of an index that does.
void number_ascending(std::span<uint32_t> slots, OwnerReads& reads) {
  for (uint32_t& slot : slots) {
    if (reads.places.empty() || reads.places.back() != slot) reads.places.push_back(slot);
    slot = static_cast<uint32_t>(reads.places.size() - 1);
  }
}

void number_sparse(std::span<uint32_t> slots, OwnerReads& reads) {
  reads.places.assign(slots.begin(), slots.end());
  std::ranges::sort(reads.places);
  reads.places.erase(std::unique(reads.places.begin(), reads.places.end()), reads.places.end());
  for (uint32_t& slot : slots) {
    slot =
        static_cast<uint32_t>(std::ranges::lower_bound(reads.places, slot) - reads.places.begin());
  }
}

void number(std::span<uint32_t> slots, OwnerReads& reads) {
  if (std::ranges::is_sorted(slots)) {
    number_ascending(slots, reads);
  } else {
    const auto [low, high] = std::ranges::minmax(slots);
    const uint64_t span = uint64_t{high} - low + 1;
    if (span / kPlacesPerRead <= slots.size()) {
      number_dense(slots, low, span, reads);
    } else {
      number_sparse(slots, reads);
    }
  }
  reads.runs = runs_of(reads.places);
}

}  // namespace

uint64_t runs_of(std::span<const uint32_t> places) {
  uint64_t runs = places.empty() ? 0 : 1;
  for (size_t i = 1; i < places.size(); ++i) {
    if (places[i] != places[i - 1] + 1) ++runs;
  }
  return runs;
}

Inspection inspect(std::span<const detail::GatherPlace> reads, rank_t me, rank_t ranks) {
  std::vector<size_t> ends(ranks, 0);
  for (const detail::GatherPlace& read : reads) ++ends[read.rank];
  Inspection inspection;
  size_t begin = 0;
  const auto add = [&](rank_t owner) {
    OwnerReads& of_owner = inspection.owners.emplace_back();
    of_owner.owner = owner;
    of_owner.begin = begin;
    of_owner.end = begin + ends[owner];
    ends[owner] = begin;  // where the next read of this owner goes
    begin = of_owner.end;
  };
  add(me);
  for (rank_t owner = 0; owner < ranks; ++owner) {
    if (owner != me && ends[owner] != 0) add(owner);
  }
  inspection.order.resize(reads.size());
  inspection.slots.resize(reads.size());
  for (size_t i = 0; i < reads.size(); ++i) {
    const size_t at = ends[reads[i].rank]++;
    inspection.order[at] = static_cast<uint32_t>(i);
    inspection.slots[at] = reads[i].place;
  }
  for (OwnerReads& of_owner : std::span(inspection.owners).subspan(1)) {
    number(std::span(inspection.slots).subspan(of_owner.begin, of_owner.end - of_owner.begin),
           of_owner);
  }
  return inspection;
}

}  // namespace stripline::gathers
