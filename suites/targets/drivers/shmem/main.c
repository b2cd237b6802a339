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
#include <time.h>

enum { kMaxName = 64, kMostCells = 4096, kMostRepetitions = 1000, kWindow = 16 };

struct cell {
  char operation[kMaxName];
  int pes;
  long bytes;
  char type[kMaxName];
  int in_place;
};

static struct {
  int run;
  unsigned seed;
  int repetitions;
  double budget_s;
  int cells;
  struct cell cell[kMostCells];
} plan = {0, 1, 10, 0.01, 0, {{"", 0, 0, "", 0}}};

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
static unsigned char* source;
static unsigned char* target;

static int me;
static int all;
static double start_s;
static long sent; /* ping-pongs so far */

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void fail(const char* what) {
  fprintf(stderr, "driver: PE %d: %s\n", me, what);
  shmem_global_exit(3);
  exit(3);
}

/* Every PE reads it: they are on one node. */
static void read_plan(const char* path) {
  FILE* const file = fopen(path, "r");
  static char line[65536];
  if (file == NULL) fail("cannot read the plan");
  while (fgets(line, sizeof line, file) != NULL) {
    char word[kMaxName] = "";
    struct cell* const cell = &plan.cell[plan.cells];
    sscanf(line, "%63s", word);
    if (strcmp(word, "run") == 0) {
      sscanf(line, "run %d", &plan.run);
    } else if (strcmp(word, "seed") == 0) {
      sscanf(line, "seed %u", &plan.seed);
    } else if (strcmp(word, "repetitions") == 0) {
      sscanf(line, "repetitions %d", &plan.repetitions);
    } else if (strcmp(word, "budget") == 0) {
      sscanf(line, "budget %lf", &plan.budget_s);
    } else if (strcmp(word, "cell") == 0) {
      if (plan.cells == kMostCells) fail("the plan has too many cells");
      if (sscanf(line, "cell %63s %d %ld %63s %d", cell->operation, &cell->pes, &cell->bytes,
                 cell->type, &cell->in_place) != 5) {
        fail("a cell is malformed");
      }
      if (cell->pes != all) fail("a cell needs another number of PEs");
      if (cell->bytes < 0) fail("a cell is malformed");
      ++plan.cells;
    } else if (strcmp(word, "variant") != 0 && word[0] != '\0') {
      fail("the plan has an unknown line");
    }
  }
  fclose(file);
  if (plan.repetitions < 3) plan.repetitions = 3;
  if (plan.repetitions > kMostRepetitions) plan.repetitions = kMostRepetitions;
}

/* What elements hold. */
static unsigned char datum(int from, long index, long salt) {
  return (unsigned char)(from * 131 + index * 7 + salt * 29 + 1);
}

static void put_data(unsigned char* to, long bytes, int from, long salt) {
  for (long i = 0; i < bytes; ++i) to[i] = datum(from, i, salt);
}

static int has_data(const unsigned char* at, long bytes, int from, long salt, char* note) {
  for (long i = 0; i < bytes; ++i) {
    if (at[i] == datum(from, i, salt)) continue;
    snprintf(note, kMaxName * 2, "PE %d: byte %ld of what PE %d had is wrong", me, i, from);
    return 0;
  }
  return 1;
}

static int next_of(const struct cell* cell) { return (me + 1) % cell->pes; }
static int before(const struct cell* cell) { return (me + cell->pes - 1) % cell->pes; }

/* Operations: what they need of `source` and `target`, what is in them before, and after. */

struct operation {
  const char* name;
  long (*source_bytes)(const struct cell* cell);
  long (*target_bytes)(const struct cell* cell);
  void (*fill)(const struct cell* cell);
  void (*run)(const struct cell* cell);
  int (*check)(const struct cell* cell, char* note);
};

static long one_block(const struct cell* cell) { return cell->bytes; }
static long nothing(const struct cell* cell) {
  (void)cell;
  return 0;
}

static void fill_pair(const struct cell* cell) {
  put_data(source, cell->bytes, me, 0);
  memset(target, 0xee, (size_t)cell->bytes);
}

