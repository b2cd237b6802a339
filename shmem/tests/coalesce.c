/*
 * Programs that put, add and get one value at a time, and large blocks one after the other: the same with and without
 * coalescing and bulk regions. Arguments: how many operations; "option" for contexts that coalesce by their option.
 */
#include <shmemx.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { kCells = 1000, kBlock = 20000, kMostPes = 16 };

static int me, pes, next;
static long count;
static shmem_ctx_t ctx;

static uint64_t draw(uint64_t *state) { /* xorshift64* */
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 0x2545f4914f6cdd1dULL >> 16;
}
static uint64_t stream_of(int pe, uint64_t phase) { return ((uint64_t)pe + 1) * 1000003 + phase * 7919 + 1; }

/* --- histogram: one atomic operation at a time ------------------------------------------------------------------- */

static long ones[kCells], sums[kCells];
static unsigned bits[kCells];
static unsigned long toggles[kCells];

static void histogram(void) {
  uint64_t random = stream_of(me, 0);
  for (long i = 0; i < count; ++i) {
    const uint64_t drawn = draw(&random);
    const size_t cell = drawn / 64 % kCells;
    const int pe = (int)(drawn % (uint64_t)pes);
    shmem_atomic_inc(ctx, &ones[cell], pe);
    shmem_atomic_add(ctx, &sums[cell], (long)(drawn % 1001), pe);
    if (i % 3 == 0) shmem_atomic_or(ctx, &bits[cell], 1U << (drawn / 8 % 32), pe);
    if (i % 5 == 0) shmem_atomic_xor(ctx, &toggles[cell], (unsigned long)drawn, pe);
  }
  shmem_ctx_quiet(ctx);
  shmem_barrier_all();
  static long expected_ones[kCells], expected_sums[kCells];
  static unsigned expected_bits[kCells];
  static unsigned long expected_toggles[kCells];
  for (int from = 0; from < pes; ++from) {
    random = stream_of(from, 0);
    for (long i = 0; i < count; ++i) {
      const uint64_t drawn = draw(&random);
      const size_t cell = drawn / 64 % kCells;
      if ((int)(drawn % (uint64_t)pes) != me) continue;
      expected_ones[cell] += 1;
      expected_sums[cell] += (long)(drawn % 1001);
      if (i % 3 == 0) expected_bits[cell] |= 1U << (drawn / 8 % 32);
      if (i % 5 == 0) expected_toggles[cell] ^= (unsigned long)drawn;
    }
  }
  for (int i = 0; i < kCells; ++i) {
    CHECK_EQUAL(ones[i], expected_ones[i]);
    CHECK_EQUAL(sums[i], expected_sums[i]);
    CHECK_EQUAL(bits[i], expected_bits[i]);
    CHECK_EQUAL(toggles[i], expected_toggles[i]);
  }
  shmem_barrier_all();
}

/* --- index gather: one get at a time, of a table that its owners and others change between barriers --------------- */

static long table[kCells];

static long entry_of(int pe, size_t cell, long phase) { return (phase * kMostPes + pe) * kCells + (long)cell; }

static void index_gather(void) {
  for (long phase = 1; phase <= 6; ++phase) {
    const int writer = phase % 2 == 0 ? me : next; /* of the table of whom this PE writes */
    for (size_t cell = 0; cell < kCells; ++cell) {
      const long value = entry_of(writer, cell, phase);
      if (writer == me) {
        table[cell] = value;
      } else {
        shmem_p(ctx, &table[cell], value, writer);
      }
    }
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    uint64_t random = stream_of(me, (uint64_t)phase);
    for (long i = 0; i < count; ++i) {
      const uint64_t drawn = draw(&random);
      const size_t cell = drawn / 64 % (kCells - 3);
      const int pe = (int)(drawn % (uint64_t)pes);
      CHECK_EQUAL(shmem_g(ctx, &table[cell], pe), entry_of(pe, cell, phase));
      if (i % 16 != 0) continue;
      long few[3] = {0};
      shmem_get(ctx, few, &table[cell], 3, pe);
      for (size_t k = 0; k < 3; ++k) CHECK_EQUAL(few[k], entry_of(pe, cell + k, phase));
    }
    shmem_barrier_all();
  }
}

