/*
 * Litmus tests of the standard's rules of order: each says what must not be seen, and looks for it again and again. The
 * argument says how often.
 */
#include <string.h>

#include "check.h"

enum { kWords = 300, kMostPes = 16, kMostRounds = 200 };

static int me, pes, next, before;
static long rounds;
static shmem_ctx_t own_context;

static long data[kWords], source[kWords];
static long flag, acknowledged, passed_on;
static uint64_t raised;

/* --- message passing: who sees the flag sees the data that were put before it ------------------------------------- */

typedef enum { kByP, kByPut, kByPutNbi, kByIput, kByAtomics, kWrites } Write;
typedef enum { kRaiseP, kRaisePut, kRaiseSet, kRaiseSignal, kRaises } Raise;
typedef enum { kFence, kQuiet, kOrders } Order;

static long word_of(long round, int i) { return round * 1000 + i; }

static void write_data(shmem_ctx_t ctx, Write how, long round) {
  for (int i = 0; i < kWords; ++i) source[i] = word_of(round, i);
  switch (how) {
    case kByP:
      for (int i = 0; i < 8; ++i) shmem_p(ctx, &data[i], source[i], next);
      break;
    case kByPut:
      shmem_put(ctx, data, source, kWords, next);
      break;
    case kByPutNbi:
      shmem_put_nbi(ctx, data, source, kWords, next);
      break;
    case kByIput:
      shmem_iput(ctx, data, source, 3, 3, kWords / 3, next);
      break;
    default:
      for (int i = 0; i < 4; ++i) shmem_atomic_set(ctx, &data[i], source[i], next);
      break;
  }
}

static void check_data(Write how, long round) {
  const int stride = how == kByIput ? 3 : 1;
  const int count = how == kByP ? 8 : how == kByIput ? kWords / 3 : how == kByAtomics ? 4 : kWords;
  for (int i = 0; i < count; ++i) CHECK_EQUAL(data[i * stride], word_of(round, i * stride));
}

static void raise_flag(shmem_ctx_t ctx, Raise how, long round) {
  static long value;
  switch (how) {
    case kRaiseP:
      shmem_p(ctx, &flag, round, next);
      break;
    case kRaisePut:
      value = round;
      shmem_put(ctx, &flag, &value, 1, next);
      break;
    case kRaiseSet:
      shmem_atomic_set(ctx, &flag, round, next);
      break;
    default:
      shmem_ctx_signal_set(ctx, (uint64_t *)&flag, (uint64_t)round, next);
      break;
  }
}

/* The writer may write again. */
static void acknowledge(long round) {
  shmem_p(&acknowledged, round, before);
  shmem_quiet();
  shmem_wait_until(&acknowledged, SHMEM_CMP_GE, round);
}

static void message_passing(void) {
  static long round;
  for (int write = 0; write < kWrites; ++write) {
    for (int raise = 0; raise < kRaises; ++raise) {
      for (int order = 0; order < kOrders; ++order) {
        for (long n = 0; n < rounds / 10 + 2; ++n) {
          const shmem_ctx_t ctx = n % 2 == 0 ? SHMEM_CTX_DEFAULT : own_context;
          ++round;
          write_data(ctx, (Write)write, round);
          if (order == kFence) {
            shmem_ctx_fence(ctx);
          } else {
            shmem_ctx_quiet(ctx);
          }
          raise_flag(ctx, (Raise)raise, round);
          shmem_wait_until(&flag, SHMEM_CMP_EQ, round);
          check_data((Write)write, round);
          acknowledge(round);
          shmem_ctx_quiet(ctx);
        }
      }
    }
  }
  acknowledged = 0;
  shmem_barrier_all();
}

