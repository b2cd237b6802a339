/*
 * Threads of each PE. By one context: a quiet of either returns when what its thread has started is complete, whatever
 * the other one does. By contexts of their own, some of which end with operations in flight. In collective operations
 * of teams of their own, which they make and destroy in no common order. With the argument "dead", they transfer by
 * contexts of their own to a PE that is killed.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { kThreads = 2, kRounds = 200, kWords = 64, kTeamRounds = 15, kBulk = 20000, kBulkParts = 8, kBulkRounds = 12 };
static long words[kWords];
static long written[kThreads][kWords];
static long counted[kThreads];
static uint64_t signalled[kThreads];

static void puts_and_gets(int thread) {
  const int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
  long back[kWords], source[kWords];
  for (long round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kWords; ++i) back[i] = -1;
    shmem_get_nbi(back, words, kWords, next);
    shmem_quiet();
    for (int i = 0; i < kWords; ++i) CHECK_EQUAL(back[i], next * 1000L + i);

    for (int i = 0; i < kWords; ++i) source[i] = round * 1000 + i;
    shmem_put_nbi(written[thread], source, kWords, next);
    shmem_quiet();
    shmem_get(back, written[thread], kWords, next);
    for (int i = 0; i < kWords; ++i) CHECK_EQUAL(back[i], round * 1000 + i);
  }
}

/* Each kind of operation, completed by this thread's context, while the other thread goes on with its own. */
static void own_contexts(int thread) {
  const int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
  shmem_ctx_t ctx;
  CHECK_EQUAL(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0);
  long back[kWords], source[kWords];
  for (long round = 1; round <= kRounds; ++round) {
    for (int i = 0; i < kWords; ++i) source[i] = round * 1000 + thread * 100 + i;
    for (int i = 0; i < 8; ++i) shmem_p(ctx, &written[thread][i], source[i], next);
    shmem_put_nbi(ctx, written[thread] + 8, source + 8, 8, next);
    shmem_iput(ctx, written[thread] + 16, source + 16, 2, 2, 8, next);
    shmem_iput(ctx, written[thread] + 17, source + 17, 2, 2, 8, next);
    shmem_put_signal(ctx, written[thread] + 32, source + 32, kWords - 32, &signalled[thread], (uint64_t)round,
                     SHMEM_SIGNAL_SET, next);
    shmem_atomic_add(ctx, &counted[thread], 3L, next);
    shmem_ctx_quiet(ctx);
    shmem_get_nbi(ctx, back, written[thread], kWords, next);
    CHECK_EQUAL(shmem_atomic_fetch(ctx, &counted[thread], next), 3 * round);
    CHECK_EQUAL(shmem_g(ctx, &signalled[thread], next), round);
    shmem_ctx_quiet(ctx);
    for (int i = 0; i < kWords; ++i) CHECK_EQUAL(back[i], source[i]);
  }
  shmem_ctx_destroy(ctx);
}

static long bulk[kThreads][kBulk], bulk_sources[kThreads][kBulk], bulk_back[kThreads][kBulk];

static void check_bulk(int thread, shmem_ctx_t ctx, long first, int next) {
  long *const back = bulk_back[thread];
  shmem_ctx_long_get_nbi(ctx, back, bulk[thread], kBulk, next);
  shmem_ctx_quiet(ctx);
  for (int i = 0; i < kBulk; ++i) CHECK_EQUAL(back[i], first + i);
}

/* Larger transfers, by contexts that come and go: in one put, by many whose source changes at once, and in flight at
 * the end of their context, which completes them. */
static void short_contexts(int thread) {
  const int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
  long *const source = bulk_sources[thread];
  for (long round = 1; round <= kBulkRounds; ++round) {
    const long first = round * kBulk * kBulkParts;
    shmem_ctx_t ctx;
    CHECK_EQUAL(shmem_ctx_create(round % 2 == 0 ? SHMEM_CTX_PRIVATE : SHMEM_CTX_SERIALIZED, &ctx), 0);
    for (int i = 0; i < kBulk; ++i) source[i] = first + i;
    shmem_ctx_long_put(ctx, bulk[thread], source, kBulk, next);
    for (int i = 0; i < kBulk; ++i) source[i] = -1;
    shmem_ctx_fence(ctx);
    check_bulk(thread, ctx, first, next);

    for (int part = 0; part < kBulkParts; ++part) {
      const int words = kBulk / kBulkParts, begin = part * words;
      for (int i = 0; i < words; ++i) source[i] = first + 1 + begin + i;
      shmem_ctx_long_put(ctx, bulk[thread] + begin, source, (size_t)words, next);
    }
    shmem_ctx_quiet(ctx);
    check_bulk(thread, ctx, first + 1, next);

    for (int i = 0; i < kBulk; ++i) source[i] = first + 2 + i;
    shmem_ctx_long_put_nbi(ctx, bulk[thread], source, kBulk, next);
    shmem_ctx_destroy(ctx);
    check_bulk(thread, SHMEM_CTX_DEFAULT, first + 2, next);
  }
}

