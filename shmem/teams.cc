#include "shmem/teams.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace stripline::shmem {
namespace {

// A new team of those who give the same colour; SHMEM_TEAM_INVALID for who gives none.
shmem_team_t split(const char* call, World& world, const Team& parent, uint32_t colour, int64_t key,
                   const shmem_team_config_t* config, long mask) {
  const Turn turn(world);
  world.send_held();
  stripline::team group = parent.group.split(colour, key, site_of(call));
  if (!group) return SHMEM_TEAM_INVALID;
  auto team = std::make_unique<Team>();
  team->me = static_cast<int>(group.rank_me());
  team->pes = static_cast<int>(group.rank_n());
  team->group = std::move(group);
  if (config != nullptr && (mask & SHMEM_TEAM_NUM_CONTEXTS) != 0) {
    team->contexts = config->num_contexts;
  }
  return world.handle_of(team.release());
}

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
  const Team* const parent = here.team_or_null(parent_handle);
  const Triplet members{start, stride, size};
  // All PEs of the parent give the same triplet, and refuse it alike.
  if (parent == nullptr || !members.is_valid(parent->pes)) return -1;
  const std::optional<int> index = members.index_of(parent->me);
  *made = split(call, here, *parent, index ? 0 : team::no_colour, index.value_or(0), config, mask);
  return 0;
}

int team_split_2d(const char* call, shmem_team_t parent_handle, int x_range,
                  const shmem_team_config_t* x_config, long x_mask, shmem_team_t* x_team,
                  const shmem_team_config_t* y_config, long y_mask, shmem_team_t* y_team) {
  World& here = world(call);
  *x_team = SHMEM_TEAM_INVALID;
  *y_team = SHMEM_TEAM_INVALID;
  const Team* const parent = here.team_or_null(parent_handle);
  if (parent == nullptr || x_range < 1) return -1;
  const int range = std::min(x_range, parent->pes);
  const int x = parent->me % range;
  const int y = parent->me / range;
  *x_team = split(call, here, *parent, static_cast<uint32_t>(y), x, x_config, x_mask);
  *y_team = split(call, here, *parent, static_cast<uint32_t>(x), y, y_config, y_mask);
  return 0;
}

void team_destroy(const char* call, shmem_team_t handle) {
  World& here = world(call);
  Team* const team = here.team_or_null(handle);
  if (team == nullptr || team == &here.world_team() || team == &here.shared_team()) return;
  const Turn turn(here);
  here.send_held();
  delete team;
}

}  // namespace stripline::shmem
