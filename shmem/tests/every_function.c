/*
 * Calls each function of the interface, and compares what it does with what a formula says: a wrong row of the table,
 * such as one with another operator or another size, is seen here. every_call.h, which every_call.py makes of the table,
 * has a line for each function; the macros below, one for each family, say what is called and what has to come of it:
 * OF_shmem_T_put is that of shmem_@_put, OF_shmem_putN that of shmem_put$. F is the function, T a type, and C the context
 * before the other arguments, with a comma, or nothing. A family without a macro does not compile.
 *
 * In a ring: each PE calls with the memory of the next one, and looks at what the one before has done to its own.
 */
#include <string.h>

#include "check.h"

enum { kBytes = 4096, kFilled = 24, kMoved = 7 };

static int me, pes, next, before;
static unsigned char *to, *from, *back, *work; /* symmetric */
static uint64_t *arrived;
static shmem_ctx_t ctx;
static long lock, sync_array[SHMEM_SYNC_SIZE];
static const char *called = "";

static void wrong(const char *what) {
  fprintf(stderr, "PE %d: %s: not so: %s\n", me, called, what);
  exit(1);
}
#define EXPECT(condition)                \
  do {                                   \
    if (!(condition)) wrong(#condition); \
  } while (0)

static void begin(void) {
  shmem_barrier_all();
  memset(to, 0, kBytes);
  memset(from, 0, kBytes);
  memset(back, 0, kBytes);
  *arrived = 0;
  shmem_barrier_all();
}
/* What was started by either context. */
static void complete(void) {
  shmem_ctx_quiet(ctx);
  shmem_barrier_all();
}

#define WITH_CTX ctx,
#define ONLY_CTX ctx

/* Elements of a PE, which every type can hold. */
#define ELEMENT(T, pe, i) ((T)(10 * ((pe) % 4 + 1) + (int)(i)))
#define AT(T) (*(T *)to)
#define FILL(T) \
  for (int i = 0; i < kFilled; ++i) ((T *)from)[i] = ELEMENT(T, me, i)
#define BEGIN_FILLED(T) \
  begin();              \
  FILL(T);              \
  shmem_barrier_all()
/* `count` elements of a PE from the first on, and nothing behind. */
#define HAS(T, memory, count, pe)                                                          \
  for (int i = 0; i < (count); ++i) EXPECT(((const T *)(memory))[i] == ELEMENT(T, pe, i)); \
  EXPECT(((const T *)(memory))[count] == (T)0)
/* Blocks of `block` of each `from_stride` elements of a PE, at each `to_stride`, and nothing between. */
#define HAS_BLOCKS(T, memory, to_stride, from_stride, block, blocks, pe)                           \
  for (int b = 0; b < (blocks); ++b) {                                                             \
    for (int k = 0; k < (block); ++k)                                                              \
      EXPECT(((const T *)(memory))[b * (to_stride) + k] == ELEMENT(T, pe, b * (from_stride) + k)); \
    EXPECT(((const T *)(memory))[b * (to_stride) + (block)] == (T)0);                              \
  }

/* --- setup, exit, queries ------------------------------------------------------------------------------------------- */

#define OF_shmem_init(F) F()
#define OF_shmem_init_thread(F) \
  int provided = -1;            \
  EXPECT(F(SHMEM_THREAD_SINGLE, &provided) == 0 && provided == SHMEM_THREAD_SINGLE)
/* Not the last one. */
#define OF_shmem_finalize(F) F()
/* Ends the program: endings.c. */
#define OF_shmem_global_exit(F)
#define OF_shmem_query_thread(F) \
  int provided = -1;             \
  F(&provided);                  \
  EXPECT(provided == SHMEM_THREAD_SINGLE)
#define OF_shmem_query_initialized(F) \
  int initialized = -1;               \
  F(&initialized);                    \
  EXPECT(initialized == 1)
#define OF_shmem_my_pe(F) EXPECT(F() == me)
#define OF_shmem_n_pes(F) EXPECT(F() == pes)
#define OF_shmem_pe_accessible(F) EXPECT(F(0) == 1 && F(pes - 1) == 1 && F(pes) == 0 && F(-1) == 0)
#define OF_shmem_addr_accessible(F) \
  long on_stack = 0;                \
  EXPECT(F(to, next) == 1 && F(&lock, next) == 1 && F(&on_stack, next) == 0 && F(to, pes) == 0)
#define POINTS(F, ...)                                               \
  BEGIN_FILLED(long);                                                \
  EXPECT(F(__VA_ARGS__ from, me) == (void *)from);                   \
  const long *const there = (const long *)F(__VA_ARGS__ from, next); \
  EXPECT(there == NULL || *there == ELEMENT(long, next, 0))
#define OF_shmem_ptr(F) POINTS(F, )
#define OF_shmem_team_ptr(F) POINTS(F, SHMEM_TEAM_WORLD, )
#define OF_shmem_info_get_version(F) \
  int major = -1, minor = -1;        \
  F(&major, &minor);                 \
  EXPECT(major == SHMEM_MAJOR_VERSION && minor == SHMEM_MINOR_VERSION)
#define OF_shmem_info_get_name(F) \
  char name[SHMEM_MAX_NAME_LEN];  \
  memset(name, 'x', sizeof name); \
  F(name);                        \
  EXPECT(strcmp(name, SHMEM_VENDOR_STRING) == 0)
#define OF_start_pes(F) F(0)
#define OF__my_pe OF_shmem_my_pe
#define OF__num_pes OF_shmem_n_pes

/* --- memory --------------------------------------------------------------------------------------------------------- */

/* A block of 100 longs at `memory` is one of its own, the same on all PEs. */
static void use_block(long *block) {
  EXPECT(block != NULL);
  shmem_long_p(&block[99], ELEMENT(long, me, 5), next);
  shmem_barrier_all();
  EXPECT(block[99] == ELEMENT(long, before, 5));
  shmem_free(block);
}
enum { kBlockBytes = 100 * sizeof(long) };

#define OF_shmem_malloc(F) use_block(F(kBlockBytes))
#define OF_shmem_calloc(F)                             \
  long *const block = F(100, sizeof(long));            \
  for (int i = 0; i < 100; ++i) EXPECT(block[i] == 0); \
  shmem_barrier_all();                                 \
  use_block(block)
#define OF_shmem_align(F)                   \
  long *const block = F(8192, kBlockBytes); \
  EXPECT((uintptr_t)block % 8192 == 0);     \
  use_block(block)
#define OF_shmem_realloc(F)                                              \
  long *const small = shmem_malloc(10 * sizeof(long));                   \
  for (int i = 0; i < 10; ++i) small[i] = ELEMENT(long, me, i);          \
  long *const block = F(small, kBlockBytes);                             \
  EXPECT(block != NULL);                                                 \
  for (int i = 0; i < 10; ++i) EXPECT(block[i] == ELEMENT(long, me, i)); \
  shmem_barrier_all();                                                   \
  use_block(block)
#define OF_shmem_malloc_with_hints(F) use_block(F(kBlockBytes, SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE))
/* What has been freed is to be had again. */
#define OF_shmem_free(F)                         \
  void *const block = shmem_malloc(kBlockBytes); \
  F(block);                                      \
  void *const again = shmem_malloc(kBlockBytes); \
  EXPECT(again == block);                        \
  F(again)
#define OF_shmalloc OF_shmem_malloc
#define OF_shmemalign OF_shmem_align
#define OF_shrealloc OF_shmem_realloc
#define OF_shfree OF_shmem_free

/* --- teams, contexts ------------------------------------------------------------------------------------------------ */

/* PE i is PE pes - 1 - i of it. */
static shmem_team_t reversed(void) {
  shmem_team_t team = SHMEM_TEAM_INVALID;
  shmem_team_config_t config;
  config.num_contexts = 2;
  if (shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, &config, SHMEM_TEAM_NUM_CONTEXTS, &team) != 0 ||
      team == SHMEM_TEAM_INVALID) {
    wrong("there is a team");
  }
  return team;
}
#define IN_TEAM(...)              \
  shmem_team_t team = reversed(); \
  __VA_ARGS__;                    \
  shmem_team_destroy(team)

