/* Collective operations and teams, waits and locks. With the argument "multiple", of the thread level of that name. */
#include <complex.h>
#include <string.h>

#include "check.h"

enum { kMost = 16, kCount = 300 };
static int in[kMost * kCount], out[kMost * kCount];
static long sync_array[SHMEM_SYNC_SIZE];

static int value(int pe, int i) { return pe * 1000 + i; }

static void clear(void) {
  shmem_barrier_all();
  for (int i = 0; i < kMost * kCount; ++i) out[i] = -1;
  shmem_barrier_all();
}

static void on_team(shmem_team_t team) {
  const int me = shmem_team_my_pe(team), pes = shmem_team_n_pes(team);
  const int sizes[] = {1, 5, kCount};
  for (unsigned k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
    const int count = sizes[k];
    for (int i = 0; i < kMost * kCount; ++i) out[i] = -1;
    for (int i = 0; i < count * pes; ++i) in[i] = value(me, i);
    shmem_sync(team);

    for (int root = 0; root < pes; ++root) {
      CHECK_EQUAL(shmem_broadcast(team, out, in, (size_t)count, root), 0);
      for (int i = 0; i < count; ++i) CHECK_EQUAL(out[i], value(root, i));
      shmem_sync(team);
    }
    CHECK_EQUAL(shmem_fcollect(team, out, in, (size_t)count), 0);
    for (int i = 0; i < count * pes; ++i) CHECK_EQUAL(out[i], value(i / count, i % count));
    shmem_sync(team);
    /* PE r gives r elements: the first nothing. */
    CHECK_EQUAL(shmem_collect(team, out, in, (size_t)me), 0);
    int at = 0;
    for (int pe = 0; pe < pes; ++pe) {
      for (int i = 0; i < pe; ++i, ++at) CHECK_EQUAL(out[at], value(pe, i));
    }
    shmem_sync(team);
    CHECK_EQUAL(shmem_alltoall(team, out, in, (size_t)count), 0);
    for (int i = 0; i < count * pes; ++i) CHECK_EQUAL(out[i], value(i / count, me * count + i % count));
    shmem_sync(team);
    if (count * 2 <= kCount) {
      for (int i = 0; i < 2 * count * pes; ++i) in[i] = value(me, i);
      CHECK_EQUAL(shmem_alltoalls(team, out, in, 2, 2, (size_t)count), 0);
      for (int i = 0; i < count * pes; ++i) {
        CHECK_EQUAL(out[2 * i], value(i / count, 2 * (me * count + i % count)));
      }
      shmem_sync(team);
    }

    for (int i = 0; i < count; ++i) in[i] = value(me, i);
    shmem_sync(team);
    CHECK_EQUAL(shmem_sum_reduce(team, out, in, (size_t)count), 0);
    for (int i = 0; i < count; ++i) CHECK_EQUAL(out[i], 1000 * pes * (pes - 1) / 2 + pes * i);
    CHECK_EQUAL(shmem_max_reduce(team, out, in, (size_t)count), 0);
    for (int i = 0; i < count; ++i) CHECK_EQUAL(out[i], value(pes - 1, i));
    CHECK_EQUAL(shmem_min_reduce(team, in, in, (size_t)count), 0); /* in place */
    for (int i = 0; i < count; ++i) CHECK_EQUAL(in[i], value(0, i));
    for (int i = 0; i < count; ++i) in[i] = me + 1;
    CHECK_EQUAL(shmem_prod_reduce(team, out, in, (size_t)count), 0);
    int product = 1;
    for (int pe = 0; pe < pes; ++pe) product *= pe + 1;
    CHECK_EQUAL(out[count - 1], product);
    CHECK_EQUAL(shmem_or_reduce(team, out, in, (size_t)count), 0);
    int either = 0;
    for (int pe = 0; pe < pes; ++pe) either |= pe + 1;
    CHECK_EQUAL(out[count - 1], either);
    CHECK_EQUAL(shmem_sum_inscan(team, out, in, (size_t)count), 0);
    CHECK_EQUAL(out[count - 1], (me + 1) * (me + 2) / 2);
    CHECK_EQUAL(shmem_sum_exscan(team, out, in, (size_t)count), 0);
    CHECK_EQUAL(out[count - 1], me * (me + 1) / 2);
    shmem_sync(team);
  }
  static double _Complex complex_in[2], complex_out[2];
  complex_in[1] = 1 + me * I;
  shmem_sync(team);
  CHECK_EQUAL(shmem_sum_reduce(team, complex_out, complex_in, 2), 0);
  CHECK(creal(complex_out[1]) == pes && cimag(complex_out[1]) == pes * (pes - 1) / 2.0);
  static long double wide_in, wide_out;
  wide_in = me;
  shmem_sync(team);
  CHECK_EQUAL(shmem_max_reduce(team, &wide_out, &wide_in, 1), 0);
  CHECK(wide_out == pes - 1);
  static signed char narrow_in[3], narrow_out[3];
  narrow_in[2] = (signed char)-me;
  shmem_sync(team);
  CHECK_EQUAL(shmem_min_reduce(team, narrow_out, narrow_in, 3), 0);
  CHECK_EQUAL(narrow_out[2], 1 - pes);
  shmem_sync(team);
}

