/*
 * Times of OpenSHMEM's operations, for a program that scripts/compare.py openshmem builds by the compilers of several
 * implementations: openshmem_times SYSTEM [BATCHES]. Prints a JSON line for each, with the median over batches.
 *
 * Calls of OpenSHMEM 1.4 only, and no generic names: what is compared need not have more. PE 0 reaches PE 1, while the
 * others are in a barrier; collective operations are those of all PEs. What came is checked.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kLarge = 1 << 20, kWords = kLarge / 8, kMostBatches = 1000, kMostCollective = 8192, kMostPes = 16 };

static const char *name_of_system;
static int me, pes, batches;
static long *remote, *source, *target, *sums;
static long counter;
static long collective_sync[SHMEM_COLLECT_SYNC_SIZE + SHMEM_BCAST_SYNC_SIZE + SHMEM_REDUCE_SYNC_SIZE +
                            SHMEM_ALLTOALL_SYNC_SIZE];
static long reduction_work[kMostCollective / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void fail(const char *operation) {
  fprintf(stderr, "%s: the result of %s is wrong on PE %d\n", name_of_system, operation, me);
  exit(8);
}

typedef struct {
  const char *operation;
  size_t bytes;
  int count;                 /* of a batch */
  void (*run)(size_t, int);  /* bytes, count: a batch */
  int (*right)(size_t, int); /* on PE 0 or, of collective operations, on all PEs; NULL: nothing comes */
} Row;

/* --- from PE 0 to PE 1 --------------------------------------------------------------------------------------------- */

static void put(size_t bytes, int count) {
  for (int i = 0; i < count; ++i) {
    shmem_putmem(remote, source, bytes, 1);
    shmem_quiet();
  }
}
static void p(size_t bytes, int count) {
  (void)bytes;
  for (int i = 0; i < count; ++i) {
    shmem_long_p(remote, source[0], 1);
    shmem_quiet();
  }
}
static void get(size_t bytes, int count) {
  for (int i = 0; i < count; ++i) shmem_getmem(target, remote, bytes, 1);
}
static void g(size_t bytes, int count) {
  (void)bytes;
  for (int i = 0; i < count; ++i) target[0] = shmem_long_g(remote, 1);
}
static void puts_of_a_batch(size_t bytes, int count) {
  const size_t words = bytes / 8, places = kWords / words;
  for (int i = 0; i < count; ++i) shmem_putmem_nbi(remote + (size_t)i % places * words, source, bytes, 1);
  shmem_quiet();
}
static void ps_of_a_batch(size_t bytes, int count) {
  (void)bytes;
  for (int i = 0; i < count; ++i) shmem_long_p(&remote[i % kWords], source[0], 1);
  shmem_quiet();
}
static void gets_of_a_batch(size_t bytes, int count) {
  const size_t words = bytes / 8, places = kWords / words;
  for (int i = 0; i < count; ++i) shmem_getmem_nbi(target + (size_t)i % places * words, remote, bytes, 1);
  shmem_quiet();
}
static void fetch_add(size_t bytes, int count) {
  (void)bytes;
  for (int i = 0; i < count; ++i) target[0] = shmem_long_atomic_fetch_add(&counter, 1, 1);
}
static void add(size_t bytes, int count) {
  (void)bytes;
  for (int i = 0; i < count; ++i) shmem_long_atomic_add(&counter, 1, 1);
  shmem_quiet();
}
static void swap(size_t bytes, int count) {
  (void)bytes;
  for (int i = 0; i < count; ++i) target[0] = shmem_long_atomic_swap(&remote[1], i, 1);
}
static void compare_swap(size_t bytes, int count) {
  (void)bytes;
  (void)shmem_long_atomic_swap(&remote[2], 0, 1);
  for (int i = 0; i < count; ++i) target[0] = shmem_long_atomic_compare_swap(&remote[2], i, i + 1, 1);
}