#define OF_shmem_team_my_pe(F) IN_TEAM(EXPECT(F(team) == pes - 1 - me))
#define OF_shmem_team_n_pes(F) IN_TEAM(EXPECT(F(team) == pes))
#define OF_shmem_team_get_config(F) \
  shmem_team_config_t config;       \
  IN_TEAM(EXPECT(F(team, SHMEM_TEAM_NUM_CONTEXTS, &config) == 0 && config.num_contexts == 2))
#define OF_shmem_team_translate_pe(F) \
  IN_TEAM(EXPECT(F(team, 0, SHMEM_TEAM_WORLD) == pes - 1 && F(SHMEM_TEAM_WORLD, 0, team) == pes - 1))
#define OF_shmem_team_split_strided(F)                             \
  shmem_team_t team = SHMEM_TEAM_INVALID;                          \
  EXPECT(F(SHMEM_TEAM_WORLD, 1, 1, pes - 1, NULL, 0, &team) == 0); \
  EXPECT(shmem_team_my_pe(team) == (me == 0 ? -1 : me - 1));       \
  if (team != SHMEM_TEAM_INVALID) shmem_team_destroy(team)
#define OF_shmem_team_split_2d(F)                                         \
  shmem_team_t row = SHMEM_TEAM_INVALID, column = SHMEM_TEAM_INVALID;     \
  EXPECT(F(SHMEM_TEAM_WORLD, pes, NULL, 0, &row, NULL, 0, &column) == 0); \
  EXPECT(shmem_team_my_pe(row) == me && shmem_team_n_pes(row) == pes);    \
  EXPECT(shmem_team_my_pe(column) == 0 && shmem_team_n_pes(column) == 1); \
  shmem_team_destroy(column);                                             \
  shmem_team_destroy(row)
#define OF_shmem_team_destroy(F) F(reversed())
#define OF_shmem_team_sync(F)                                                                         \
  begin();                                                                                            \
  IN_TEAM(shmem_long_p((long *)to, ELEMENT(long, me, 1), next); shmem_quiet(); EXPECT(F(team) == 0)); \
  EXPECT(AT(long) == ELEMENT(long, before, 1))

/* A put by the context to PE `pe` of its team arrives at the next PE. */
static void use_context(shmem_ctx_t made, int pe) {
  shmem_ctx_long_p(made, (long *)to, ELEMENT(long, me, 6), pe);
  shmem_ctx_quiet(made);
  shmem_barrier_all();
  EXPECT(AT(long) == ELEMENT(long, before, 6));
  shmem_ctx_destroy(made);
}
#define OF_shmem_ctx_create(F)              \
  shmem_ctx_t made = SHMEM_CTX_INVALID;     \
  begin();                                  \
  EXPECT(F(SHMEM_CTX_PRIVATE, &made) == 0); \
  use_context(made, next)
#define OF_shmem_team_create_ctx(F)     \
  shmem_ctx_t made = SHMEM_CTX_INVALID; \
  begin();                              \
  IN_TEAM(EXPECT(F(team, 0, &made) == 0); use_context(made, pes - 1 - next))
