/* Puts, gets, atomic operations, signals and contexts, by generic names. */
#include <string.h>

#include "check.h"

enum { kCount = 3000 }; /* of long: through all sizes of messages */
static long data[kCount], source[kCount], back[kCount];
static uint64_t signal_word;
static int me, pes, next, before;

static void fill(long seed) {
  for (int i = 0; i < kCount; ++i) source[i] = seed * 100000 + i;
}
static void clear(void) {
  shmem_barrier_all();
  memset(data, 0, sizeof data);
  signal_word = 0;
  shmem_barrier_all();
}
static void expect(int first, int count, long seed) {
  for (int i = first; i < first + count; ++i) CHECK_EQUAL(data[i], seed * 100000 + i);
}

static void puts_and_gets(shmem_ctx_t ctx) {
  const int sizes[] = {1, 7, 8, 9, 100, 1000, kCount};
  for (unsigned k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
    const int count = sizes[k];
    clear();
    fill(me);
    shmem_put(ctx, data, source, (size_t)count, next);
    memset(source, 0xff, sizeof source); /* it may change at once */
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    expect(0, count, before);
    if (count < kCount) CHECK_EQUAL(data[count], 0);
    shmem_get(ctx, back, data, (size_t)count, next);
    for (int i = 0; i < count; ++i) CHECK_EQUAL(back[i], me * 100000L + i);

    clear();
    fill(me);
    shmem_put_nbi(ctx, data, source, (size_t)count, next);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    expect(0, count, before);
    memset(back, 0, sizeof back);
    shmem_get_nbi(ctx, back, data, (size_t)count, next);
    shmem_ctx_quiet(ctx);
    for (int i = 0; i < count; ++i) CHECK_EQUAL(back[i], me * 100000L + i);
  }
  clear();
  for (int i = 0; i < kCount; ++i) shmem_p(ctx, &data[i], me * 100000L + i, next);
  shmem_ctx_quiet(ctx);
  shmem_barrier_all();
  expect(0, kCount, before);
  for (int i = 0; i < kCount; i += 97) CHECK_EQUAL(shmem_g(ctx, &data[i], next), me * 100000L + i);
  shmem_put(data, source, 0, next); /* nothing */
}

static void strided(void) {
  clear();
  fill(me);
  shmem_iput(data, source, 3, 2, 500, next);
  shmem_barrier_all();
  for (int i = 0; i < 500; ++i) CHECK_EQUAL(data[3 * i], before * 100000L + 2 * i);
  CHECK_EQUAL(data[1], 0);
  shmem_iget(back, data, 1, 3, 500, next);
  for (int i = 0; i < 500; ++i) CHECK_EQUAL(back[i], me * 100000L + 2 * i);
  clear();
  fill(me);
  shmem_ibput(data, source, 10, 4, 3, 100, next);
  shmem_barrier_all();
  for (int i = 0; i < 100; ++i) {
    for (int k = 0; k < 3; ++k) CHECK_EQUAL(data[10 * i + k], before * 100000L + 4 * i + k);
    CHECK_EQUAL(data[10 * i + 3], 0);
  }
  shmem_ibget(back, data, 3, 10, 3, 100, next);
  for (int i = 0; i < 300; ++i) CHECK_EQUAL(back[i], me * 100000L + 4 * (i / 3) + i % 3);
}

static void signals(void) {
  const int sizes[] = {0, 1, 100, kCount};
  for (unsigned k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
    const int count = sizes[k];
    for (int nbi = 0; nbi < 2; ++nbi) {
      clear();
      fill(me);
      if (nbi) {
        shmem_put_signal_nbi(data, source, (size_t)count, &signal_word, 9, SHMEM_SIGNAL_SET, next);
      } else {
        shmem_put_signal(data, source, (size_t)count, &signal_word, 9, SHMEM_SIGNAL_SET, next);
      }
      CHECK_EQUAL(shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 9), 9);
      expect(0, count, before);
      shmem_quiet();
    }
    clear();
    fill(me);
    for (int pe = 0; pe < pes; ++pe) {
      shmem_put_signal(data, source, (size_t)count, &signal_word, 1, SHMEM_SIGNAL_ADD, pe);
      shmem_signal_add(&signal_word, 100, pe);
    }
    const uint64_t all = 101 * (uint64_t)pes;
    CHECK_EQUAL(shmem_signal_wait_until(&signal_word, SHMEM_CMP_GE, all), all);
    shmem_barrier_all();
    CHECK_EQUAL(shmem_signal_fetch(&signal_word), all);
    for (int i = 0; i < count; ++i) CHECK_EQUAL(data[i] % 100000, i);
  }
}

static long sum;
static int small;
static unsigned long bits;
static double real_number;
static float short_real;

