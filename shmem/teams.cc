#include "shmem/teams.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "shmem/collectives.h"

namespace stripline::shmem {
namespace {

// PEs of a parent that form a team.
struct Triplet {
  int start = 0;
  int stride = 0;
  int size = 0;

  bool is_valid(int pes) const {
    if (size < 1 || start < 0 || start >= pes || (stride == 0 && size != 1)) return false;
    const int64_t last = start + int64_t{stride} * (size - 1);
    return last >= 0 && last < pes;
  }
  std::optional<int> index_of(int pe) const {
    const int distance = pe - start;
    if (stride == 0) return distance == 0 ? std::optional(0) : std::nullopt;
    if (distance % stride != 0) return std::nullopt;
    const int index = distance / stride;
    return index >= 0 && index < size ? std::optional(index) : std::nullopt;
  }
};

// Teams that the PEs of a parent make at the same time. All know who is in which; what they do not
// know is the number of each, which its first PE gives out.
struct Split {
  size_t teams = 1;
  size_t mine = 0;  // the one that this PE is in, if it is
  Triplet members;  // of that one
};

// This PE's team; SHMEM_TEAM_INVALID if it is in none.
shmem_team_t split(const char* call, World& world, Team& parent, const Split& made,
                   const shmem_team_config_t* config, long mask) {
  const shmem_team_t parent_handle = world.handle_of(&parent);
  const std::optional<int> me = made.members.index_of(parent.me);
  std::vector<uint32_t> ids(made.teams, 0);
  if (me == 0) ids[made.mine] = world.new_team_id(call);
  reduce<op_bit_or>(call, parent_handle, ids.data(), ids.data(), ids.size());
  Team* team = nullptr;
  if (me) {
    std::vector<rank_t> members;
    for (int i = 0; i < made.members.size; ++i) {
      const int pe = made.members.start + i * made.members.stride;
      members.push_back(parent.group.world_rank(static_cast<rank_t>(pe)));
    }
    team = &world.add_team(ids[made.mine], static_cast<rank_t>(*me), std::move(members));
    if (config != nullptr && (mask & SHMEM_TEAM_NUM_CONTEXTS) != 0) {
      team->contexts = config->num_contexts;
    }
  }
  team_sync(call, parent_handle);  // no one uses a team before all its members know it
  return world.handle_of(team);
}

}  // namespace

int team_my_pe(const char* call, shmem_team_t handle) {
  const Team* const team = world(call).team_or_null(handle);
  return team == nullptr ? -1 : team->me;
}

int team_n_pes(const char* call, shmem_team_t handle) {
  const Team* const team = world(call).team_or_null(handle);
  return team == nullptr ? -1 : team->pes;
}

int team_get_config(const char* call, shmem_team_t handle, long mask, shmem_team_config_t* config) {
  const Team* const team = world(call).team_or_null(handle);
  if (team == nullptr) return -1;
  if ((mask & SHMEM_TEAM_NUM_CONTEXTS) != 0 && config != nullptr) {
    config->num_contexts = team->contexts;
  }
  return 0;
}

int team_translate_pe(const char* call, shmem_team_t from, int pe, shmem_team_t to) {
  World& here = world(call);
  const Team* const source = here.team_or_null(from);
  const Team* const target = here.team_or_null(to);
  if (source == nullptr || target == nullptr || pe < 0 || pe >= source->pes) return -1;
  const auto found = target->group.from_world(source->group.world_rank(static_cast<rank_t>(pe)));
  return found ? static_cast<int>(*found) : -1;
}

int team_split_strided(const char* call, shmem_team_t parent_handle, int start, int stride,
                       int size, const shmem_team_config_t* config, long mask, shmem_team_t* made) {
  World& here = world(call);
  *made = SHMEM_TEAM_INVALID;
  Team* const parent = here.team_or_null(parent_handle);
  const Triplet members{start, stride, size};
  // All PEs of the parent give the same triplet, and refuse it alike.
  if (parent == nullptr || !members.is_valid(parent->pes)) return -1;
  *made = split(call, here, *parent, {.members = members}, config, mask);
  return 0;
}

int team_split_2d(const char* call, shmem_team_t parent_handle, int x_range,
                  const shmem_team_config_t* x_config, long x_mask, shmem_team_t* x_team,
                  const shmem_team_config_t* y_config, long y_mask, shmem_team_t* y_team) {
  World& here = world(call);
  *x_team = SHMEM_TEAM_INVALID;
  *y_team = SHMEM_TEAM_INVALID;
  Team* const parent = here.team_or_null(parent_handle);
  if (parent == nullptr || x_range < 1) return -1;
  const int range = std::min(x_range, parent->pes);
  const int rows = (parent->pes + range - 1) / range;
  const int x = parent->me % range;
  const int y = parent->me / range;
  // The last row may be shorter, and columns behind its end with it.
  const Triplet row{y * range, 1, std::min(range, parent->pes - y * range)};
  const Triplet column{x, range, (parent->pes - x + range - 1) / range};
  *x_team = split(call, here, *parent, {static_cast<size_t>(rows), static_cast<size_t>(y), row},
                  x_config, x_mask);
  *y_team = split(call, here, *parent, {static_cast<size_t>(range), static_cast<size_t>(x), column},
                  y_config, y_mask);
  return 0;
}

void team_destroy(const char* call, shmem_team_t handle) {
  World& here = world(call);
  Team* const team = here.team_or_null(handle);
  if (team == nullptr || team == &here.world_team() || team == &here.shared_team()) return;
  for (CommContext* const context : here.contexts_of(*team)) here.remove_context(*context);
  // A message of an earlier operation that a handler has kept would find no team.
  const uint32_t id = team->group.id();
  const auto is_over = [&here, id] {
    return here.state().operations.messages().idle() &&
           !here.state().mechanisms.async_collectives().active(id);
  };
  here.wait(call, [&] { return here.undisturbed(is_over); });
  team_sync(call, handle);
  here.remove_team(*team);
}

}  // namespace stripline::shmem