#define OF_shmem_ctx_destroy(F)                                   \
  shmem_ctx_t made = SHMEM_CTX_INVALID;                           \
  begin();                                                        \
  EXPECT(shmem_ctx_create(0, &made) == 0);                        \
  shmem_ctx_long_p(made, (long *)to, ELEMENT(long, me, 6), next); \
  F(made); /* which completes it */                               \
  shmem_sync_all();                                               \
  EXPECT(AT(long) == ELEMENT(long, before, 6))
#define OF_shmem_ctx_get_team(F)          \
  shmem_team_t team = SHMEM_TEAM_INVALID; \
  EXPECT(F(ctx, &team) == 0 && team == SHMEM_TEAM_WORLD)
#define OF_shmem_ctx_session_start(F)       \
  F(ctx, SHMEM_CTX_SESSION_BATCH, NULL, 0); \
  shmem_ctx_session_stop(ctx)
#define OF_shmem_ctx_session_stop(F)                                     \
  shmem_ctx_session_config_t config;                                     \
  config.total_ops = 10;                                                 \
  shmem_ctx_session_start(ctx, 0, &config, SHMEM_CTX_SESSION_TOTAL_OPS); \
  F(ctx)

/* --- remote memory access ------------------------------------------------------------------------------------------- */

#define OF_shmem_T_put(F, C, T)                \
  BEGIN_FILLED(T);                             \
  F(C (T *)to, (const T *)from, kMoved, next); \
  complete();                                  \
  HAS(T, to, kMoved, before)
#define OF_shmem_T_get(F, C, T)                  \
  BEGIN_FILLED(T);                               \
  F(C (T *)back, (const T *)from, kMoved, next); \
  complete();                                    \
  HAS(T, back, kMoved, next)
#define OF_shmem_T_p(F, C, T)                                                 \
  begin();                                                                    \
  for (int i = 0; i < kMoved; ++i) F(C (T *)to + i, ELEMENT(T, me, i), next); \
  complete();                                                                 \
  HAS(T, to, kMoved, before)
#define OF_shmem_T_g(F, C, T) \
  BEGIN_FILLED(T);            \
  for (int i = 0; i < kMoved; ++i) EXPECT(F(C (const T *)from + i, next) == ELEMENT(T, next, i))
#define OF_shmem_T_iput(F, C, T)                \
  BEGIN_FILLED(T);                              \
  F(C (T *)to, (const T *)from, 2, 3, 6, next); \
  complete();                                   \
  HAS_BLOCKS(T, to, 2, 3, 1, 6, before)
#define OF_shmem_T_iget(F, C, T)                  \
  BEGIN_FILLED(T);                                \
  F(C (T *)back, (const T *)from, 2, 3, 6, next); \
  complete();                                     \
  HAS_BLOCKS(T, back, 2, 3, 1, 6, next)
#define OF_shmem_T_ibput(F, C, T)                  \
  BEGIN_FILLED(T);                                 \
  F(C (T *)to, (const T *)from, 5, 4, 2, 3, next); \
  complete();                                      \
  HAS_BLOCKS(T, to, 5, 4, 2, 3, before)
#define OF_shmem_T_ibget(F, C, T)                    \
  BEGIN_FILLED(T);                                   \
  F(C (T *)back, (const T *)from, 5, 4, 2, 3, next); \
  complete();                                        \
  HAS_BLOCKS(T, back, 5, 4, 2, 3, next)
#define OF_shmem_T_put_nbi OF_shmem_T_put
#define OF_shmem_T_get_nbi OF_shmem_T_get
#define OF_shmem_putN OF_shmem_T_put
#define OF_shmem_getN OF_shmem_T_get
#define OF_shmem_iputN OF_shmem_T_iput
#define OF_shmem_igetN OF_shmem_T_iget
#define OF_shmem_ibputN OF_shmem_T_ibput
#define OF_shmem_ibgetN OF_shmem_T_ibget
#define OF_shmem_putN_nbi OF_shmem_T_put
#define OF_shmem_getN_nbi OF_shmem_T_get

/* --- atomic operations ---------------------------------------------------------------------------------------------- */

#define BEGIN_AT(T, VALUE) \
  begin();                 \
  AT(T) = (T)(VALUE);      \
  shmem_barrier_all()
#define ENDS_AS(T, VALUE) \
  complete();             \
  EXPECT(AT(T) == (T)(VALUE))

#define OF_shmem_T_atomic_fetch(F, C, T) \
  BEGIN_FILLED(T);                       \
  EXPECT(F(C (const T *)from, next) == ELEMENT(T, next, 0))
#define OF_shmem_T_atomic_set(F, C, T)   \
  begin();                               \
  F(C (T *)to, ELEMENT(T, me, 2), next); \
  ENDS_AS(T, ELEMENT(T, before, 2))
#define OF_shmem_T_atomic_swap(F, C, T)                                 \
  BEGIN_AT(T, ELEMENT(T, me, 0));                                       \
  EXPECT(F(C (T *)to, ELEMENT(T, me, 3), next) == ELEMENT(T, next, 0)); \
  ENDS_AS(T, ELEMENT(T, before, 3))
#define OF_shmem_T_atomic_compare_swap(F, C, T)                                              \
  BEGIN_AT(T, ELEMENT(T, me, 0));                                                            \
  EXPECT(F(C (T *)to, ELEMENT(T, next, 1), (T)1, next) == ELEMENT(T, next, 0));              \
  EXPECT(F(C (T *)to, ELEMENT(T, next, 0), ELEMENT(T, me, 3), next) == ELEMENT(T, next, 0)); \
  ENDS_AS(T, ELEMENT(T, before, 3))