static void run_put(const struct cell* cell) {
  shmem_putmem(target, source, (size_t)cell->bytes, next_of(cell));
  shmem_quiet();
}

static int check_put(const struct cell* cell, char* note) {
  return has_data(target, cell->bytes, before(cell), 0, note);
}

static void run_get(const struct cell* cell) {
  shmem_getmem(target, source, (size_t)cell->bytes, next_of(cell));
}

static int check_get(const struct cell* cell, char* note) {
  return has_data(target, cell->bytes, next_of(cell), 0, note);
}

static long window_target(const struct cell* cell) { return kWindow * cell->bytes; }

static void fill_window(const struct cell* cell) {
  put_data(source, cell->bytes, me, 0);
  memset(target, 0xee, (size_t)window_target(cell));
}

/* Many at a time. */
static void run_window(const struct cell* cell) {
  for (int i = 0; i < kWindow; ++i) {
    shmem_putmem_nbi(target + i * cell->bytes, source, (size_t)cell->bytes, next_of(cell));
  }
  shmem_quiet();
}

static int check_window(const struct cell* cell, char* note) {
  for (int i = 0; i < kWindow; ++i) {
    if (!has_data(target + i * cell->bytes, cell->bytes, before(cell), 0, note)) return 0;
  }
  return 1;
}

