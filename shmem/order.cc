#include "shmem/order.h"

#include <atomic>
#include <string>

namespace stripline::shmem {

// The standard has these calls do nothing for SHMEM_CTX_INVALID.

void fence(const char* call, shmem_ctx_t ctx) {
  World& here = world(call);
  if (ctx == SHMEM_CTX_INVALID) return;
  CommContext& context = here.context_of(call, ctx);
  if (context.is_busy()) {
    here.complete(context);
  } else {
    // Stores are in order with those after it.
    std::atomic_thread_fence(std::memory_order_release);
  }
}

void quiet(const char* call, shmem_ctx_t ctx) {
  World& here = world(call);
  if (ctx != SHMEM_CTX_INVALID) here.complete(here.context_of(call, ctx));
}

void pe_quiet(const char* call, shmem_ctx_t ctx, const int* pes, size_t count) {
  World& here = world(call);
  if (ctx == SHMEM_CTX_INVALID) return;
  CommContext& context = here.context_of(call, ctx);
  for (size_t i = 0; i < count; ++i) here.job_rank(call, context, pes[i]);
  if (count > 0) here.complete(context);
}

int ctx_create(const char* call, shmem_team_t handle, long options, shmem_ctx_t* ctx) {
  World& here = world(call);
  *ctx = SHMEM_CTX_INVALID;
  Team* const team = here.team_or_null(handle);
  constexpr long kKnown =
      SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE | SHMEMX_CTX_COALESCE;
  if (team == nullptr || (options & ~kKnown) != 0) return -1;
  const bool one_at_a_time = (options & (SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE)) != 0;
  CommContext& context = here.add_context(*team, one_at_a_time);
  if (here.coalesces() || (options & SHMEMX_CTX_COALESCE) != 0) here.coalesce(context);
  *ctx = reinterpret_cast<shmem_ctx_t>(&context);
  return 0;
}

void ctx_destroy(const char* call, shmem_ctx_t ctx) {
  World& here = world(call);
  if (ctx == SHMEM_CTX_INVALID) return;
  if (ctx == SHMEM_CTX_DEFAULT) {
    here.fail(std::string(call) + " of SHMEM_CTX_DEFAULT, which exists until shmem_finalize");
  }
  here.remove_context(here.context_of(call, ctx));
}

int ctx_get_team(const char* call, shmem_ctx_t ctx, shmem_team_t* team) {
  World& here = world(call);
  if (ctx == SHMEM_CTX_INVALID) {
    *team = SHMEM_TEAM_INVALID;
    return -1;
  }
  *team = here.handle_of(here.context_of(call, ctx).team);
  return 0;
}

void ctx_session_start(const char* call, shmem_ctx_t ctx, long, const shmem_ctx_session_config_t*,
                       long) {
  World& here = world(call);
  if (ctx != SHMEM_CTX_INVALID) here.context_of(call, ctx);
}

void ctx_session_stop(const char* call, shmem_ctx_t ctx) {
  World& here = world(call);
  if (ctx != SHMEM_CTX_INVALID) here.context_of(call, ctx);
}

}  // namespace stripline::shmem