#define OF_shmem_T_atomic_fetch_inc(F, C, T)         \
  BEGIN_AT(T, ELEMENT(T, me, 0));                    \
  EXPECT(F(C (T *)to, next) == ELEMENT(T, next, 0)); \
  ENDS_AS(T, ELEMENT(T, me, 1))
#define OF_shmem_T_atomic_inc(F, C, T) \
  BEGIN_AT(T, ELEMENT(T, me, 0));      \
  F(C (T *)to, next);                  \
  ENDS_AS(T, ELEMENT(T, me, 1))
#define OF_shmem_T_atomic_fetch_add(F, C, T)               \
  BEGIN_AT(T, ELEMENT(T, me, 0));                          \
  EXPECT(F(C (T *)to, (T)5, next) == ELEMENT(T, next, 0)); \
  ENDS_AS(T, ELEMENT(T, me, 5))
#define OF_shmem_T_atomic_add(F, C, T) \
  BEGIN_AT(T, ELEMENT(T, me, 0));      \
  F(C (T *)to, (T)5, next);            \
  ENDS_AS(T, ELEMENT(T, me, 5))

enum { kBits = 0x2d, kOtherBits = 0x1b };
#define FETCHES_BITS(T, CALL, RESULT) \
  BEGIN_AT(T, kBits);                 \
  EXPECT(CALL == (T)kBits);           \
  ENDS_AS(T, RESULT)
#define CHANGES_BITS(T, CALL, RESULT) \
  BEGIN_AT(T, kBits);                 \
  CALL;                               \
  ENDS_AS(T, RESULT)
#define OF_shmem_T_atomic_fetch_and(F, C, T) FETCHES_BITS(T, F(C (T *)to, (T)kOtherBits, next), 0x09)
#define OF_shmem_T_atomic_and(F, C, T) CHANGES_BITS(T, F(C (T *)to, (T)kOtherBits, next), 0x09)
#define OF_shmem_T_atomic_fetch_or(F, C, T) FETCHES_BITS(T, F(C (T *)to, (T)kOtherBits, next), 0x3f)
#define OF_shmem_T_atomic_or(F, C, T) CHANGES_BITS(T, F(C (T *)to, (T)kOtherBits, next), 0x3f)
#define OF_shmem_T_atomic_fetch_xor(F, C, T) FETCHES_BITS(T, F(C (T *)to, (T)kOtherBits, next), 0x36)
#define OF_shmem_T_atomic_xor(F, C, T) CHANGES_BITS(T, F(C (T *)to, (T)kOtherBits, next), 0x36)

/* The value of before comes with the quiet. */
#define NBI(T, VALUE, CALL, FETCHED, RESULT) \
  T fetched = (T)0;                          \
  BEGIN_AT(T, VALUE);                        \
  CALL;                                      \
  ENDS_AS(T, RESULT);                        \
  EXPECT(fetched == (T)(FETCHED))
#define OF_shmem_T_atomic_fetch_nbi(F, C, T) \
  NBI(T, ELEMENT(T, me, 0), F(C &fetched, (const T *)to, next), ELEMENT(T, next, 0), ELEMENT(T, me, 0))
#define OF_shmem_T_atomic_swap_nbi(F, C, T)                                                       \
  NBI(T, ELEMENT(T, me, 0), F(C &fetched, (T *)to, ELEMENT(T, me, 3), next), ELEMENT(T, next, 0), \
      ELEMENT(T, before, 3))
#define OF_shmem_T_atomic_compare_swap_nbi(F, C, T)                                                                    \
  NBI(T, ELEMENT(T, me, 0), F(C &fetched, (T *)to, ELEMENT(T, next, 0), ELEMENT(T, me, 3), next), ELEMENT(T, next, 0), \
      ELEMENT(T, before, 3))
#define OF_shmem_T_atomic_fetch_inc_nbi(F, C, T) \
  NBI(T, ELEMENT(T, me, 0), F(C &fetched, (T *)to, next), ELEMENT(T, next, 0), ELEMENT(T, me, 1))
#define OF_shmem_T_atomic_fetch_add_nbi(F, C, T) \
  NBI(T, ELEMENT(T, me, 0), F(C &fetched, (T *)to, (T)5, next), ELEMENT(T, next, 0), ELEMENT(T, me, 5))
#define OF_shmem_T_atomic_fetch_and_nbi(F, C, T) \
  NBI(T, kBits, F(C &fetched, (T *)to, (T)kOtherBits, next), kBits, 0x09)
#define OF_shmem_T_atomic_fetch_or_nbi(F, C, T) \
  NBI(T, kBits, F(C &fetched, (T *)to, (T)kOtherBits, next), kBits, 0x3f)
#define OF_shmem_T_atomic_fetch_xor_nbi(F, C, T) \
  NBI(T, kBits, F(C &fetched, (T *)to, (T)kOtherBits, next), kBits, 0x36)

#define OF_shmem_T_fetch(F, T) OF_shmem_T_atomic_fetch(F, , T)
#define OF_shmem_T_set(F, T) OF_shmem_T_atomic_set(F, , T)
#define OF_shmem_T_swap(F, T) OF_shmem_T_atomic_swap(F, , T)
#define OF_shmem_T_cswap(F, T) OF_shmem_T_atomic_compare_swap(F, , T)
#define OF_shmem_T_finc(F, T) OF_shmem_T_atomic_fetch_inc(F, , T)
#define OF_shmem_T_inc(F, T) OF_shmem_T_atomic_inc(F, , T)
#define OF_shmem_T_fadd(F, T) OF_shmem_T_atomic_fetch_add(F, , T)
#define OF_shmem_T_add(F, T) OF_shmem_T_atomic_add(F, , T)
#define OF_shmem_swap(F) OF_shmem_T_atomic_swap(F, , long)