static int put_came(size_t bytes, int count) {
  (void)count;
  static long back[kWords];
  shmem_getmem(back, remote, bytes, 1);
  return memcmp(back, source, bytes) == 0;
}
static int get_came(size_t bytes, int count) {
  (void)count;
  for (size_t i = 0; i < bytes / 8; ++i) {
    if (target[i] != source[i]) return 0;
  }
  return 1;
}
static int counted(size_t bytes, int count) {
  (void)bytes, (void)count;
  static long expected;
  expected += (long)(batches + 1) * count;
  return shmem_long_atomic_fetch(&counter, 1) == expected;
}
static int swapped(size_t bytes, int count) {
  (void)bytes;
  return target[0] == (count > 1 ? count - 2 : 0);
}
static int compared(size_t bytes, int count) {
  (void)bytes;
  return target[0] == count - 1;
}

/* --- of all PEs ---------------------------------------------------------------------------------------------------- */

static void barrier(size_t bytes, int count) {
  (void)bytes;
  for (int i = 0; i < count; ++i) shmem_barrier_all();
}
/* Consecutive ones on the same pSync are separated by a barrier, as the standard has it where roots receive nothing. */
static void broadcast(size_t bytes, int count) {
  for (int i = 0; i < count; ++i) {
    shmem_broadcast64(target, source, bytes / 8, 0, 0, 0, pes, collective_sync);
    shmem_barrier_all();
  }
}
static void reduce(size_t bytes, int count) {
  for (int i = 0; i < count; ++i) {
    shmem_long_sum_to_all(sums, source, (int)(bytes / 8), 0, 0, pes, reduction_work, collective_sync);
    shmem_barrier_all();
  }
}
static void collect(size_t bytes, int count) {
  for (int i = 0; i < count; ++i) {
    shmem_collect64(target, source, bytes / 8, 0, 0, pes, collective_sync);
    shmem_barrier_all();
  }
}
static void fcollect(size_t bytes, int count) {
  for (int i = 0; i < count; ++i) {
    shmem_fcollect64(target, source, bytes / 8, 0, 0, pes, collective_sync);
    shmem_barrier_all();
  }
}
static void alltoall(size_t bytes, int count) {
  for (int i = 0; i < count; ++i) {
    shmem_alltoall64(target, source, bytes / 8, 0, 0, pes, collective_sync);
    shmem_barrier_all();
  }
}

/* All PEs have the same source. */
static int broadcast_came(size_t bytes, int count) { return me == 0 || get_came(bytes, count); }
static int reduced(size_t bytes, int count) {
  (void)count;
  for (size_t i = 0; i < bytes / 8; ++i) {
    if (sums[i] != pes * source[i]) return 0;
  }
  return 1;
}
static int collected(size_t bytes, int count) {
  (void)count;
  for (int pe = 0; pe < pes; ++pe) {
    if (memcmp(target + (size_t)pe * (bytes / 8), source, bytes) != 0) return 0;
  }
  return 1;
}
static int exchanged(size_t bytes, int count) {
  (void)count;
  for (int pe = 0; pe < pes; ++pe) {
    if (memcmp(target + (size_t)pe * (bytes / 8), source + (size_t)me * (bytes / 8), bytes) != 0) return 0;
  }
  return 1;
}

static const Row one_sided[] = {{"put", 8, 200, put, put_came},
                                {"put", 4096, 100, put, put_came},
                                {"p", 8, 200, p, put_came},
                                {"get", 8, 200, get, get_came},
                                {"get", 4096, 100, get, get_came},
                                {"g", 8, 200, g, get_came},
                                {"atomic_fetch_add", 8, 200, fetch_add, counted},
                                {"atomic_add, many", 8, 2000, add, counted},
                                {"atomic_swap", 8, 200, swap, swapped},
                                {"atomic_compare_swap", 8, 200, compare_swap, compared},
                                {"put_nbi, many", 8, 2000, puts_of_a_batch, put_came},
                                {"p, many", 8, 2000, ps_of_a_batch, NULL},
                                {"get_nbi, many", 8, 2000, gets_of_a_batch, get_came},
                                {"put_nbi, many", 65536, 64, puts_of_a_batch, put_came},
                                {"get_nbi, many", 65536, 64, gets_of_a_batch, get_came},
                                {"put_nbi, many", kLarge, 8, puts_of_a_batch, put_came},
                                {"get_nbi, many", kLarge, 8, gets_of_a_batch, get_came}};

