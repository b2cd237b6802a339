#include "runtime/gather/node_sharing.h"

#include <algorithm>
#include <utility>

#include <stripline/team.h>

#include "runtime/gather/exchange.h"
#include "runtime/rma/context_state.h"

namespace stripline::gathers {
namespace {

// What a follower needs of an owner.
struct Need {
  rank_t follower = 0;
  std::vector<uint32_t> places;
};

// Numbers among `all`, which ascend as `some` do.
std::vector<uint32_t> positions_of(std::span<const uint32_t> some, std::span<const uint32_t> all) {
  std::vector<uint32_t> positions;
  positions.reserve(some.size());
  size_t at = 0;
  for (const uint32_t place : some) {
    while (all[at] != place) ++at;
    positions.push_back(static_cast<uint32_t>(at));
  }
  return positions;
}

std::vector<uint32_t> united(std::span<const uint32_t> own, std::span<const Need> needs) {
  std::vector<uint32_t> all(own.begin(), own.end());
  for (const Need& need : needs) all.insert(all.end(), need.places.begin(), need.places.end());
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

NodeSharing::NodeSharing(Context& context, CallSite site) : context_(context), site_(site) {
  for (rank_t rank = 0; rank < context.rank_n(); ++rank) {
    if (context.is_local(rank)) mates_.push_back(rank);
  }
}

bool NodeSharing::possible(Context& context) {
  const rma::Memory& memory = context.state().memory;
  return memory.any_shared() && !memory.all_shared();
}

const NodeSharing::Followed* NodeSharing::followed(rank_t owner) const {
  const auto found = followed_.find(owner);
  return found == followed_.end() ? nullptr : &found->second;
}

void NodeSharing::agree(Inspection& found, const Decide& decide) {
  const team all = team::world(context_);
  const rank_t me = context_.rank_me();
  const rank_t ranks = context_.rank_n();
  // To the leader: owner, number of places, places.
  std::vector<std::vector<uint32_t>> asked(ranks);
  std::map<rank_t, std::vector<Need>> needs;  // by owner for which this rank leads
  for (size_t i = 1; i < found.owners.size(); ++i) {
    const OwnerReads& reads = found.owners[i];
    if (context_.is_local(reads.owner)) continue;
    const rank_t leader = leader_of(reads.owner);
    if (leader == me) {
      needs.try_emplace(reads.owner);
      continue;
    }
    std::vector<uint32_t>& list = asked[leader];
    list.push_back(reads.owner);
    list.push_back(static_cast<uint32_t>(reads.places.size()));
    list.insert(list.end(), reads.places.begin(), reads.places.end());
  }
  const auto requests = exchange(all, asked, site_);
  for (rank_t follower = 0; follower < ranks; ++follower) {
    const std::vector<uint32_t>& list = requests[follower];
    for (size_t at = 0; at < list.size(); at += 2 + list[at + 1]) {
      const auto first = list.begin() + static_cast<std::ptrdiff_t>(at) + 2;
      needs[list[at]].push_back({follower, {first, first + list[at + 1]}});
    }
  }
  // To each follower, in the order of what it asked for: whether, the decision, and its positions.
  std::vector<std::vector<uint32_t>> answers(ranks);
  for (const auto& [owner, of_owner] : needs) {
    auto reads = std::ranges::lower_bound(found.owners.begin() + 1, found.owners.end(), owner, {},
                                          &OwnerReads::owner);
    const bool reads_too = reads != found.owners.end() && reads->owner == owner;
    OwnerReads together{.owner = owner, .begin = 0, .end = 0, .places = {}, .runs = 0};
    uint64_t elements = 0;
    if (reads_too) {
      together.begin = reads->begin;
      together.end = reads->end;
      elements = reads->places.size();
    } else {
      together.begin = reads == found.owners.end() ? found.order.size() : reads->begin;
      together.end = together.begin;
    }
    const std::vector<uint32_t> mine = reads_too ? reads->places : std::vector<uint32_t>();
    for (const Need& need : of_owner) elements += need.places.size();
    together.places = united(mine, of_owner);
    together.runs = runs_of(together.places);
    const auto count = static_cast<uint32_t>(of_owner.size() + (reads_too ? 1 : 0));
    const std::optional<GroupChoice> shares =
        count > 1 ? decide(together, count, elements) : std::nullopt;
    for (const Need& need : of_owner) {
      std::vector<uint32_t>& answer = answers[need.follower];
      answer.push_back(shares ? 1 : 0);
      if (!shares) continue;
      const auto choice = words_of<uint32_t>(*shares);
      answer.insert(answer.end(), choice.begin(), choice.end());
      const std::vector<uint32_t> positions = positions_of(need.places, together.places);
      answer.insert(answer.end(), positions.begin(), positions.end());
      led_.push_back({need.follower, owner});
    }
    if (!shares) continue;
    if (reads_too) {
      const std::vector<uint32_t> positions = positions_of(mine, together.places);
      for (size_t k = reads->begin; k < reads->end; ++k) {
        found.slots[k] = positions[found.slots[k]];
      }
      *reads = std::move(together);
    } else {
      found.owners.insert(reads, std::move(together));
    }
  }
  const auto answered = exchange(all, answers, site_);
  std::vector<size_t> next(ranks, 0);
  for (size_t i = 1; i < found.owners.size(); ++i) {
    const OwnerReads& reads = found.owners[i];
    const rank_t leader = leader_of(reads.owner);
    if (context_.is_local(reads.owner) || leader == me) continue;
    const std::vector<uint32_t>& list = answered[leader];
    if (list[next[leader]++] == 0) continue;
    const auto answer = std::span(list).subspan(next[leader]);
    const auto positions = answer.subspan(kWordsOfChoice<uint32_t>, reads.places.size());
    followed_.emplace(reads.owner, Followed{.leader = leader,
                                            .positions = {positions.begin(), positions.end()},
                                            .choice = choice_of_words(answer),
                                            .landing = {},
                                            .done = {}});
    next[leader] += kWordsOfChoice<uint32_t> + reads.places.size();
  }
}

void NodeSharing::tell_followers(
    const std::function<rma::Landing(rank_t owner)>& landing_of,
    const std::function<global_ptr<uint64_t>(rank_t follower)>& done_of) {
  struct Where {
    uint64_t owner = 0;
    uint64_t landing = 0;
    uint64_t turn_bytes = 0;
    uint64_t flags = 0;
    uint64_t done = 0;
  };
  std::vector<std::vector<Where>> given(context_.rank_n());
  for (const Led& one : led_) {
    const rma::Landing landing = landing_of(one.owner);
    given[one.follower].push_back({.owner = one.owner,
                                   .landing = landing.first.offset(),
                                   .turn_bytes = landing.turn_bytes,
                                   .flags = landing.flags.offset(),
                                   .done = done_of(one.follower).offset()});
  }
  const auto received = exchange(team::world(context_), given, site_);
  for (rank_t leader = 0; leader < context_.rank_n(); ++leader) {
    for (const Where& where : received[leader]) {
      Followed& one = followed_.at(static_cast<rank_t>(where.owner));
      one.landing = {.first = global_ptr<std::byte>(leader, where.landing),
                     .turn_bytes = where.turn_bytes,
                     .flags = global_ptr<uint64_t>(leader, where.flags)};
      one.done = global_ptr<uint64_t>(leader, where.done);
    }
  }
}

}  // namespace stripline::gathers