/* --- signals -------------------------------------------------------------------------------------------------------- */

/* The data are there when the signal has come, which is stored first, and then added to. */
#define OF_shmem_T_put_signal(F, C, T)                                                    \
  BEGIN_FILLED(T);                                                                        \
  F(C (T *)to, (const T *)from, kMoved, arrived, 9, SHMEM_SIGNAL_SET, next);              \
  EXPECT(shmem_signal_wait_until(arrived, SHMEM_CMP_NE, 0) == 9);                         \
  HAS(T, to, kMoved, before);                                                             \
  complete();                                                                             \
  F(C (T *)to + kMoved, (const T *)from + kMoved, 1, arrived, 5, SHMEM_SIGNAL_ADD, next); \
  EXPECT(shmem_signal_wait_until(arrived, SHMEM_CMP_NE, 9) == 14);                        \
  HAS(T, to, kMoved + 1, before);                                                         \
  complete()
#define OF_shmem_putN_signal OF_shmem_T_put_signal
#define OF_shmem_T_put_signal_nbi OF_shmem_T_put_signal
#define OF_shmem_putN_signal_nbi OF_shmem_T_put_signal
#define OF_shmem_signal_set(F, C) \
  begin();                        \
  F(C arrived, 6, next);          \
  complete();                     \
  F(C arrived, 3, next);          \
  complete();                     \
  EXPECT(*arrived == 3)
#define OF_shmem_signal_add(F, C) \
  begin();                        \
  F(C arrived, 6, next);          \
  F(C arrived, 3, next);          \
  complete();                     \
  EXPECT(*arrived == 9)
#define OF_shmem_signal_fetch(F)      \
  begin();                            \
  shmem_signal_set(arrived, 6, next); \
  complete();                         \
  EXPECT(F(arrived) == 6)
#define OF_shmem_signal_wait_until(F)       \
  begin();                                  \
  shmem_signal_set(arrived, 6, next);       \
  EXPECT(F(arrived, SHMEM_CMP_GT, 2) == 6); \
  complete()

/* --- collective operations on teams --------------------------------------------------------------------------------- */

#define OF_shmem_barrier_all(F)                         \
  begin();                                              \
  shmem_long_p((long *)to, ELEMENT(long, me, 1), next); \
  F();                                                  \
  EXPECT(AT(long) == ELEMENT(long, before, 1))
#define OF_shmem_sync_all(F)                            \
  begin();                                              \
  shmem_long_p((long *)to, ELEMENT(long, me, 1), next); \
  shmem_quiet();                                        \
  F();                                                  \
  EXPECT(AT(long) == ELEMENT(long, before, 1))

#define DONE(...) EXPECT((__VA_ARGS__) == 0)
#define OF_shmem_T_broadcast(F, T)                                      \
  BEGIN_FILLED(T);                                                      \
  DONE(F(SHMEM_TEAM_WORLD, (T *)to, (const T *)from, kMoved, pes - 1)); \
  HAS(T, to, kMoved, pes - 1)

/* What all have given, PE by PE: PE i `first + i * more` elements of its own. */
#define HAS_ALL(T, first, more)                              \
  int place = 0;                                             \
  for (int pe = 0; pe < pes; ++pe) {                         \
    for (int i = 0; i < (first) + pe * (more); ++i, ++place) \
      EXPECT(((const T *)to)[place] == ELEMENT(T, pe, i));   \
  }                                                          \
  EXPECT(((const T *)to)[place] == (T)0)
#define OF_shmem_T_collect(F, T)                                       \
  BEGIN_FILLED(T);                                                     \
  DONE(F(SHMEM_TEAM_WORLD, (T *)to, (const T *)from, (size_t)me + 1)); \
  HAS_ALL(T, 1, 1)
#define OF_shmem_T_fcollect(F, T)                         \
  BEGIN_FILLED(T);                                        \
  DONE(F(SHMEM_TEAM_WORLD, (T *)to, (const T *)from, 3)); \
  HAS_ALL(T, 3, 0)

/* Two elements for each PE, which are `from_stride` apart, and `to_stride` where they come to. */
#define HAS_EXCHANGED(T, to_stride, from_stride)                                                \
  for (int i = 0; i < 2 * pes; ++i) {                                                           \
    EXPECT(((const T *)to)[i * (to_stride)] ==                                                  \
           ELEMENT(T, i / 2, (from_stride) * (2 * me + i % 2)));                                \
    for (int k = 1; k < (to_stride); ++k) EXPECT(((const T *)to)[i * (to_stride) + k] == (T)0); \
  }
#define OF_shmem_T_alltoall(F, T)                         \
  BEGIN_FILLED(T);                                        \
  DONE(F(SHMEM_TEAM_WORLD, (T *)to, (const T *)from, 2)); \
  HAS_EXCHANGED(T, 1, 1)
#define OF_shmem_T_alltoalls(F, T)                              \
  BEGIN_FILLED(T);                                              \
  DONE(F(SHMEM_TEAM_WORLD, (T *)to, (const T *)from, 2, 3, 2)); \
  HAS_EXCHANGED(T, 2, 3)