static const Row collectives[] = {{"barrier_all", 0, 100, barrier, NULL},
                                  {"broadcast and barrier", 8, 50, broadcast, broadcast_came},
                                  {"broadcast and barrier", 65536, 20, broadcast, broadcast_came},
                                  {"sum_to_all and barrier", 8, 50, reduce, reduced},
                                  {"sum_to_all and barrier", 65536, 20, reduce, reduced},
                                  {"collect and barrier", 1024, 50, collect, collected},
                                  {"fcollect and barrier", 8, 50, fcollect, collected},
                                  {"fcollect and barrier", 65536, 20, fcollect, collected},
                                  {"alltoall and barrier", 8, 50, alltoall, exchanged},
                                  {"alltoall and barrier", 65536, 20, alltoall, exchanged}};

static void measure(const Row *row, int all) {
  static double times[kMostBatches];
  /* What get and g are to find. */
  memcpy(remote, source, kLarge);
  memset(target, 0, (size_t)pes * kLarge);
  shmem_barrier_all();
  for (int batch = -1; batch < batches; ++batch) { /* the first one is not counted */
    if (all) shmem_barrier_all();
    if (!all && me != 0) break;
    const double begun = now();
    row->run(row->bytes, row->count);
    if (batch >= 0) times[batch] = (now() - begun) / row->count;
  }
  if (row->right != NULL && (all || me == 0) && !row->right(row->bytes, row->count)) fail(row->operation);
  shmem_barrier_all();
  if (me != 0) return;
  qsort(times, (size_t)batches, sizeof *times, by_size);
  printf("{\"system\":\"%s\",\"operation\":\"%s\",\"bytes\":%zu,\"ranks\":%d,\"median_s\":%.9g}\n", name_of_system,
         row->operation, row->bytes, pes, times[batches / 2]);
}

int main(int argc, char **argv) {
  name_of_system = argc > 1 ? argv[1] : "openshmem";
  batches = argc > 2 ? atoi(argv[2]) : 20;
  shmem_init();
  me = shmem_my_pe();
  pes = shmem_n_pes();
  if (pes < 2 || pes > kMostPes || batches < 1 || batches > kMostBatches) {
    fprintf(stderr, "openshmem_times SYSTEM [BATCHES], with 2 to %d PEs and 1 to %d batches\n", kMostPes, kMostBatches);
    return 2;
  }
  for (size_t i = 0; i < sizeof collective_sync / sizeof *collective_sync; ++i) collective_sync[i] = SHMEM_SYNC_VALUE;
  remote = shmem_malloc(kLarge);
  source = shmem_malloc(kLarge);
  sums = shmem_malloc(kLarge);
  target = shmem_malloc((size_t)pes * kLarge);
  if (remote == NULL || source == NULL || sums == NULL || target == NULL) {
    fprintf(stderr, "%s: the heap has no %d MiB\n", name_of_system, 3 + pes);
    return 4;
  }
  for (long i = 0; i < kWords; ++i) source[i] = i % 512 + 3;
  shmem_barrier_all();
  for (size_t i = 0; i < sizeof one_sided / sizeof *one_sided; ++i) measure(&one_sided[i], 0);
  for (size_t i = 0; i < sizeof collectives / sizeof *collectives; ++i) measure(&collectives[i], 1);
  shmem_barrier_all();
  fflush(stdout);
  shmem_finalize();
  return 0;
}
