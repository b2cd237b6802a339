#include "shmem/active_sets.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "runtime/rma/team_access.h"

namespace stripline::shmem {
namespace {

std::string text_of(int start, int log_stride, int size) {
  return "the active set (PE_start " + std::to_string(start) + ", logPE_stride " +
         std::to_string(log_stride) + ", PE_size " + std::to_string(size) + ")";
}

}  // namespace

ActiveSets::ActiveSets(World& world)
    : world_(world),
      handler_(world.context().register_am(
          [this](rank_t, std::span<const std::byte> payload) { take(payload); })) {}

Team& ActiveSets::find(const char* call, int start, int log_stride, int size) {
  const auto pes = static_cast<int>(world_.pes());
  const int64_t last = log_stride >= 0 && log_stride < 31
                           ? start + (static_cast<int64_t>(size) - 1) * (int64_t{1} << log_stride)
                           : pes;
  if (start < 0 || size < 1 || last >= pes) {
    world_.fail(std::string(call) + " on " + text_of(start, log_stride, size) +
                ", but the program has PEs 0 to " + std::to_string(pes - 1));
  }
  if (size == pes) return world_.world_team();
  const uint32_t id = id_of(call, start, log_stride, size);
  {
    const Turn turn(world_);
    if (const auto found = teams_.find(id); found != teams_.end()) return *found->second;
  }
  std::vector<rank_t> members;
  for (int i = 0; i < size; ++i) members.push_back(static_cast<rank_t>(start + (i << log_stride)));
  rank_t me_in_set = 0;
  while (me_in_set < members.size() && members[me_in_set] != world_.me()) ++me_in_set;
  if (me_in_set == members.size()) {
    world_.fail(std::string(call) + " on " + text_of(start, log_stride, size) + ", which PE " +
                std::to_string(world_.me()) + " is not in");
  }
  sync::Group* group = nullptr;
  {
    const Turn turn(world_);
    const auto inside = world_.state().exclusive();
    group = &world_.state().mechanisms.groups().add(id, me_in_set, std::move(members));
  }
  meet(call, *group);
  const Turn turn(world_);
  auto& team = teams_[id] = std::make_unique<Team>();
  team->group = stripline::detail::TeamAccess::of(world_.context(), *group);
  team->me = static_cast<int>(me_in_set);
  team->pes = size;
  return *team;
}

// A number for each set that there can be: sets of one stride after those of the next smaller one,
// by their first PE and their size.
uint32_t ActiveSets::id_of(const char* call, int start, int log_stride, int size) const {
  const uint64_t pes = world_.pes();
  uint64_t before = 0;
  uint64_t longest = pes;
  for (int i = 0; i < log_stride; ++i) {
    before += pes * longest;
    longest = (longest + 1) / 2;
  }
  const uint64_t number =
      before + static_cast<uint64_t>(start) * longest + static_cast<uint64_t>(size - 1);
  if (number >= kFirstActiveSetId) {
    world_.fail(std::string(call) + " on an active set of a program of " + std::to_string(pes) +
                " PEs: there are too many such sets for their numbers; use a team");
  }
  return kFirstActiveSetId + static_cast<uint32_t>(number);
}

void ActiveSets::meet(const char* call, const sync::Group& group) {
  const auto send = [this, &group](rank_t member, Step step) {
    const Message message{step, group.id};
    const Turn turn(world_);
    world_.context().am_send(group.world(member), handler_, std::as_bytes(std::span(&message, 1)));
  };
  if (group.size == 1) return;
  if (group.me != 0) {
    send(0, Step::ready);
    const auto complete = [this, &group] { return complete_.contains(group.id); };
    world_.wait(call, [&] { return world_.undisturbed(complete); });
    return;
  }
  const auto all_ready = [this, &group] {
    const auto found = ready_.find(group.id);
    return found != ready_.end() && found->second == group.size - 1;
  };
  world_.wait(call, [&] { return world_.undisturbed(all_ready); });
  for (rank_t member = 1; member < group.size; ++member) send(member, Step::go);
}

// A handler of the runtime.
void ActiveSets::take(std::span<const std::byte> payload) {
  Message message{};
  if (payload.size() != sizeof message) return;  // no PE of this program sends that
  std::memcpy(&message, payload.data(), sizeof message);
  if (message.step == Step::ready) {
    ++ready_[message.id];
  } else {
    complete_.insert(message.id);
  }
}

shmem_team_t active_set(const char* call, int start, int log_stride, int size,
                        [[maybe_unused]] const long* work) {
  World& here = world(call);
  return here.handle_of(&here.active_sets().find(call, start, log_stride, size));
}

}  // namespace stripline::shmem