#define OF_shmem_broadcastmem(F) OF_shmem_T_broadcast(F, unsigned char)
#define OF_shmem_collectmem(F) OF_shmem_T_collect(F, unsigned char)
#define OF_shmem_fcollectmem(F) OF_shmem_T_fcollect(F, unsigned char)
#define OF_shmem_alltoallmem(F) OF_shmem_T_alltoall(F, unsigned char)
#define OF_shmem_alltoallsmem(F) OF_shmem_T_alltoalls(F, unsigned char)

/* Each element of all PEs, `a` of those of before and `b`. Products of these fit where they have to. */
#define REDUCED_ELEMENT(T, pe, i) ((T)((pe) + 1 + (i) % 3))
#define FILL_TO_REDUCE(T)                                                      \
  begin();                                                                     \
  for (int i = 0; i < kMoved; ++i) ((T *)from)[i] = REDUCED_ELEMENT(T, me, i); \
  shmem_barrier_all()
#define IS_REDUCED(T, first, last, EXPRESSION)       \
  for (int i = 0; i < kMoved; ++i) {                 \
    T a = REDUCED_ELEMENT(T, first, i);              \
    for (int pe = (first) + 1; pe <= (last); ++pe) { \
      const T b = REDUCED_ELEMENT(T, pe, i);         \
      a = (T)(EXPRESSION);                           \
    }                                                \
    EXPECT(((const T *)to)[i] == a);                 \
  }                                                  \
  EXPECT(((const T *)to)[kMoved] == (T)0)
#define REDUCES(F, T, EXPRESSION)                              \
  FILL_TO_REDUCE(T);                                           \
  DONE(F(SHMEM_TEAM_WORLD, (T *)to, (const T *)from, kMoved)); \
  IS_REDUCED(T, 0, pes - 1, EXPRESSION)
#define OF_shmem_T_and_reduce(F, T) REDUCES(F, T, a & b)
#define OF_shmem_T_or_reduce(F, T) REDUCES(F, T, a | b)
#define OF_shmem_T_xor_reduce(F, T) REDUCES(F, T, a ^ b)
#define OF_shmem_T_max_reduce(F, T) REDUCES(F, T, a > b ? a : b)
#define OF_shmem_T_min_reduce(F, T) REDUCES(F, T, a < b ? a : b)
#define OF_shmem_T_sum_reduce(F, T) REDUCES(F, T, a + b)
#define OF_shmem_T_prod_reduce(F, T) REDUCES(F, T, a * b)
#define OF_shmem_T_sum_inscan(F, T)                            \
  FILL_TO_REDUCE(T);                                           \
  DONE(F(SHMEM_TEAM_WORLD, (T *)to, (const T *)from, kMoved)); \
  IS_REDUCED(T, 0, me, a + b)
#define OF_shmem_T_sum_exscan(F, T)                                       \
  FILL_TO_REDUCE(T);                                                      \
  DONE(F(SHMEM_TEAM_WORLD, (T *)to, (const T *)from, kMoved));            \
  if (me > 0) {                                                           \
    IS_REDUCED(T, 0, me - 1, a + b);                                      \
  } else {                                                                \
    for (int i = 0; i <= kMoved; ++i) EXPECT(((const T *)to)[i] == (T)0); \
  }

/* --- collective operations on active sets ---------------------------------------------------------------------------- */

#define ALL_PES 0, 0, pes
#define OF_shmem_barrier(F)                             \
  begin();                                              \
  shmem_long_p((long *)to, ELEMENT(long, me, 1), next); \
  F(ALL_PES, sync_array);                               \
  EXPECT(AT(long) == ELEMENT(long, before, 1))
#define OF_shmem_sync(F)                                \
  begin();                                              \
  shmem_long_p((long *)to, ELEMENT(long, me, 1), next); \
  shmem_quiet();                                        \
  F(ALL_PES, sync_array);                               \
  EXPECT(AT(long) == ELEMENT(long, before, 1))
/* But on the root. */
#define BROADCAST_TO_OTHERS(F, T)                                    \
  BEGIN_FILLED(T);                                                   \
  F((T *)to, (const T *)from, kMoved, pes - 1, ALL_PES, sync_array); \
  if (me < pes - 1) {                                                \
    HAS(T, to, kMoved, pes - 1);                                     \
  } else {                                                           \
    HAS(T, to, 0, me);                                               \
  }
#define COLLECT_OF_SET(F, T)                                        \
  BEGIN_FILLED(T);                                                  \
  F((T *)to, (const T *)from, (size_t)me + 1, ALL_PES, sync_array); \
  HAS_ALL(T, 1, 1)
#define FCOLLECT_OF_SET(F, T)                          \
  BEGIN_FILLED(T);                                     \
  F((T *)to, (const T *)from, 3, ALL_PES, sync_array); \
  HAS_ALL(T, 3, 0)
#define ALLTOALL_OF_SET(F, T)                          \
  BEGIN_FILLED(T);                                     \
  F((T *)to, (const T *)from, 2, ALL_PES, sync_array); \
  HAS_EXCHANGED(T, 1, 1)
#define ALLTOALLS_OF_SET(F, T)                               \
  BEGIN_FILLED(T);                                           \
  F((T *)to, (const T *)from, 2, 3, 2, ALL_PES, sync_array); \
  HAS_EXCHANGED(T, 2, 3)