static void signalled_puts(void) {
  static const int counts[] = {1, 60, kWords};
  uint64_t expected = 0;
  for (long round = 1; round <= rounds; ++round) {
    const size_t count = (size_t)counts[round % 3];
    const int adds = round % 2 == 0;
    expected = adds ? expected + 5 : (uint64_t)round * 1000000;
    for (size_t i = 0; i < count; ++i) source[i] = word_of(round, (int)i);
    if (round % 4 < 2) {
      shmem_put_signal(data, source, count, &raised, adds ? 5 : expected, adds ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET,
                       next);
      memset(source, 0xee, sizeof source);
    } else {
      shmem_put_signal_nbi(data, source, count, &raised, adds ? 5 : expected,
                           adds ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET, next);
    }
    CHECK_EQUAL(shmem_signal_wait_until(&raised, SHMEM_CMP_EQ, expected), expected);
    for (size_t i = 0; i < count; ++i) CHECK_EQUAL(data[i], word_of(round, (int)i));
    acknowledge(round);
  }
  acknowledged = 0;
  shmem_barrier_all();
}

/* A wait for a signal returns what it has waited for, though another one may follow at once. */
static void signals_in_a_row(void) {
  static uint64_t signal;
  static long has_seen;
  const int sender = 1 % pes;
  shmem_barrier_all();
  if (me == 0 && pes > 1) {
    for (long i = 0; i < rounds; ++i) {
      const uint64_t wanted = (uint64_t)(i % 2 + 1);
      CHECK_EQUAL(shmem_signal_wait_until(&signal, SHMEM_CMP_EQ, wanted), wanted);
    }
    shmem_p(&has_seen, 1, sender);
    shmem_quiet();
  } else if (me == sender) {
    while (pes > 1 && !shmem_test(&has_seen, SHMEM_CMP_EQ, 1)) {
      for (uint64_t value = 1; value <= 2; ++value) {
        shmem_signal_set(&signal, value, 0);
        shmem_quiet();
      }
    }
  }
  shmem_barrier_all();
}

/* What is put to a third PE, and completed, is seen by whoever learns that it is. */
static void passed_on_messages(void) {
  static long there;
  const int last = pes - 1, second = 1 % pes;
  for (long round = 1; round <= rounds; ++round) {
    if (me == 0) {
      shmem_p(&there, round, last);
      shmem_quiet();
      shmem_p(&passed_on, round, second);
      shmem_quiet();
    }
    if (me == second) {
      shmem_wait_until(&passed_on, SHMEM_CMP_EQ, round);
      CHECK_EQUAL(shmem_g(&there, last), round);
    }
    shmem_sync_all();
  }
  shmem_barrier_all();
}

/* --- puts to one word, with a fence between them, are seen in their order ------------------------------------------ */

static void fenced_puts_to_one_word(void) {
  static long word;
  long seen = 0;
  for (long i = 1; i <= rounds; ++i) {
    shmem_p(&word, i, next);
    shmem_fence();
  }
  shmem_quiet();
  while (seen < rounds) {
    shmem_wait_until(&word, SHMEM_CMP_GT, seen);
    const long now = shmem_g(&word, me);
    CHECK(now > seen);
    seen = now;
  }
  CHECK_EQUAL(seen, rounds);
  shmem_barrier_all();
}

/* --- store buffering: of two PEs that put, complete, and get what the other one has put, one at least sees it ------ */

static void store_buffering(void) {
  static long cells[kMostPes][kMostRounds];
  static long theirs;
  const int partner = me ^ 1;
  for (long round = 0; round < rounds; ++round) {
    /* Each pair's two words are anywhere. */
    const int home = (int)((me + round) % pes), other_home = (int)((partner + round) % pes);
    shmem_sync_all();
    if (partner < pes) {
      shmem_p(&cells[me][round], 1, home);
      shmem_quiet();
      const long seen = shmem_g(&cells[partner][round], other_home);
      shmem_p(&theirs, seen + 1, partner);
      shmem_quiet();
      shmem_wait_until(&theirs, SHMEM_CMP_NE, 0);
      CHECK(seen == 1 || theirs == 2);
      theirs = 0;
    }
  }
  shmem_barrier_all();
}

/* --- who has completed what it has put gets that ------------------------------------------------------------------- */

