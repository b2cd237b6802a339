// Order and completion of what a context has started. Nothing is done for SHMEM_CTX_INVALID.
#pragma once

#include <cstddef>

#include "shmem/world.h"

namespace stripline::shmem {

/// Puts, atomic operations and signals of this context to each PE before it come before those after
/// it. Where networks are concerned, the runtime orders by completion.
void fence(const char* call, shmem_ctx_t ctx);
/// All of them are complete, and visible to every PE. Those of other contexts are not waited for.
void quiet(const char* call, shmem_ctx_t ctx);
/// The same of operations to some PEs.
void pe_quiet(const char* call, shmem_ctx_t ctx, const int* pes, size_t count);

int ctx_create(const char* call, shmem_team_t team, long options, shmem_ctx_t* ctx);
void ctx_destroy(const char* call, shmem_ctx_t ctx);
int ctx_get_team(const char* call, shmem_ctx_t ctx, shmem_team_t* team);
/// Hints: what is done does not depend on them.
void ctx_session_start(const char* call, shmem_ctx_t ctx, long options,
                       const shmem_ctx_session_config_t* config, long mask);
void ctx_session_stop(const char* call, shmem_ctx_t ctx);

}  // namespace stripline::shmem