#define OF_shmem_broadcast32(F) BROADCAST_TO_OTHERS(F, uint32_t)
#define OF_shmem_broadcast64(F) BROADCAST_TO_OTHERS(F, uint64_t)
#define OF_shmem_collect32(F) COLLECT_OF_SET(F, uint32_t)
#define OF_shmem_collect64(F) COLLECT_OF_SET(F, uint64_t)
#define OF_shmem_fcollect32(F) FCOLLECT_OF_SET(F, uint32_t)
#define OF_shmem_fcollect64(F) FCOLLECT_OF_SET(F, uint64_t)
#define OF_shmem_alltoall32(F) ALLTOALL_OF_SET(F, uint32_t)
#define OF_shmem_alltoall64(F) ALLTOALL_OF_SET(F, uint64_t)
#define OF_shmem_alltoalls32(F) ALLTOALLS_OF_SET(F, uint32_t)
#define OF_shmem_alltoalls64(F) ALLTOALLS_OF_SET(F, uint64_t)
#define TO_ALL(F, T, EXPRESSION)                                 \
  FILL_TO_REDUCE(T);                                             \
  F((T *)to, (T *)from, kMoved, ALL_PES, (T *)work, sync_array); \
  IS_REDUCED(T, 0, pes - 1, EXPRESSION)
#define OF_shmem_T_and_to_all(F, T) TO_ALL(F, T, a & b)
#define OF_shmem_T_or_to_all(F, T) TO_ALL(F, T, a | b)
#define OF_shmem_T_xor_to_all(F, T) TO_ALL(F, T, a ^ b)
#define OF_shmem_T_max_to_all(F, T) TO_ALL(F, T, a > b ? a : b)
#define OF_shmem_T_min_to_all(F, T) TO_ALL(F, T, a < b ? a : b)
#define OF_shmem_T_sum_to_all(F, T) TO_ALL(F, T, a + b)
#define OF_shmem_T_prod_to_all(F, T) TO_ALL(F, T, a * b)

/* --- waiting for memory to change ------------------------------------------------------------------------------------- */

/* What waits look at: none but the fourth of kMoved variables changes, or all do. */
enum { kOne = 3 };
#define CHANGE_ONE(T) \
  BEGIN_FILLED(T);    \
  shmem_putmem((T *)to + kOne, (const T *)from + kOne, sizeof(T), next)
#define CHANGE_ALL(T) \
  BEGIN_FILLED(T);    \
  shmem_putmem(to, from, kMoved * sizeof(T), next)
#define CHANGE_ALL_ALIKE(T)                                            \
  begin();                                                             \
  for (int i = 0; i < kMoved; ++i) ((T *)from)[i] = ELEMENT(T, me, 1); \
  shmem_barrier_all();                                                 \
  shmem_putmem(to, from, kMoved * sizeof(T), next)
#define NEW(T, i) ELEMENT(T, before, i)
/* What all are compared with, or the fourth one alone: the others never are 1. */
#define VALUES(T, WANTED) \
  T values[kMoved];       \
  for (int i = 0; i < kMoved; ++i) values[i] = (WANTED) ? NEW(T, i) : (T)1

#define OF_shmem_T_wait_until(F, T)              \
  CHANGE_ONE(T);                                 \
  F((T *)to + kOne, SHMEM_CMP_EQ, NEW(T, kOne)); \
  complete()
#define OF_shmem_T_wait_until_all(F, T)                                     \
  CHANGE_ALL_ALIKE(T);                                                      \
  F((T *)to, kMoved, NULL, SHMEM_CMP_EQ, NEW(T, 1));                        \
  for (int i = 0; i < kMoved; ++i) EXPECT(((const T *)to)[i] == NEW(T, 1)); \
  complete()
#define OF_shmem_T_wait_until_any(F, T)                                 \
  CHANGE_ONE(T);                                                        \
  EXPECT(F((T *)to, kMoved, NULL, SHMEM_CMP_EQ, NEW(T, kOne)) == kOne); \
  complete()
#define OF_shmem_T_wait_until_some(F, T)                                                            \
  size_t indices[kMoved];                                                                           \
  CHANGE_ONE(T);                                                                                    \
  EXPECT(F((T *)to, kMoved, indices, NULL, SHMEM_CMP_EQ, NEW(T, kOne)) == 1 && indices[0] == kOne); \
  complete()
#define OF_shmem_T_wait_until_all_vector(F, T)    \
  VALUES(T, i >= 0);                              \
  CHANGE_ALL(T);                                  \
  F((T *)to, kMoved, NULL, SHMEM_CMP_EQ, values); \
  HAS(T, to, kMoved, before);                     \
  complete()
#define OF_shmem_T_wait_until_any_vector(F, T)                    \
  VALUES(T, i == kOne);                                           \
  CHANGE_ALL(T);                                                  \
  EXPECT(F((T *)to, kMoved, NULL, SHMEM_CMP_EQ, values) == kOne); \
  complete()
#define OF_shmem_T_wait_until_some_vector(F, T)                                               \
  size_t indices[kMoved];                                                                     \
  VALUES(T, i == kOne);                                                                       \
  CHANGE_ALL(T);                                                                              \
  EXPECT(F((T *)to, kMoved, indices, NULL, SHMEM_CMP_EQ, values) == 1 && indices[0] == kOne); \
  complete()

#define OF_shmem_T_test(F, T)                                 \
  CHANGE_ONE(T);                                              \
  complete();                                                 \
  EXPECT(F((T *)to + kOne, SHMEM_CMP_EQ, NEW(T, kOne)) == 1); \
  EXPECT(F((T *)to, SHMEM_CMP_NE, (T)0) == 0)
#define OF_shmem_T_test_all(F, T)                                 \
  CHANGE_ALL_ALIKE(T);                                            \
  complete();                                                     \
  EXPECT(F((T *)to, kMoved, NULL, SHMEM_CMP_EQ, NEW(T, 1)) == 1); \
  EXPECT(F((T *)to, kMoved + 1, NULL, SHMEM_CMP_EQ, NEW(T, 1)) == 0)