/* PEs 0 and 1 answer each other; the others have nothing to do. */
static void run_latency(const struct cell* cell) {
  if (me > 1 || cell->pes < 2) return;
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

static int check_latency(const struct cell* cell, char* note) {
  return me > 1 || cell->pes < 2 || has_data(target, cell->bytes, 1 - me, 0, note);
}

static void fill_counter(const struct cell* cell) {
  (void)cell;
  counter = 0;
}

static void run_fetch_add(const struct cell* cell) {
  (void)shmem_long_atomic_fetch_add(&counter, 3, next_of(cell));
}

static int check_counter(const struct cell* cell, char* note) {
  (void)cell;
  if (counter == 3) return 1;
  snprintf(note, kMaxName * 2, "PE %d: the counter is %ld, not 3", me, counter);
  return 0;
}

/* Programs. All to all, many at a time: */

static long outstanding_target(const struct cell* cell) {
  return (long)cell->pes * kWindow * cell->bytes;
}

static void fill_outstanding(const struct cell* cell) {
  put_data(source, cell->bytes, me, 0);
  memset(target, 0xee, (size_t)outstanding_target(cell));
}

static void run_outstanding(const struct cell* cell) {
  for (int i = 0; i < kWindow; ++i) {
    for (int k = 1; k <= cell->pes; ++k) {
      shmem_putmem_nbi(target + ((long)me * kWindow + i) * cell->bytes, source, (size_t)cell->bytes,
                       (me + k) % cell->pes);
    }
  }
  shmem_quiet();
  shmem_barrier_all();
}

static int check_outstanding(const struct cell* cell, char* note) {
  for (int from = 0; from < cell->pes; ++from) {
    for (int i = 0; i < kWindow; ++i) {
      if (!has_data(target + ((long)from * kWindow + i) * cell->bytes, cell->bytes, from, 0,
                    note)) {
        return 0;
      }
    }
  }
  return 1;
}

/* The halos of a ring, and a sum: */

static long two_blocks(const struct cell* cell) { return 2 * cell->bytes; }

static void fill_halo(const struct cell* cell) {
  put_data(source, cell->bytes, me, 1);
  put_data(source + cell->bytes, cell->bytes, me, 2);
  memset(target, 0xee, 2 * (size_t)cell->bytes);
  operand = me + 1;
  summed = 0;
}

static void run_halo(const struct cell* cell) {
  shmem_putmem_nbi(target, source, (size_t)cell->bytes, next_of(cell));
  shmem_putmem_nbi(target + cell->bytes, source + cell->bytes, (size_t)cell->bytes, before(cell));
  shmem_quiet();
  shmem_barrier_all();
  shmem_double_sum_to_all(&summed, &operand, 1, 0, 0, cell->pes, work_reduce, sync_reduce);
  shmem_barrier_all();
}

static int check_halo(const struct cell* cell, char* note) {
  if (summed != cell->pes * (cell->pes + 1) / 2.0) {
    snprintf(note, kMaxName * 2, "PE %d: the sum is %g", me, summed);
    return 0;
  }
  return has_data(target, cell->bytes, before(cell), 1, note) &&
         has_data(target + cell->bytes, cell->bytes, next_of(cell), 2, note);
}

/* A sort of integers by their owners, of which each has room for the keys of all: */

static long keys_of(const struct cell* cell) { return cell->bytes / (long)sizeof(uint64_t); }
static long sort_target(const struct cell* cell) { return (long)cell->pes * cell->bytes; }

static uint64_t key_of(int from, long index) {
  uint64_t x = (uint64_t)from * 0x9e3779b97f4a7c15u + (uint64_t)index + 1;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static void fill_sort(const struct cell* cell) {
  /* In buckets by owner, as a program has them after it counted its keys. */
  uint64_t* const keys = (uint64_t*)source;
  long at = 0;
  for (int owner = 0; owner < cell->pes; ++owner) {
    for (long i = 0; i < keys_of(cell); ++i) {
      const uint64_t key = key_of(me, i);
      if (key % (uint64_t)cell->pes == (uint64_t)owner) keys[at++] = key;
    }
  }
  memset(target, 0, (size_t)sort_target(cell));
  filled = 0;
}

static void run_sort(const struct cell* cell) {
  const uint64_t* const keys = (const uint64_t*)source;
  const uint64_t pes = (uint64_t)cell->pes;
  for (long at = 0; at < keys_of(cell);) {
    const int owner = (int)(keys[at] % pes);
    long end = at;
    long place;
    while (end < keys_of(cell) && keys[end] % pes == (uint64_t)owner) ++end;
    place = shmem_long_atomic_fetch_add(&filled, end - at, owner) % (pes * keys_of(cell));
    /* Runs that are timed go on where the one before them has ended, around the room for all. */
    if (place + (end - at) > (long)pes * keys_of(cell)) place = 0;
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
  for (int from = 0; from < cell->pes; ++from) {
    for (long i = 0; i < keys_of(cell); ++i) {
      const uint64_t key = key_of(from, i);
      if (key % (uint64_t)cell->pes != (uint64_t)me) continue;
      sum += key;
      ++wanted;
    }
  }
  for (long i = 0; i < filled && filled == wanted; ++i) sum -= keys[i];
  if (filled == wanted && sum == 0) return 1;
  snprintf(note, kMaxName * 2, "PE %d: it has %ld keys of %ld, or others", me, filled, wanted);
  return 0;
}

static const struct operation kOperations[] = {
    {"fetch_add", nothing, nothing, fill_counter, run_fetch_add, check_counter},
    {"get", one_block, one_block, fill_pair, run_get, check_get},
    {"halo", two_blocks, two_blocks, fill_halo, run_halo, check_halo},
    {"latency", one_block, one_block, fill_pair, run_latency, check_latency},
    {"outstanding", one_block, outstanding_target, fill_outstanding, run_outstanding,
     check_outstanding},
    {"put", one_block, one_block, fill_pair, run_put, check_put},
    {"sort", one_block, sort_target, fill_sort, run_sort, check_sort},
    {"window", one_block, window_target, fill_window, run_window, check_window},
};

static const struct operation* operation_of(const char* name) {
  for (size_t i = 0; i < sizeof kOperations / sizeof kOperations[0]; ++i) {
    if (strcmp(kOperations[i].name, name) == 0) return &kOperations[i];
  }
  fail("the plan has an unknown operation");
  return NULL;
}

static void print_point(const struct cell* cell) {
  printf(
      "{\"experiment\":\"target.%s\",\"variant\":\"0\",\"params\":{\"ranks\":%d,\"bytes\":%ld,"
      "\"type\":\"%s\",\"in_place\":%d}}",
      cell->operation, cell->pes, cell->bytes, cell->type, cell->in_place);
}

static void print_next(const struct cell* cell) {
  printf("{\"at\":");
  print_point(cell);
  printf("}\n");
  fflush(stdout);
}

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
  for (int pe = 1; pe < cell->pes && me == 0; ++pe) {
    const int theirs = shmem_int_g(&well, pe);
    if (well && !theirs) snprintf(note, kMaxName * 2, "PE %d: its data are wrong", pe);
    well = well && theirs;
  }
  shmem_barrier_all();
  if (me != 0) well = shmem_int_g(&well, 0);
  shmem_barrier_all();
  return well;
}

/* The longest of all PEs, on all. */
static double longest(const struct cell* cell, double mine_s) {
  double most_s = mine_s;
  time_s = mine_s;
  shmem_barrier_all();
  for (int pe = 0; pe < cell->pes; ++pe) {
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
  return longest(cell, now_s() - begin_s);
}

static void measure(const struct cell* cell) {
  const struct operation* const operation = operation_of(cell->operation);
  static double times[kMostRepetitions];
  static double ends[kMostRepetitions];
  char note[kMaxName * 2];
  int repetitions = plan.repetitions;
  int right;
  double once_s;
  double second_s;
  double said_s;
  if (me == 0) print_next(cell);
  right = verified(operation, cell, note);
  once_s = timed(operation, cell);
  second_s = timed(operation, cell);
  if (second_s < once_s) once_s = second_s;
  if (once_s * repetitions > plan.budget_s) repetitions = (int)(plan.budget_s / once_s);
  if (repetitions < 3) repetitions = 3;
  said_s = now_s();
  for (int i = 0; i < repetitions && right; ++i) {
    times[i] = timed(operation, cell);
    ends[i] = now_s();
    if (me == 0 && ends[i] - said_s > 1) {
      print_next(cell);
      said_s = ends[i];
    }
  }
  if (right) right = verified(operation, cell, note);
  if (me != 0) return;
  printf("{\"point\":");
  print_point(cell);
  printf(",\"run\":%d,\"values\":[", plan.run);
  for (int i = 0; i < repetitions && right; ++i) printf("%s%.9e", i > 0 ? "," : "", times[i]);
  printf("],\"timestamps_s\":[");
  for (int i = 0; i < repetitions && right; ++i) {
    printf("%s%.6f", i > 0 ? "," : "", ends[i] - start_s);
  }
  printf("],\"warmup_dropped\":1,\"stop_reason\":\"%s\",\"verified\":%s,\"note\":\"%s\"}\n",
         repetitions >= plan.repetitions ? "max_reps" : "time_budget", right ? "true" : "false",
         note);
  fflush(stdout);
}

int main(int argc, char** argv) {
  long source_bytes = 64;
  long target_bytes = 64;
  shmem_init();
  me = shmem_my_pe();
  all = shmem_n_pes();
  start_s = now_s();
  if (argc != 2) fail("usage: driver PLAN");
  for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i) sync_reduce[i] = SHMEM_SYNC_VALUE;
  read_plan(argv[1]);
  for (int i = 0; i < plan.cells; ++i) {
    const struct operation* const operation = operation_of(plan.cell[i].operation);
    const long of_source = operation->source_bytes(&plan.cell[i]);
    const long of_target = operation->target_bytes(&plan.cell[i]);
    if (of_source > source_bytes) source_bytes = of_source;
    if (of_target > target_bytes) target_bytes = of_target;
  }
  source = shmem_malloc((size_t)source_bytes);
  target = shmem_malloc((size_t)target_bytes);
  if (source == NULL || target == NULL) fail("the symmetric heap is too small");
  memset(source, 0, (size_t)source_bytes);
  memset(target, 0, (size_t)target_bytes);
  shmem_barrier_all();
  for (int i = 0; i < plan.cells; ++i) measure(&plan.cell[i]);
  shmem_barrier_all();
  if (me == 0) {
    printf("{\"done\":true}\n");
    fflush(stdout);
  }
  shmem_finalize();
  return 0;
}
