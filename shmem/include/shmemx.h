/* Extensions of OpenSHMEM of this library. */
#ifndef STRIPLINE_SHMEMX_H
#define STRIPLINE_SHMEMX_H

#include <shmem.h>

/* An option of shmem_ctx_create and shmem_team_create_ctx: atomic operations by the context may
 * travel together, and its gets of few bytes may be read ahead, as in a program that is started
 * with stripline run --coalesce. docs/openshmem.md says what that may not show. */
#define SHMEMX_CTX_COALESCE (1L << 16)

#endif