/* --- order -------------------------------------------------------------------------------------------------------- */

static long own[kMostPes][4];

/* Without a quiet in between, for what travels together. */
static void own_writes_are_read(void) {
  for (long round = 1; round <= 200; ++round) {
    const int pe = (int)((me + round) % pes);
    shmem_p(ctx, &own[me][0], round, pe);
    CHECK_EQUAL(shmem_g(ctx, &own[me][0], pe), round);
    shmem_p(ctx, &own[me][0], -round, pe);
    CHECK_EQUAL(shmem_g(ctx, &own[me][0], pe), -round);
    const long before = shmem_g(ctx, &own[me][1], pe);
    for (int i = 0; i < 3; ++i) shmem_atomic_add(ctx, &own[me][1], round, pe);
    CHECK_EQUAL(shmem_atomic_fetch(ctx, &own[me][1], pe), before + 3 * round);
    CHECK_EQUAL(shmem_atomic_fetch_inc(ctx, &own[me][1], pe), before + 3 * round);
    CHECK_EQUAL(shmem_g(ctx, &own[me][1], pe), before + 3 * round + 1);
  }
  shmem_barrier_all();
}

/* The same of more words than are told apart, on all PEs, read between puts to others. */
static void scattered_writes_are_read(void) {
  enum { kApart = 7, kWords = 100 };
  static long words[kMostPes][kApart * kWords];
  for (long round = 1; round <= 5; ++round) {
    for (int i = 0; i < kWords; ++i) {
      for (int pe = 0; pe < pes; ++pe) {
        if (i % 2 == 0) {
          shmem_p(ctx, &words[me][kApart * i], round * i, pe);
        } else {
          shmem_atomic_set(ctx, &words[me][kApart * i], round * i, pe);
        }
        CHECK_EQUAL(shmem_g(ctx, &words[me][kApart * i + 1], pe), 0);
      }
      if (i % 40 != 39) continue;
      for (int k = 0; k <= i; ++k) CHECK_EQUAL(shmem_g(ctx, &words[me][kApart * k], (me + k) % pes), round * k);
    }
  }
  shmem_barrier_all();
}

/* A PE that waits has sent what it has called, and serves others. */
static void waiting_makes_progress(void) {
  static long arrived, looked;
  for (long round = 1; round <= 100; ++round) {
    shmem_atomic_inc(ctx, &arrived, next);
    shmem_wait_until(&arrived, SHMEM_CMP_GE, round);
    shmem_atomic_add(ctx, &looked, 2L, next);
    while (!shmem_test(&looked, SHMEM_CMP_GE, 2 * round)) {
    }
  }
  CHECK_EQUAL(arrived, 100);
  shmem_barrier_all();
}

/* A program that polls other PEs' memory gets on, by one word or by several in turn, which have been read before. */
static void polling(void) {
  static long flags[2][8];
  const int home = pes - 1;
  for (long round = 1; round <= 10; ++round) {
    for (int i = 0; i < 40; ++i) CHECK(shmem_g(ctx, &flags[i % 2][i % 8], home) < round);
    shmem_barrier_all();
    if (me == 0) {
      shmem_p(ctx, &flags[0][1], round, home);
      shmem_ctx_quiet(ctx);
      shmem_p(ctx, &flags[0][2], round, home);
      shmem_atomic_set(ctx, &flags[1][2], round, home);
      shmem_ctx_quiet(ctx);
    }
    while (shmem_g(ctx, &flags[0][2], home) < round) {
    }
    CHECK_EQUAL(shmem_g(ctx, &flags[0][1], home), round);
    long seen = 0;
    while (seen < 2 * round) seen = shmem_g(ctx, &flags[0][2], home) + shmem_g(ctx, &flags[1][2], home);
    shmem_barrier_all();
  }
}