static void teams(void) {
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  on_team(SHMEM_TEAM_WORLD);
  CHECK(shmem_team_my_pe(SHMEM_TEAM_SHARED) >= 0);
  for (int pe = 0; pe < shmem_team_n_pes(SHMEM_TEAM_SHARED); ++pe) {
    CHECK(shmem_team_ptr(SHMEM_TEAM_SHARED, in, pe) != NULL);
  }
  int reached = 0;
  for (int pe = 0; pe < pes; ++pe) reached += shmem_ptr(in, pe) != NULL;
  CHECK_EQUAL(shmem_team_n_pes(SHMEM_TEAM_SHARED), reached);
  shmem_team_t even = SHMEM_TEAM_INVALID, x = SHMEM_TEAM_INVALID, y = SHMEM_TEAM_INVALID;
  shmem_team_config_t config = {.num_contexts = 3};
  CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (pes + 1) / 2, &config,
                                       SHMEM_TEAM_NUM_CONTEXTS, &even), 0);
  CHECK((even == SHMEM_TEAM_INVALID) == (me % 2 == 1));
  CHECK_EQUAL(shmem_team_my_pe(even), me % 2 == 1 ? -1 : me / 2);
  if (even != SHMEM_TEAM_INVALID) {
    config.num_contexts = 0;
    CHECK_EQUAL(shmem_team_get_config(even, SHMEM_TEAM_NUM_CONTEXTS, &config), 0);
    CHECK_EQUAL(config.num_contexts, 3);
    on_team(even);
    shmem_team_destroy(even);
  }
  CHECK_EQUAL(shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &x, NULL, 0, &y), 0);
  CHECK_EQUAL(shmem_team_my_pe(x), me % 2);
  CHECK_EQUAL(shmem_team_my_pe(y), me / 2);
  on_team(x);
  on_team(y);
  shmem_team_destroy(y);
  shmem_team_destroy(x);
  CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes + 1, NULL, 0, &x) != 0);
  CHECK(x == SHMEM_TEAM_INVALID);
  CHECK(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &x) != 0);
  CHECK(shmem_broadcast(SHMEM_TEAM_INVALID, out, in, 1, 0) != 0);
}

/* The same again and again on sets that overlap. */
static void active_sets(void) {
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  static int work[kCount];
  for (int round = 0; round < 3; ++round) {
    for (int log_stride = 0; log_stride < 2; ++log_stride) {
      const int stride = 1 << log_stride;
      for (int start = 0; start < pes; ++start) {
        const int size = (pes - start + stride - 1) / stride;
        clear();
        if (me < start || (me - start) % stride != 0) continue;
        const int index = (me - start) / stride;
        for (int i = 0; i < kCount; ++i) in[i] = value(index, i);
        shmem_barrier(start, log_stride, size, sync_array);
        shmem_int_sum_to_all(out, in, 7, start, log_stride, size, work, sync_array);
        for (int i = 0; i < 7; ++i) CHECK_EQUAL(out[i], 1000 * size * (size - 1) / 2 + size * i);
        shmem_sync(start, log_stride, size, sync_array);
        out[0] = -7;
        shmem_broadcast32(out, in, 3, size - 1, start, log_stride, size, sync_array);
        CHECK_EQUAL(out[0], index == size - 1 ? -7 : value(size - 1, 0));
        shmem_sync(start, log_stride, size, sync_array);
        shmem_fcollect32(out, in, 2, start, log_stride, size, sync_array);
        CHECK_EQUAL(out[2 * size - 1], value(size - 1, 1));
        shmem_sync(start, log_stride, size, sync_array);
        shmem_collect32(out, in, (size_t)index + 1, start, log_stride, size, sync_array);
        CHECK_EQUAL(out[size * (size + 1) / 2 - 1], value(size - 1, size - 1));
        shmem_sync(start, log_stride, size, sync_array);
        shmem_alltoall32(out, in, 1, start, log_stride, size, sync_array);
        CHECK_EQUAL(out[size - 1], value(size - 1, index));
        shmem_barrier(start, log_stride, size, sync_array);
      }
    }
  }
}

