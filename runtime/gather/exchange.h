// What ranks give each other when a plan is made, in lists of any length.
#pragma once

#include <cstddef>
#include <vector>

#include <stripline/team.h>

namespace stripline::gathers {

/// Collective: `given[r]` goes to rank r, and what rank r gives this one is the result's list r, of
/// counts[r] entries.
template <typename T>
std::vector<std::vector<T>> exchange(const team& all, const std::vector<std::vector<T>>& given,
                                     const std::vector<size_t>& counts, CallSite site) {
  const size_t ranks = given.size();
  std::vector<size_t> given_counts(ranks);
  std::vector<size_t> given_offsets(ranks);
  std::vector<size_t> offsets(ranks);
  std::vector<T> sent;
  size_t total = 0;
  for (size_t rank = 0; rank < ranks; ++rank) {
    given_counts[rank] = given[rank].size();
    given_offsets[rank] = sent.size();
    sent.insert(sent.end(), given[rank].begin(), given[rank].end());
    offsets[rank] = total;
    total += counts[rank];
  }
  std::vector<T> received(total);
  all.all_to_all_v(sent, given_counts, given_offsets, received, counts, offsets,
                   collective_algorithm::automatic, site);
  std::vector<std::vector<T>> lists(ranks);
  for (size_t rank = 0; rank < ranks; ++rank) {
    const auto begin = received.begin() + static_cast<std::ptrdiff_t>(offsets[rank]);
    lists[rank].assign(begin, begin + static_cast<std::ptrdiff_t>(counts[rank]));
  }
  return lists;
}

/// The same where no one knows how many entries come.
template <typename T>
std::vector<std::vector<T>> exchange(const team& all, const std::vector<std::vector<T>>& given,
                                     CallSite site) {
  std::vector<size_t> counts(given.size());
  for (size_t rank = 0; rank < given.size(); ++rank) counts[rank] = given[rank].size();
  std::vector<size_t> coming(given.size());
  all.all_to_all(counts, coming, collective_algorithm::automatic, site);
  return exchange(all, given, coming, site);
}

}  // namespace stripline::gathers