/* The same where the flag is on any PE: loads may reach it, while what has been read before is elsewhere. */
static void polling_elsewhere(void) {
  static long words[20], many[20], flag, spare;
  static uint64_t go;
  static const long one = 1;
  const int home = pes / 2, writer = pes - 1;
  if (pes == 1) return;
  for (long round = 1; round <= 5L * pes; ++round) {
    const int where = (int)(round % pes);
    shmem_barrier_all();
    if (me == 0) {
      for (int i = 0; i < 40; ++i) CHECK(shmem_g(ctx, &words[i % 8], home) < round);
      shmem_get(ctx, many, words, 20, home);
      CHECK(many[5] < round);
      CHECK(shmem_g(ctx, &flag, where) < round);
      shmem_put_signal(ctx, &spare, &one, 1, &go, (uint64_t)round, SHMEM_SIGNAL_SET, writer);
      while (shmem_g(ctx, &flag, where) < round) {
      }
      CHECK_EQUAL(shmem_g(ctx, &words[5], home), round);
      shmem_get(ctx, many, words, 20, home);
      CHECK_EQUAL(many[5], round);
    }
    if (me == writer) {
      shmem_signal_wait_until(&go, SHMEM_CMP_GE, (uint64_t)round);
      shmem_p(ctx, &words[5], round, home);
      shmem_ctx_quiet(ctx);
      shmem_p(ctx, &flag, round, where);
      shmem_ctx_quiet(ctx);
    }
  }
  shmem_barrier_all();
}

/* Who learns by a wait, a test, an atomic operation or a quiet reads nothing that is older. */
static void learning(void) {
  static long news, known, counter;
  const int home = pes - 1;
  for (long round = 1; round <= 100; ++round) {
    for (int i = 0; i < 20; ++i) CHECK(shmem_g(ctx, &news, home) < round);
    shmem_barrier_all();
    CHECK(shmem_g(ctx, &news, home) <= round);
    if (me == 0) {
      shmem_p(ctx, &news, round, home);
      shmem_ctx_quiet(ctx);
      for (int pe = 0; pe < pes; ++pe) shmem_p(ctx, &known, round, pe);
      shmem_atomic_inc(ctx, &counter, 0);
    }
    if (round % 3 == 0) {
      shmem_wait_until(&known, SHMEM_CMP_GE, round);
    } else if (round % 3 == 1) {
      while (!shmem_test(&known, SHMEM_CMP_GE, round)) {
      }
    } else {
      while (shmem_atomic_fetch(ctx, &counter, 0) < round) {
      }
    }
    CHECK_EQUAL(shmem_g(ctx, &news, home), round);
    shmem_barrier_all();
  }
}

/* What a program that coalesces may see: a word that is read for the first time is new, and another one that has been
 * read before, and was written before it, is old. Nothing that this PE has called says that it has to be otherwise. */
static void may_be_old(void) {
  static long first[4096], second;
  const int home = pes - 1;
  static long old, sum;
  for (long round = 1; round <= 20; ++round) {
    shmem_barrier_all();
    if (me == 0) {
      for (int i = 0; i < 40; ++i) {
        const long seen = shmem_g(ctx, &first[i], home);
        CHECK(i == 5 ? seen == round - 1 || seen == round : seen == 0);
      }
    }
    if (me == 1 % pes) {
      usleep(200);
      shmem_p(ctx, &first[5], round, home);
      shmem_ctx_quiet(ctx);
      shmem_p(ctx, &second, round, home);
      shmem_ctx_quiet(ctx);
    } else if (me == 0) {
      usleep(600);
      const long flag = shmem_g(ctx, &second, home), seen = shmem_g(ctx, &first[5], home);
      CHECK(seen == round || seen == round - 1);
      old += flag == round && seen != round;
    }
    shmem_barrier_all();
  }
  shmem_sum_reduce(SHMEM_TEAM_WORLD, &sum, &old, 1);
  if (me == 0) printf("an old value beside a new one: %ld of 20\n", sum);
}