#define OF_shmem_T_test_any(F, T)                                       \
  CHANGE_ONE(T);                                                        \
  complete();                                                           \
  EXPECT(F((T *)to, kMoved, NULL, SHMEM_CMP_EQ, NEW(T, kOne)) == kOne); \
  EXPECT(F((T *)to, kMoved, NULL, SHMEM_CMP_EQ, (T)1) == SIZE_MAX)
#define OF_shmem_T_test_some(F, T)                                         \
  size_t indices[kMoved];                                                  \
  CHANGE_ALL(T);                                                           \
  complete();                                                              \
  EXPECT(F((T *)to, kMoved, indices, NULL, SHMEM_CMP_LE, NEW(T, 1)) == 2); \
  EXPECT(indices[0] == 0 && indices[1] == 1)
#define OF_shmem_T_test_all_vector(F, T)                       \
  VALUES(T, i >= 0);                                           \
  CHANGE_ALL(T);                                               \
  complete();                                                  \
  EXPECT(F((T *)to, kMoved, NULL, SHMEM_CMP_EQ, values) == 1); \
  values[kOne] = (T)1;                                         \
  EXPECT(F((T *)to, kMoved, NULL, SHMEM_CMP_EQ, values) == 0)
#define OF_shmem_T_test_any_vector(F, T) \
  VALUES(T, i == kOne);                  \
  CHANGE_ALL(T);                         \
  complete();                            \
  EXPECT(F((T *)to, kMoved, NULL, SHMEM_CMP_EQ, values) == kOne)
#define OF_shmem_T_test_some_vector(F, T)                               \
  size_t indices[kMoved];                                               \
  VALUES(T, i % kOne == 0);                                             \
  CHANGE_ALL(T);                                                        \
  complete();                                                           \
  EXPECT(F((T *)to, kMoved, indices, NULL, SHMEM_CMP_EQ, values) == 3); \
  EXPECT(indices[0] == 0 && indices[1] == kOne && indices[2] == 2 * kOne)
#define OF_shmem_T_wait(F, T)            \
  CHANGE_ONE(T);                         \
  F((T *)to + kOne, (T)0);               \
  EXPECT(((const T *)to)[kOne] != (T)0); \
  complete()
#define OF_shmem_wait(F) OF_shmem_T_wait(F, long)
#define OF_shmem_wait_until(F) OF_shmem_T_wait_until(F, long)

/* --- order, locks, tools ----------------------------------------------------------------------------------------------- */

/* Of two words of this context and the default one, each is behind the one that was put before. */
#define PUT_WORDS(i, value)                    \
  shmem_long_p((long *)to + (i), value, next); \
  shmem_ctx_long_p(ctx, (long *)to + (i) + 1, value, next)
#define ORDERS(F, ...)                \
  begin();                            \
  PUT_WORDS(0, ELEMENT(long, me, 1)); \
  F(__VA_ARGS__);                     \
  PUT_WORDS(2, ELEMENT(long, me, 2)); \
  complete();                         \
  for (int i = 0; i < 4; ++i) EXPECT(((const long *)to)[i] == ELEMENT(long, before, 1 + i / 2))
#define OF_shmem_fence(F, C) ORDERS(F, C)
#define OF_shmem_quiet(F, C) ORDERS(F, C)
#define OF_shmem_pe_quiet(F, C) ORDERS(F, C &next, 1)

static long *counter_of_0(void) { return (long *)to; }
/* A sum on PE 0, which the lock keeps from losing anything. */
static void add_locked(void) {
  shmem_long_p(counter_of_0(), shmem_long_g(counter_of_0(), 0) + 1, 0);
}
#define IS_LOCKED(TAKE, GIVE)   \
  begin();                      \
  for (int i = 0; i < 5; ++i) { \
    TAKE;                       \
    add_locked();               \
    GIVE;                       \
  }                             \
  complete();                   \
  if (me == 0) EXPECT(*counter_of_0() == 5L * pes)
#define OF_shmem_set_lock(F) IS_LOCKED(F(&lock), shmem_clear_lock(&lock))
#define OF_shmem_clear_lock(F) IS_LOCKED(shmem_set_lock(&lock), F(&lock))
#define OF_shmem_test_lock(F) IS_LOCKED(while (F(&lock) != 0) {}, shmem_clear_lock(&lock))

#define OF_shmem_pcontrol(F) F(1, "whatever", 2.0)
#define OF_shmem_set_cache_inv(F) F()
#define OF_shmem_set_cache_line_inv(F) F(to)
#define OF_shmem_clear_cache_inv(F) F()
#define OF_shmem_clear_cache_line_inv(F) F(to)
#define OF_shmem_udcflush(F) F()
#define OF_shmem_udcflush_line(F) F(to)

struct call {
  const char *function;
  void (*make)(void);
};
#include "every_call.h"

int main(void) {
  shmem_init();
  me = shmem_my_pe(), pes = shmem_n_pes(), next = (me + 1) % pes, before = (me + pes - 1) % pes;
  CHECK(pes >= 2 && pes <= 4); /* or elements of PEs do not fit */
  to = shmem_malloc(kBytes), from = shmem_malloc(kBytes), back = shmem_malloc(kBytes), work = shmem_malloc(kBytes);
  arrived = shmem_malloc(sizeof *arrived);
  CHECK(arrived != NULL);
  CHECK_EQUAL(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0);
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; ++i) {
    called = calls[i].function;
    calls[i].make();
  }
  shmem_ctx_destroy(ctx);
  return passed("every_function");
}