static void until_the_last_is_dead(int thread) {
  shmem_ctx_t ctx;
  CHECK_EQUAL(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0);
  while (1) {
    shmem_ctx_long_put_nbi(ctx, bulk[thread], bulk_sources[thread], kBulk, shmem_n_pes() - 1);
    shmem_ctx_quiet(ctx);
  }
}

static shmem_team_t parents[kThreads];
static long summands[kThreads], sums[kThreads], heads[kThreads];

static void collectives_on(int thread, shmem_team_t team, long round) {
  const int me = shmem_team_my_pe(team), pes = shmem_team_n_pes(team);
  summands[thread] = round + me;
  shmem_team_sync(team);
  CHECK_EQUAL(shmem_sum_reduce(team, &sums[thread], &summands[thread], 1), 0);
  CHECK_EQUAL(sums[thread], pes * round + pes * (pes - 1) / 2);
  CHECK_EQUAL(shmem_broadcast(team, &heads[thread], &summands[thread], 1, pes - 1), 0);
  CHECK_EQUAL(heads[thread], round + pes - 1);
}

/* PEs begin in different orders, and none waits for its own other thread. */
static void own_teams(int thread) {
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  for (long round = 0; round < kTeamRounds; ++round) {
    if ((me + thread + round) % 2 == 0) usleep(300);
    shmem_team_t even = SHMEM_TEAM_INVALID, row = SHMEM_TEAM_INVALID, column = SHMEM_TEAM_INVALID;
    CHECK_EQUAL(shmem_team_split_strided(parents[thread], 0, 2, (pes + 1) / 2, NULL, 0, &even), 0);
    CHECK_EQUAL(even == SHMEM_TEAM_INVALID, me % 2);
    CHECK_EQUAL(shmem_team_split_2d(parents[thread], 2, NULL, 0, &row, NULL, 0, &column), 0);
    CHECK_EQUAL(shmem_team_my_pe(row), me % 2);
    CHECK_EQUAL(shmem_team_my_pe(column), me / 2);
    if (even != SHMEM_TEAM_INVALID) collectives_on(thread, even, round);
    collectives_on(thread, row, round);
    shmem_team_destroy(row);
    collectives_on(thread, column, round);
    collectives_on(thread, parents[thread], round);
    shmem_team_destroy(even);
    shmem_team_destroy(column);
  }
}

typedef struct {
  int thread;
  void (*part)(int thread);
} Work;

static void *run(void *argument) {
  const Work *const work = argument;
  work->part(work->thread);
  return NULL;
}

static void by_threads(void (*part)(int thread)) {
  pthread_t threads[kThreads];
  Work work[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    work[i] = (Work){i, part};
    CHECK_EQUAL(pthread_create(&threads[i], NULL, run, &work[i]), 0);
  }
  for (int i = 0; i < kThreads; ++i) CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
  shmem_barrier_all();
}

int main(int argc, char **argv) {
  int provided = -1;
  CHECK_EQUAL(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
  CHECK_EQUAL(provided, SHMEM_THREAD_MULTIPLE);
  const int pes = shmem_n_pes();
  for (int i = 0; i < kWords; ++i) words[i] = shmem_my_pe() * 1000L + i;
  for (int i = 0; i < kThreads; ++i) {
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, NULL, 0, &parents[i]), 0);
  }
  shmem_barrier_all();
  if (argc > 1 && strcmp(argv[1], "dead") == 0) {
    if (shmem_my_pe() < pes - 1) by_threads(until_the_last_is_dead);
    usleep(50000);
    raise(SIGKILL);
  }
  by_threads(puts_and_gets);
  by_threads(own_contexts);
  by_threads(short_contexts);
  by_threads(own_teams);
  for (int i = 0; i < kThreads; ++i) shmem_team_destroy(parents[i]);
  return passed("threads");
}
