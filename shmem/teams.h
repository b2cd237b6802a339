// Teams of PEs. Their collective operations are in collectives.h.
#pragma once

#include "shmem/world.h"

namespace stripline::shmem {

/// -1 for SHMEM_TEAM_INVALID, here and in the next ones.
int team_my_pe(const char* call, shmem_team_t team);
int team_n_pes(const char* call, shmem_team_t team);
int team_get_config(const char* call, shmem_team_t team, long mask, shmem_team_config_t* config);
/// -1 also where the PE is in one of the teams only.
int team_translate_pe(const char* call, shmem_team_t from, int pe, shmem_team_t to);

/// Both are collective over the parent. Threads of a PE may be in such calls on several parents at
/// a time, and in destruction of teams.
int team_split_strided(const char* call, shmem_team_t parent, int start, int stride, int size,
                       const shmem_team_config_t* config, long mask, shmem_team_t* made);
int team_split_2d(const char* call, shmem_team_t parent, int x_range,
                  const shmem_team_config_t* x_config, long x_mask, shmem_team_t* x_team,
                  const shmem_team_config_t* y_config, long y_mask, shmem_team_t* y_team);
/// Collective over the team, whose contexts end with it; nothing for predefined ones.
void team_destroy(const char* call, shmem_team_t team);

}  // namespace stripline::shmem