/* The same of a get of more than 64 bytes that a program which is started with --bulk has made behind the same barrier
 * before: it may have been made when the barrier ended. */
static void large_may_be_old(void) {
  static long block[20], second, old, sum;
  long seen[20];
  const int home = pes - 1;
  for (long round = 1; round <= 20; ++round) {
    shmem_barrier_all();
    if (me == 1 % pes) {
      usleep(200);
      shmem_p(ctx, &block[5], round, home);
      shmem_ctx_quiet(ctx);
      shmem_p(ctx, &second, round, home);
      shmem_ctx_quiet(ctx);
    }
    if (me == 0) {
      usleep(600);
      const long flag = shmem_g(ctx, &second, home);
      shmem_get(ctx, seen, block, 20, home);
      CHECK(seen[5] == round || seen[5] == round - 1);
      old += flag == round && seen[5] != round;
    }
    shmem_barrier_all();
    if (me == 0) {
      shmem_get(ctx, seen, block, 20, home);
      CHECK_EQUAL(seen[5], round);
    }
  }
  shmem_sum_reduce(SHMEM_TEAM_WORLD, &sum, &old, 1);
  if (me == 0) printf("an old block beside a new word: %ld of 20\n", sum);
}

/* --- large copies, the same ones behind the same barrier ----------------------------------------------------------- */

static long given[kBlock], taken[kBlock];

static void large_copies(void) {
  static long source[kBlock], back[kBlock];
  for (long round = 1; round <= 8; ++round) {
    for (int i = 0; i < kBlock; ++i) source[i] = (round * kMostPes + me) * kBlock + i;
    shmem_put(ctx, given, source, kBlock, next);
    memset(source, 0xee, sizeof source); /* its source may change */
    shmem_get(ctx, back, given, kBlock, next);
    for (int i = 0; i < kBlock; ++i) CHECK_EQUAL(back[i], (round * kMostPes + me) * kBlock + i);
    shmem_ctx_fence(ctx);
    shmem_p(ctx, &taken[0], round, next); /* behind the fence */
    shmem_wait_until(&taken[0], SHMEM_CMP_GE, round);
    const int before = (me + pes - 1) % pes;
    for (int i = 0; i < kBlock; ++i) CHECK_EQUAL(given[i], (round * kMostPes + before) * kBlock + i);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    for (int i = 0; i < pes; ++i) {
      const int pe = (me + i) % pes, writer = (pe + pes - 1) % pes;
      shmem_get(ctx, back, given, kBlock / 4, pe);
      for (int k = 0; k < kBlock / 4; ++k) CHECK_EQUAL(back[k], (round * kMostPes + writer) * kBlock + k);
    }
    shmem_barrier_all();
  }
}

int main(int argc, char **argv) {
  shmem_init();
  count = argc > 1 ? strtol(argv[1], NULL, 10) : 2000;
  me = shmem_my_pe();
  pes = shmem_n_pes();
  next = (me + 1) % pes;
  CHECK(pes <= kMostPes);
  const int by_option = argc > 2 && strcmp(argv[2], "option") == 0;
  ctx = SHMEM_CTX_DEFAULT;
  if (by_option) CHECK_EQUAL(shmem_ctx_create(SHMEMX_CTX_COALESCE | SHMEM_CTX_PRIVATE, &ctx), 0);
  shmem_barrier_all();
  histogram();
  index_gather();
  const char *const alone = getenv("STRIPLINE_COALESCE");
  /* Without, the standard promises that of quiet only. */
  if (by_option || (alone != NULL && strcmp(alone, "1") == 0)) {
    own_writes_are_read();
    scattered_writes_are_read();
  }
  waiting_makes_progress();
  polling();
  polling_elsewhere();
  learning();
  may_be_old();
  large_may_be_old();
  large_copies();
  if (by_option) shmem_ctx_destroy(ctx);
  return passed("coalesce");
}