static void atomics(void) {
  shmem_barrier_all();
  sum = 0, small = 0, bits = 0, real_number = 0, short_real = 0;
  shmem_barrier_all();
  for (int i = 0; i < 100; ++i) {
    for (int pe = 0; pe < pes; ++pe) {
      shmem_atomic_add(&sum, (long)me + 1, pe);
      shmem_atomic_inc(&small, pe);
    }
  }
  shmem_atomic_or(&bits, 1UL << me, next);
  shmem_barrier_all();
  CHECK_EQUAL(sum, 100L * pes * (pes + 1) / 2);
  CHECK_EQUAL(small, 100 * pes);
  CHECK_EQUAL(bits, 1UL << before);
  CHECK_EQUAL(shmem_atomic_fetch(&sum, next), sum);
  shmem_barrier_all();

  /* Tickets: each number is drawn once. */
  static int drawn[64 * 50];
  const int all = 50 * pes;
  if (me == 0) small = 0;
  shmem_barrier_all();
  for (int i = 0; i < 50; ++i) {
    const int ticket = i % 2 == 0 ? shmem_atomic_fetch_inc(&small, 0) : shmem_atomic_fetch_add(&small, 1, 0);
    CHECK(ticket >= 0 && ticket < all);
    shmem_atomic_inc(&drawn[ticket], 0);
  }
  shmem_barrier_all();
  if (me == 0) {
    for (int i = 0; i < all; ++i) CHECK_EQUAL(drawn[i], 1);
  }

  sum = me;
  shmem_barrier_all();
  CHECK_EQUAL(shmem_atomic_swap(&sum, 1000L + me, next), next);
  shmem_barrier_all();
  CHECK_EQUAL(sum, 1000 + before);
  shmem_barrier_all();
  CHECK_EQUAL(shmem_atomic_compare_swap(&sum, -1L, 5L, next), 1000 + me);
  CHECK_EQUAL(shmem_atomic_compare_swap(&sum, 1000L + me, 5L, next), 1000 + me);
  shmem_barrier_all();
  CHECK_EQUAL(sum, 5);
  shmem_barrier_all();
  CHECK_EQUAL(shmem_atomic_fetch_and(&bits, 0UL, next), 1UL << me);
  CHECK_EQUAL(shmem_atomic_fetch_xor(&bits, 6UL, next), 0);
  CHECK_EQUAL(shmem_atomic_fetch_or(&bits, 1UL, next), 6);
  shmem_atomic_xor(&bits, 2UL, next);
  shmem_atomic_and(&bits, 0xfdUL, next);
  shmem_barrier_all();
  CHECK_EQUAL(bits, 5);

  shmem_atomic_set(&real_number, 1.5 + me, next);
  shmem_atomic_set(&short_real, 0.5f, next);
  shmem_barrier_all();
  CHECK(real_number == 1.5 + before && short_real == 0.5f);
  shmem_barrier_all();
  CHECK(shmem_atomic_swap(&short_real, 2.5f, next) == 0.5f);
  CHECK(shmem_atomic_fetch(&real_number, next) == 1.5 + me);

  static long fetched[100];
  shmem_barrier_all();
  if (me == 0) sum = 0;
  shmem_barrier_all();
  for (int i = 0; i < 100; ++i) shmem_atomic_fetch_add_nbi(&fetched[i], &sum, 1L, 0);
  shmem_quiet();
  for (int i = 0; i < 100; ++i) CHECK(fetched[i] >= 0 && fetched[i] < 100 * pes);
  shmem_barrier_all();
  if (me == 0) CHECK_EQUAL(sum, 100 * pes);
  long seen = -1;
  shmem_atomic_fetch_nbi(&seen, &sum, 0);
  shmem_quiet();
  CHECK_EQUAL(seen, 100 * pes);
}

/* A fence keeps the flag behind the data, again and again. */
static void order(void) {
  static long value, flag;
  shmem_barrier_all();
  const int rounds = 2000;
  for (long i = 1; i <= rounds; ++i) {
    shmem_p(&value, i, next);
    shmem_fence();
    shmem_p(&flag, i, next);
    shmem_wait_until(&flag, SHMEM_CMP_GE, i);
    CHECK(value >= i);
  }
  shmem_barrier_all();
}

static void contexts(void) {
  shmem_ctx_t ctx;
  const long options[] = {0, SHMEM_CTX_PRIVATE, SHMEM_CTX_SERIALIZED, SHMEM_CTX_NOSTORE | SHMEM_CTX_PRIVATE};
  for (unsigned k = 0; k < sizeof options / sizeof options[0]; ++k) {
    CHECK_EQUAL(shmem_ctx_create(options[k], &ctx), 0);
    shmem_team_t team = SHMEM_TEAM_INVALID;
    CHECK_EQUAL(shmem_ctx_get_team(ctx, &team), 0);
    CHECK(team == SHMEM_TEAM_WORLD);
    if (k < 2) puts_and_gets(ctx);
    shmem_ctx_fence(ctx);
    shmem_ctx_destroy(ctx);
  }
  /* Nothing is done for what is not a context. */
  shmem_ctx_fence(SHMEM_CTX_INVALID);
  shmem_ctx_quiet(SHMEM_CTX_INVALID);
  shmem_ctx_pe_quiet(SHMEM_CTX_INVALID, &me, 1);
  shmem_ctx_session_start(SHMEM_CTX_INVALID, 0, NULL, 0);
  shmem_ctx_session_stop(SHMEM_CTX_INVALID);
  shmem_ctx_destroy(SHMEM_CTX_INVALID);
  /* PEs of a team's context have the team's numbers. */
  shmem_team_t reversed;
  CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &reversed), 0);
  CHECK_EQUAL(shmem_team_create_ctx(reversed, 0, &ctx), 0);
  clear();
  shmem_p(ctx, &data[0], 42L + me, me); /* PE me of the team is PE pes - 1 - me */
  shmem_ctx_quiet(ctx);
  shmem_barrier_all();
  CHECK_EQUAL(data[0], 42 + pes - 1 - me);
  CHECK_EQUAL(shmem_team_translate_pe(reversed, 0, SHMEM_TEAM_WORLD), pes - 1);
  shmem_ctx_destroy(ctx);
  shmem_team_destroy(reversed);
}

int main(void) {
  shmem_init();
  me = shmem_my_pe(), pes = shmem_n_pes(), next = (me + 1) % pes, before = (me + pes - 1) % pes;
  puts_and_gets(SHMEM_CTX_DEFAULT);
  strided();
  signals();
  atomics();
  order();
  contexts();
  return passed("operations");
}
