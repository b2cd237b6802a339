#include "runtime/sync/group.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/sync/collective_check.h"

namespace stripline::sync {

Group::Group(am::ActiveMessages& messages, uint32_t team, Rank me_in_team, Rank ranks,
             std::vector<Rank> ranks_in_job, Rank me_in_job, const fabric::FailureHandler& fail)
    : id(team),
      me(me_in_team),
      size(ranks),
      members(std::move(ranks_in_job)),
      order(me_in_job, team, fail),
      barrier(messages, *this),
      by_world_(members.size()) {
  std::iota(by_world_.begin(), by_world_.end(), 0);
  std::sort(by_world_.begin(), by_world_.end(),
            [this](Rank a, Rank b) { return members[a] < members[b]; });
}

std::optional<Rank> Group::from_world(Rank rank) const {
  if (members.empty()) return rank < size ? std::optional(rank) : std::nullopt;
  const auto at = std::lower_bound(by_world_.begin(), by_world_.end(), rank,
                                   [this](Rank one, Rank wanted) { return members[one] < wanted; });
  if (at == by_world_.end() || members[*at] != rank) return std::nullopt;
  return *at;
}

Groups::Groups(am::ActiveMessages& messages, Rank me, Rank ranks, fabric::FailureHandler fail)
    : messages_(messages),
      me_(me),
      fail_(std::move(fail)),
      world_(std::make_unique<Group>(messages, 0, me, ranks, std::vector<Rank>(), me, fail_)) {
  const auto arrive = [this](Rank source, std::span<const std::byte> payload) {
    const auto message = header_of<Barrier::Message>(payload, fail_, source, me_);
    Group* group = find(message.team);
    if (group == nullptr) {
      fail_malformed(fail_, source, me_);
      return;
    }
    if (!group->order.saw({.kind = message.kind}, message.sequence, source)) return;
    if (!group->barrier.arrived(message)) fail_malformed(fail_, source, me_);
  };
  messages_.serve(Barrier::kHandler, am::Purpose::answer, arrive);
}

void Groups::use(BarrierPattern pattern) {
  pattern_ = pattern;
  world_->barrier.use(pattern);
  for (auto& [id, group] : teams_) group->barrier.use(pattern);
}

Group* Groups::find(uint32_t id) {
  if (id == 0) return world_.get();
  const auto found = teams_.find(id);
  return found == teams_.end() ? nullptr : found->second.get();
}

Group& Groups::add(uint32_t id, Rank me_in_team, std::vector<Rank> members) {
  const auto ranks = static_cast<Rank>(members.size());
  auto group =
      std::make_unique<Group>(messages_, id, me_in_team, ranks, std::move(members), me_, fail_);
  group->order.set_check(check_);
  group->barrier.use(pattern_);
  return *(teams_[id] = std::move(group));
}

void Groups::remove(uint32_t id) {
  teams_.erase(id);
  if (check_ != nullptr) check_->removed(id);
}

void Groups::set_check(CollectiveCheck* check) {
  check_ = check;
  world_->order.set_check(check);
  for (const auto& [id, group] : teams_) group->order.set_check(check);
}

}  // namespace stripline::sync