static void waits(void) {
  static int flags[8], status[8];
  static size_t indices[8];
  const int me = shmem_my_pe(), pes = shmem_n_pes(), next = (me + 1) % pes;
  const int values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  shmem_barrier_all();
  CHECK_EQUAL(shmem_test(&flags[0], SHMEM_CMP_NE, 0), 0);
  CHECK_EQUAL(shmem_test_any(flags, 8, NULL, SHMEM_CMP_NE, 0), SIZE_MAX);
  CHECK_EQUAL(shmem_test_some(flags, 8, indices, NULL, SHMEM_CMP_NE, 0), 0);
  CHECK_EQUAL(shmem_wait_until_any(flags, 0, NULL, SHMEM_CMP_NE, 0), SIZE_MAX);
  shmem_wait_until_all(flags, 8, NULL, SHMEM_CMP_EQ, 0);
  shmem_barrier_all();
  for (int i = 0; i < 8; ++i) shmem_p(&flags[i], i + 1, next);
  shmem_quiet();
  shmem_wait_until(&flags[7], SHMEM_CMP_EQ, 8);
  shmem_wait_until_all_vector(flags, 8, NULL, SHMEM_CMP_EQ, values);
  CHECK_EQUAL(shmem_test_all_vector(flags, 8, NULL, SHMEM_CMP_EQ, values), 1);
  const size_t above_five = shmem_wait_until_any(flags, 8, NULL, SHMEM_CMP_GT, 5);
  CHECK(above_five >= 5 && above_five < 8);
  CHECK_EQUAL(shmem_wait_until_some(flags, 8, indices, NULL, SHMEM_CMP_LE, 2), 2);
  CHECK_EQUAL(indices[1], 1);
  for (int i = 0; i < 6; ++i) status[i] = 1;
  CHECK_EQUAL(shmem_wait_until_any(flags, 8, status, SHMEM_CMP_LE, 7), 6);
  CHECK_EQUAL(shmem_test_all(flags, 8, status, SHMEM_CMP_GE, 7), 1);
  CHECK_EQUAL(shmem_test_all(flags, 8, status, SHMEM_CMP_LT, 7), 0);
  shmem_barrier_all();
}

/* As programs for OpenSHMEM 1.3 declare what they wait for. */
static void volatile_flags(void) {
  static volatile long flags[2];
  static const long values[2] = {4, 5};
  size_t indices[2];
  const int next = (shmem_my_pe() + 1) % shmem_n_pes();
  shmem_barrier_all();
  for (int i = 0; i < 2; ++i) shmem_p((long *)&flags[i], values[i], next);
  shmem_quiet();
  shmem_wait_until(&flags[1], SHMEM_CMP_EQ, 5);
  shmem_wait_until_all(flags, 2, NULL, SHMEM_CMP_GE, 4);
  CHECK_EQUAL(shmem_wait_until_any(flags, 2, NULL, SHMEM_CMP_EQ, 5), 1);
  CHECK_EQUAL(shmem_wait_until_some(flags, 2, indices, NULL, SHMEM_CMP_GE, 4), 2);
  shmem_wait_until_all_vector(flags, 2, NULL, SHMEM_CMP_EQ, values);
  CHECK_EQUAL(shmem_test(flags, SHMEM_CMP_EQ, 4), 1);
  CHECK_EQUAL(shmem_test_all(flags, 2, NULL, SHMEM_CMP_EQ, 4), 0);
  CHECK_EQUAL(shmem_test_some_vector(flags, 2, indices, NULL, SHMEM_CMP_EQ, values), 2);
  shmem_barrier_all();
}