static void own_writes(void) {
  static long words[kMostPes][4];
  long back[4];
  for (long round = 1; round <= rounds; ++round) {
    const shmem_ctx_t ctx = round % 2 == 0 ? SHMEM_CTX_DEFAULT : own_context;
    const int target = (int)((me + round) % pes);
    shmem_p(ctx, &words[me][0], round, target);
    shmem_put_nbi(ctx, &words[me][1], &round, 1, target);
    shmem_atomic_set(ctx, &words[me][2], round, target);
    shmem_atomic_add(ctx, &words[me][3], 1L, target);
    shmem_ctx_quiet(ctx);
    shmem_get(ctx, back, words[me], 4, target);
    for (int i = 0; i < 3; ++i) CHECK_EQUAL(back[i], round);
    CHECK_EQUAL(back[3], (round + pes - 1) / pes);
    CHECK_EQUAL(shmem_g(&words[me][0], target), round);
    CHECK_EQUAL(shmem_atomic_fetch(ctx, &words[me][2], target), round);
  }
  shmem_barrier_all();
}

/* --- atomic operations on one word have one order, which all PEs agree on ------------------------------------------ */

static void tickets(void) {
  static long counter;
  static int taken[kMostPes * kMostRounds];
  long last = -1;
  for (long i = 0; i < rounds; ++i) {
    const long ticket = shmem_atomic_fetch_inc(&counter, 0);
    CHECK(ticket > last && ticket < pes * rounds);
    last = ticket;
    shmem_atomic_inc(&taken[ticket], 0);
  }
  shmem_barrier_all();
  if (me == 0) {
    CHECK_EQUAL(counter, pes * rounds);
    for (long i = 0; i < pes * rounds; ++i) CHECK_EQUAL(taken[i], 1);
  }
  shmem_barrier_all();
}

/* Each name that is swapped in comes out once, but for the last. */
static void chain_of_swaps(void) {
  static long tail;
  static int followed[kMostPes * kMostRounds + 1];
  const int home = pes - 1;
  for (long i = 0; i < rounds; ++i) {
    const long name = me * rounds + i + 1;
    const long previous = shmem_atomic_swap(&tail, name, home);
    CHECK(previous >= 0 && previous <= pes * rounds && previous != name);
    shmem_atomic_inc(&followed[previous], home);
  }
  shmem_barrier_all();
  if (me == home) {
    for (long i = 0; i <= pes * rounds; ++i) CHECK_EQUAL(followed[i], i == tail ? 0 : 1);
  }
  shmem_barrier_all();
}

static void one_wins(void) {
  static long cells[kMostRounds];
  static long wins, winners;
  for (long i = 0; i < rounds; ++i) {
    const int home = (int)(i % pes);
    const long previous = shmem_atomic_compare_swap(&cells[i], 0L, me + 1L, home);
    wins += previous == 0;
    if (previous != 0) CHECK_EQUAL(shmem_atomic_fetch(&cells[i], home), previous);
  }
  shmem_barrier_all();
  CHECK_EQUAL(shmem_sum_reduce(SHMEM_TEAM_WORLD, &winners, &wins, 1), 0);
  CHECK_EQUAL(winners, rounds);
  shmem_barrier_all();
}

/* Who reads a word that only grows sees it grow. */
static void growing_word(void) {
  static long word;
  const int home = 1 % pes;
  if (me == 0) {
    for (long i = 0; i < rounds; ++i) shmem_atomic_add(&word, 2L, home);
    shmem_quiet();
  }
  long seen = 0;
  while (seen < 2 * rounds) {
    const long now = shmem_atomic_fetch(&word, home);
    CHECK(now >= seen && now % 2 == 0);
    seen = now;
  }
  CHECK_EQUAL(seen, 2 * rounds);
  shmem_barrier_all();
}

int main(int argc, char **argv) {
  shmem_init();
  rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 50;
  me = shmem_my_pe();
  pes = shmem_n_pes();
  next = (me + 1) % pes;
  before = (me + pes - 1) % pes;
  CHECK(pes <= kMostPes && rounds > 0 && rounds <= kMostRounds);
  CHECK_EQUAL(shmem_ctx_create(0, &own_context), 0);
  shmem_barrier_all();
  message_passing();
  signalled_puts();
  signals_in_a_row();
  passed_on_messages();
  fenced_puts_to_one_word();
  store_buffering();
  own_writes();
  tickets();
  chain_of_swaps();
  one_wins();
  growing_word();
  shmem_ctx_destroy(own_context);
  return passed("litmus");
}
