/* stripline's OpenSHMEM driver: carries out a plan and prints what it measured.
 *
 *   driver PLAN
 *
 * The plan and what is printed are those of the MPI driver (../main.c), for one variant without
 * variables. It uses nothing but C99 and OpenSHMEM 1.4. All PEs take part in every cell: one that
 * slept would not make the progress that others wait for. Each operation is verified against what a
 * sequential program would have, before and after it is timed. */
#define _POSIX_C_SOURCE 200809L
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../measure.h"

/* Symmetric: at the same address on every PE. */
static long arrived; /* of ping-pongs: the number of the last message */
static long counter; /* of atomic operations */
static long filled;  /* of sorts: keys that have come */
static int well;     /* what a PE has found */
static double time_s;
static double summed;
static double operand;
static long sync_reduce[SHMEM_REDUCE_SYNC_SIZE];
static double work_reduce[SHMEM_REDUCE_MIN_WRKDATA_SIZE];

static long sent; /* ping-pongs so far */

static void fail(const char* what) {
  fprintf(stderr, "driver: PE %d: %s\n", me, what);
  shmem_global_exit(3);
  exit(3);
}

static void run_put(const struct cell* cell) {
  shmem_putmem(target, source, (size_t)cell->bytes, next_rank());
  shmem_quiet();
}

static void run_get(const struct cell* cell) {
  shmem_getmem(target, source, (size_t)cell->bytes, next_rank());
}

/* Many at a time. */
static void run_window(const struct cell* cell) {
  for (int i = 0; i < kWindow; ++i) {
    shmem_putmem_nbi(target + i * cell->bytes, source, (size_t)cell->bytes, next_rank());
  }
  shmem_quiet();
}

/* PEs 0 and 1 answer each other; the others have nothing to do. */
static void run_latency(const struct cell* cell) {
  if (me > 1 || all < 2) return;
  ++sent;
  for (int turn = 0; turn < 2; ++turn) {
    if (turn == me) {
      shmem_putmem(target, source, (size_t)cell->bytes, 1 - me);
      shmem_fence();
      shmem_long_p(&arrived, sent, 1 - me);
    } else {
      shmem_long_wait_until(&arrived, SHMEM_CMP_GE, sent);
    }
  }
}

static void fill_counter(const struct cell* cell) {
  (void)cell;
  counter = 0;
}

static void run_fetch_add(const struct cell* cell) {
  (void)shmem_long_atomic_fetch_add(&counter, 3, next_rank());
}

static int check_counter(const struct cell* cell, char* note) {
  (void)cell;
  if (counter == 3) return 1;
  snprintf(note, kMaxNote, "PE %d: the counter is %ld, not 3", me, counter);
  return 0;
}

/* Programs. All to all, many at a time: */

static void run_outstanding(const struct cell* cell) {
  for (int i = 0; i < kWindow; ++i) {
    for (int k = 1; k <= all; ++k) {
      shmem_putmem_nbi(target + ((long)me * kWindow + i) * cell->bytes, source, (size_t)cell->bytes,
                       (me + k) % all);
    }
  }
  shmem_quiet();
  shmem_barrier_all();
}

/* The halos of a ring, and a sum: */

static void fill_halo(const struct cell* cell) {
  fill_two(cell);
  operand = me + 1;
  summed = 0;
}

static void run_halo(const struct cell* cell) {
  shmem_putmem_nbi(target, source, (size_t)cell->bytes, next_rank());
  shmem_putmem_nbi(target + cell->bytes, source + cell->bytes, (size_t)cell->bytes, rank_before());
  shmem_quiet();
  shmem_barrier_all();
  shmem_double_sum_to_all(&summed, &operand, 1, 0, 0, all, work_reduce, sync_reduce);
  shmem_barrier_all();
}

static int check_halo(const struct cell* cell, char* note) {
  if (summed != all * (all + 1) / 2.0) {
    snprintf(note, kMaxNote, "PE %d: the sum is %g", me, summed);
    return 0;
  }
  return check_two(cell, note);
}

/* A sort of integers by their owners, of which each has room for the keys of all: */

static void fill_sort(const struct cell* cell) {
  /* In buckets by owner, as a program has them after it counted its keys. */
  uint64_t* const keys = (uint64_t*)source;
  long at = 0;
  for (int owner = 0; owner < all; ++owner) {
    for (long i = 0; i < keys_of(cell); ++i) {
      const uint64_t key = key_of(me, i);
      if (owner_of(key) == owner) keys[at++] = key;
    }
  }
  memset(target, 0, target_bytes);
  filled = 0;
}