static size_t any_of(int how, int *flags) {
  static const int values[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  switch (how) {
    case 0:
      return shmem_wait_until_any(flags, 8, NULL, SHMEM_CMP_EQ, 1);
    case 1:
      return shmem_test_any(flags, 8, NULL, SHMEM_CMP_EQ, 1);
    case 2:
      return shmem_wait_until_any_vector(flags, 8, NULL, SHMEM_CMP_EQ, values);
    default:
      return shmem_test_any_vector(flags, 8, NULL, SHMEM_CMP_EQ, values);
  }
}

/* Who asks again and again is given each of those that hold, though it excludes none, of two arrays in turn, too. */
static void each_is_found(void) {
  static int flags[2][8];
  const int next = (shmem_my_pe() + 1) % shmem_n_pes();
  shmem_barrier_all();
  for (int i = 0; i < 8; ++i) {
    shmem_p(&flags[0][i], 1, next);
    shmem_p(&flags[1][i], i % 2, next);
  }
  shmem_barrier_all();
  for (int how = 0; how < 4; ++how) {
    unsigned found = 0, others = 0;
    for (int i = 0; i < 8; ++i) found |= 1U << any_of(how, flags[0]);
    CHECK_EQUAL(found, 0xff);
    found = 0;
    for (int i = 0; i < 400; ++i) {
      found |= 1U << any_of(how, flags[0]);
      others |= 1U << any_of(how, flags[1]);
    }
    CHECK_EQUAL(found, 0xff);
    CHECK_EQUAL(others, 0xaa);
  }
  shmem_barrier_all();
}

/* Small puts leave before their PE waits in another call, and who looks at its own memory in a loop gets on. */
static void waits_for_others(void) {
  static long go, arrived, answer, one;
  static uint64_t last;
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  shmem_barrier_all();
  for (long i = 1; i <= 20; ++i) {
    one = 1;
    if (me == 0) {
      for (int pe = 1; pe < pes; ++pe) shmem_p(&go, i, pe);
    } else {
      shmem_wait_until(&go, SHMEM_CMP_GE, i);
    }
    shmem_sum_reduce(SHMEM_TEAM_WORLD, &answer, &one, 1);
    CHECK_EQUAL(answer, pes);
    for (int pe = 0; pe < pes; ++pe) shmem_atomic_inc(&arrived, pe);
    if (i % 2 == 0) {
      while (shmem_atomic_fetch(&arrived, me) < i * pes) {
      }
    } else {
      while (shmem_g(&arrived, me) < i * pes) {
      }
    }
    shmem_signal_set(&last, (uint64_t)i, (me + 1) % pes);
    while (shmem_signal_fetch(&last) < (uint64_t)i) {
    }
    shmem_barrier_all();
  }
}

/* Without the lock, sums would be lost. */
static void locks(void) {
  static long lock, other_lock, sum;
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  shmem_barrier_all();
  for (int i = 0; i < 50; ++i) {
    if (i % 5 == 0) {
      while (shmem_test_lock(&lock) != 0) {
      }
    } else {
      shmem_set_lock(&lock);
    }
    shmem_p(&sum, shmem_g(&sum, 0) + 1, 0);
    shmem_clear_lock(&lock);
  }
  shmem_barrier_all();
  if (me == 0) CHECK_EQUAL(sum, 50 * pes);
  CHECK_EQUAL(lock, 0);
  if (me == 0) shmem_set_lock(&other_lock);
  shmem_barrier_all();
  if (me != 0) CHECK_EQUAL(shmem_test_lock(&other_lock), 1);
  shmem_barrier_all();
  if (me == 0) shmem_clear_lock(&other_lock);
  shmem_barrier_all();
}

/* Those who wait for a lock get it in the order in which they have asked for it. That a PE has asked is seen by the word
 * of the one before it in the queue, whose lower half then has its number, plus one (shmem/locks.cc). */
static void wait_until_asked(const long *lock, int pe) {
  uint32_t after = 0;
  while (after != (uint32_t)pe + 1) {
    const long word = shmem_g(lock, pe - 1);
    memcpy(&after, &word, sizeof after);
  }
}

static void locks_are_handed_on_in_order(void) {
  static long lock, turns;
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  for (int round = 1; round <= 3; ++round) {
    shmem_barrier_all();
    if (me == 0) shmem_set_lock(&lock);
    shmem_barrier_all();
    if (me > 0) {
      if (me > 1) wait_until_asked(&lock, me - 1);
      shmem_set_lock(&lock);
    } else if (pes > 1) {
      wait_until_asked(&lock, pes - 1);
    }
    CHECK_EQUAL(shmem_atomic_fetch_inc(&turns, 0), (round - 1) * pes + me);
    shmem_clear_lock(&lock);
  }
  shmem_barrier_all();
}

int main(int argc, char **argv) {
  const int wanted = argc > 1 && strcmp(argv[1], "multiple") == 0 ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE;
  int provided = -1;
  CHECK_EQUAL(shmem_init_thread(wanted, &provided), 0);
  CHECK_EQUAL(provided, wanted);
  teams();
  active_sets();
  waits();
  volatile_flags();
  each_is_found();
  waits_for_others();
  locks();
  locks_are_handed_on_in_order();
  return passed("collectives");
}
