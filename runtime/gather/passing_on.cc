#include "runtime/gather/passing_on.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "runtime/gather/exchange.h"
#include "runtime/gather/hot_places.h"

namespace stripline::gathers {
namespace {

constexpr size_t kMostHot = 8;  // sets of places that are compared

// A binomial tree of places, of which 0 is the root.
size_t parent_of(size_t place) { return place & (place - 1); }
template <typename Visit>
void each_child(size_t place, size_t places, const Visit& visit) {
  const size_t end = place == 0 ? std::bit_ceil(places) : place & (~place + 1);
  for (size_t step = end / 2; step > 0; step /= 2) {  // the largest subtree first
    if (place + step < places) visit(place + step);
  }
}

}  // namespace

// Readers that need the same of this rank, and are to pass it on.
std::vector<PassingOn::Spread> PassingOn::alike() const {
  std::map<std::pair<uint64_t, uint64_t>, std::vector<size_t>> by_need;
  for (size_t number = 0; number < made_.outgoing.size(); ++number) {
    const Outgoing& out = made_.outgoing[number];
    const Announcement& asked = asked_[out.reader];
    if (!out.fetched) by_need[{asked.hash, asked.wanted}].push_back(number);
  }
  std::vector<Spread> spreads;
  for (auto& [need, readers] : by_need) {
    const Outgoing& one = made_.outgoing[readers.front()];
    if (readers.size() < 2) continue;
    const auto choice =
        choices_.broadcasts(one.selection(), one.reader, static_cast<uint32_t>(readers.size()),
                            asked_[one.reader].receives);
    if (choice) spreads.push_back({std::move(readers), {}, *choice});
  }
  return spreads;
}

// What several of the others need beside elements of their own.
std::optional<PassingOn::Spread> PassingOn::hot_beside(const std::vector<Spread>& alike) const {
  if (!may_be_hot_) return std::nullopt;
  std::vector<bool> taken(made_.outgoing.size(), false);
  for (const Spread& spread : alike) {
    for (const size_t number : spread.readers) taken[number] = true;
  }
  std::vector<size_t> numbers;
  std::vector<std::span<const uint32_t>> needs;
  for (size_t number = 0; number < taken.size(); ++number) {
    const Outgoing& out = made_.outgoing[number];
    if (taken[number] || out.fetched || out.places.empty()) continue;
    numbers.push_back(number);
    needs.emplace_back(out.places);
  }
  std::optional<Spread> best;
  double most = 0;
  for (HotPlaces& one : hot_places(needs, kMostHot)) {
    const Selection hot{.places = one.places,
                        .first = one.places.front(),
                        .elements = one.places.size(),
                        .runs = runs_of(one.places)};
    const rank_t reader = made_.outgoing[numbers[one.readers.front()]].reader;
    const auto choice = choices_.broadcasts(hot, reader, static_cast<uint32_t>(one.readers.size()),
                                            asked_[reader].receives, one.most_besides);
    if (!choice || choices_.saved_by(*choice) <= most) continue;
    most = choices_.saved_by(*choice);
    best.emplace(Spread{{}, std::move(one.places), *choice});
    for (const size_t of_needs : one.readers) best->readers.push_back(numbers[of_needs]);
  }
  return best;
}

// Where what is passed on lands: what is hot comes after all others, with flags of its own.
rma::Landing PassingOn::landing_of(const Spread& spread, rank_t reader) const {
  const Announcement& there = asked_[reader];
  const uint64_t others = spread.hot.empty() ? 0 : there.wanted - spread.hot.size();
  return {.first = global_ptr<std::byte>(reader, there.landing + others * element_bytes_),
          .turn_bytes = there.turn_bytes,
          .flags = global_ptr<uint64_t>(
              reader, there.flags + (others == 0 ? 0 : kFlagsOfTurns * sizeof(uint64_t)))};
}

// Each reader is informed from whom it comes, by which decision, what is hot if not all is, and
// where it is to go.
void PassingOn::announce(const Spread& spread, rank_t me,
                         std::vector<std::vector<uint64_t>>& given) const {
  std::vector<rank_t> ranks = {me};
  for (const size_t number : spread.readers) ranks.push_back(made_.outgoing[number].reader);
  for (size_t place = 1; place < ranks.size(); ++place) {
    const bool all = spread.hot.empty() || asked_[ranks[place]].wanted == spread.hot.size();
    std::vector<uint64_t>& list = given[ranks[place]];
    list = {ranks[parent_of(place)], all ? 0 : spread.hot.size()};
    const auto choice = words_of<uint64_t>(spread.choice);
    list.insert(list.end(), choice.begin(), choice.end());
    if (!all) list.insert(list.end(), spread.hot.begin(), spread.hot.end());
    each_child(place, ranks.size(), [&](size_t child) {
      const rma::Landing there = landing_of(spread, ranks[child]);
      list.insert(list.end(),
                  {ranks[child], there.first.offset(), there.turn_bytes, there.flags.offset()});
    });
  }
}

// What this rank sends when some of it is passed on: that first.
void PassingOn::send(const std::vector<Spread>& spreads) {
  std::vector<Outgoing> sent;
  for (const Spread& spread : spreads) {
    each_child(0, spread.readers.size() + 1, [&](size_t child) {
      const Outgoing& direct = made_.outgoing[spread.readers[child - 1]];
      Outgoing& out = sent.emplace_back();
      out.reader = direct.reader;
      const bool all = spread.hot.empty();
      out.places = all ? direct.places : spread.hot;
      out.first = all ? direct.first : spread.hot.front();
      out.elements = all ? direct.elements : spread.hot.size();
      out.runs = all ? direct.runs : runs_of(spread.hot);
      out.copied = all && direct.copied;
      out.sender = rma::TurnSender(landing_of(spread, out.reader));
    });
  }
  for (const Spread& spread : spreads) {
    for (const size_t number : spread.readers) {
      Outgoing& out = made_.outgoing[number];
      std::erase_if(out.places,
                    [&](uint32_t place) { return std::ranges::binary_search(spread.hot, place); });
      out.elements = spread.hot.empty() ? 0 : out.places.size();
      if (out.elements == 0) continue;
      out.first = out.places.front();
      out.runs = runs_of(out.places);
    }
  }
  for (Outgoing& out : made_.outgoing) {
    if (out.elements > 0 || out.fetched) sent.push_back(std::move(out));
  }
  made_.outgoing = std::move(sent);
}

// The other end of announce().
void PassingOn::receive(size_t number, std::span<const uint64_t> words) {
  Incoming& in = made_.incoming[number];
  const auto source = static_cast<rank_t>(words[0]);
  const uint64_t hot_elements = words[1];
  in.passed_on.emplace(choice_of_words(words.subspan(2)));
  words = words.subspan(2 + kWordsOfChoice<uint64_t>);
  const std::vector<uint32_t> hot(words.begin(),
                                  words.begin() + static_cast<std::ptrdiff_t>(hot_elements));
  ++made_.statistics.broadcast_owners;
  if (hot.empty()) {
    in.source = source;
  } else {
    const OwnerReads& reads = made_.inspection.owners[number + 1];
    const std::vector<uint32_t> where = hot_last(reads.places, hot);
    for (size_t k = reads.begin; k < reads.end; ++k) {
      made_.inspection.slots[k] = where[made_.inspection.slots[k]];
    }
    const auto others = static_cast<std::ptrdiff_t>((in.elements - hot_elements) * element_bytes_);
    in.hot.emplace();
    in.hot->elements = hot_elements;
    in.hot->source = source;
    in.hot->landing = {.first = in.landing.first + others,
                       .turn_bytes = in.landing.turn_bytes,
                       .flags = in.landing.flags + static_cast<std::ptrdiff_t>(kFlagsOfTurns)};
  }
  for (size_t at = hot_elements; at < words.size(); at += 4) {
    Outgoing& out = made_.outgoing.emplace_back();
    out.reader = static_cast<rank_t>(words[at]);
    out.of = number;
    out.hot = in.hot.has_value();
    out.elements = in.hot ? hot_elements : in.elements;
    out.sender = rma::TurnSender({.first = global_ptr<std::byte>(out.reader, words[at + 1]),
                                  .turn_bytes = words[at + 2],
                                  .flags = global_ptr<uint64_t>(out.reader, words[at + 3])});
    made_.in_order = false;
  }
}

void PassingOn::agree(const team& all, CallSite site) {
  std::vector<Spread> spreads = alike();
  if (auto hot = hot_beside(spreads)) spreads.push_back(std::move(*hot));
  const int32_t any = all.allreduce(int32_t{spreads.empty() ? 0 : 1}, op_max{},
                                    collective_algorithm::automatic, site);
  if (any == 0) return;
  std::vector<std::vector<uint64_t>> given(asked_.size());
  for (const Spread& spread : spreads) announce(spread, all.rank_me(), given);
  send(spreads);
  const auto received = exchange(all, given, site);
  for (size_t number = 0; number < made_.incoming.size(); ++number) {
    const std::vector<uint64_t>& list = received[made_.incoming[number].owner];
    if (!list.empty()) receive(number, list);
  }
}

}  // namespace stripline::gathers