static void run_sort(const struct cell* cell) {
  const uint64_t* const keys = (const uint64_t*)source;
  const long room = (long)all * keys_of(cell);
  for (long at = 0; at < keys_of(cell);) {
    const int owner = owner_of(keys[at]);
    long end = at;
    long place;
    while (end < keys_of(cell) && owner_of(keys[end]) == owner) ++end;
    place = shmem_long_atomic_fetch_add(&filled, end - at, owner) % room;
    /* Runs that are timed go on where the one before them has ended, around the room for all. */
    if (place + (end - at) > room) place = 0;
    shmem_putmem_nbi(target + place * (long)sizeof(uint64_t), keys + at,
                     (size_t)(end - at) * sizeof(uint64_t), owner);
    at = end;
  }
  shmem_quiet();
  shmem_barrier_all();
}

static int check_sort(const struct cell* cell, char* note) {
  const uint64_t* const keys = (const uint64_t*)target;
  uint64_t sum = 0;
  long wanted = 0;
  for (int from = 0; from < all; ++from) {
    for (long i = 0; i < keys_of(cell); ++i) {
      const uint64_t key = key_of(from, i);
      if (owner_of(key) != me) continue;
      sum += key;
      ++wanted;
    }
  }
  for (long i = 0; i < filled && filled == wanted; ++i) sum -= keys[i];
  if (filled == wanted && sum == 0) return 1;
  snprintf(note, kMaxNote, "PE %d: it has %ld keys of %ld, or others", me, filled, wanted);
  return 0;
}

static const struct operation kOperations[] = {
    {"fetch_add", 0, 0, 0, fill_counter, run_fetch_add, check_counter},
    {"get", 1, 1, 0, fill_one, run_get, check_from_next},
    {"halo", 2, 2, 0, fill_halo, run_halo, check_halo},
    {"latency", 1, 1, 0, fill_one, run_latency, check_latency},
    {"outstanding", 1, kWindow, 1, fill_one, run_outstanding, check_outstanding},
    {"put", 1, 1, 0, fill_one, run_put, check_from_before},
    {"sort", 1, 1, 1, fill_sort, run_sort, check_sort},
    {"window", 1, kWindow, 0, fill_one, run_window, check_window},
    {NULL, 0, 0, 0, NULL, NULL, NULL},
};

/* The note of the first PE that found something wrong is printed by PE 0; others say that it was.
 */
static int verified(const struct operation* operation, const struct cell* cell, char* note) {
  note[0] = '\0';
  operation->fill(cell);
  shmem_barrier_all();
  operation->run(cell);
  shmem_barrier_all();
  well = operation->check(cell, note);
  shmem_barrier_all();
  for (int pe = 1; pe < all && me == 0; ++pe) {
    const int theirs = shmem_int_g(&well, pe);
    if (well && !theirs) snprintf(note, kMaxNote, "PE %d: its data are wrong", pe);
    well = well && theirs;
  }
  shmem_barrier_all();
  if (me != 0) well = shmem_int_g(&well, 0);
  shmem_barrier_all();
  return well;
}

/* The longest of all PEs, on all. */
static double longest(double mine_s) {
  double most_s = mine_s;
  time_s = mine_s;
  shmem_barrier_all();
  for (int pe = 0; pe < all; ++pe) {
    const double other_s = shmem_double_g(&time_s, pe);
    if (other_s > most_s) most_s = other_s;
  }
  shmem_barrier_all();
  return most_s;
}

static double timed(const struct operation* operation, const struct cell* cell) {
  double begin_s;
  shmem_barrier_all();
  begin_s = now_s();
  operation->run(cell);
  return longest(now_s() - begin_s);
}

int main(int argc, char** argv) {
  shmem_init();
  me = shmem_my_pe();
  all = shmem_n_pes();
  start_s = now_s();
  if (argc != 2) fail("usage: driver PLAN");
  for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i) sync_reduce[i] = SHMEM_SYNC_VALUE;
  read_plan(argv[1]);
  size_buffers(kOperations);
  source = shmem_malloc(source_bytes);
  target = shmem_malloc(target_bytes);
  if (source == NULL || target == NULL) fail("the symmetric heap is too small");
  memset(source, 0, source_bytes);
  memset(target, 0, target_bytes);
  shmem_barrier_all();
  carry_out(kOperations);
  shmem_barrier_all();
  if (me == 0) {
    printf("{\"done\":true}\n");
    fflush(stdout);
  }
  shmem_finalize();
  return 0;
}
