/* What drivers of targets other than MPI have in common: the plan, the data that their operations
 * move, and the loop that measures a cell and prints it. For programs of one source, whose ranks
 * are all on one node and take part in every cell. The plan and what is printed are those of the
 * MPI driver (main.c), for one variant without variables. The program sets `me` and `all`, defines
 * fail(), verified() and timed(), and calls read_plan(), size_buffers() and carry_out(). */
#ifndef STRIPLINE_TARGETS_MEASURE_H
#define STRIPLINE_TARGETS_MEASURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  kMaxName = 64,
  kMaxNote = 256,
  kMostCells = 4096,
  kLeastRepetitions = 3,
  kMostRepetitions = 1000,
  kWindow = 16,    /* operations in flight at a time */
  kLeastBlock = 64 /* bytes: buffers have room for calls of this size */
};

struct cell {
  char operation[kMaxName];
  int ranks;
  long bytes;
  char type[kMaxName];
  int in_place;
};

/* What is done in a cell: from `source` to `target`, of this rank or another one. */
struct operation {
  const char* name;
  size_t source_blocks; /* of the size of a call, and a word more; for each rank where `by_rank` */
  size_t target_blocks;
  int by_rank;
  void (*fill)(const struct cell* cell);
  void (*run)(const struct cell* cell);
  int (*check)(const struct cell* cell, char* note);
};

static struct {
  int run;
  int repetitions;
  double budget_s;
  int cells;
  struct cell cell[kMostCells];
} plan;

static int me;
static int all;
static double start_s;
static unsigned char* source;
static unsigned char* target;
static size_t source_bytes = kLeastBlock;
static size_t target_bytes = kLeastBlock;

/* Ends all ranks. Does not return. */
static void fail(const char* what);
/* Carries the operation out once, with fresh data that are checked. The same on all ranks; rank 0
 * has a note, of kMaxNote bytes at most, where something is wrong. */
static int verified(const struct operation* operation, const struct cell* cell, char* note);
/* Carries it out once. The longest time of all ranks, on all. */
static double timed(const struct operation* operation, const struct cell* cell);

static inline double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline int next_rank(void) { return (me + 1) % all; }
static inline int rank_before(void) { return (me + all - 1) % all; }

/* The plan. */

static inline void read_cell(const char* line) {
  struct cell* cell;
  if (plan.cells == kMostCells) fail("the plan has too many cells");
  cell = &plan.cell[plan.cells++];
  if (sscanf(line, "cell %63s %d %ld %63s %d", cell->operation, &cell->ranks, &cell->bytes,
             cell->type, &cell->in_place) != 5 ||
      cell->bytes < 0) {
    fail("a cell is malformed");
  }
  if (cell->ranks != all) fail("a cell needs another number of ranks");
}

/* Every rank reads it. */
static inline void read_plan(const char* path) {
  FILE* const file = fopen(path, "r");
  static char line[65536];
  if (file == NULL) fail("cannot read the plan");
  plan.repetitions = 10;
  plan.budget_s = 0.01;
  while (fgets(line, sizeof line, file) != NULL) {
    char word[kMaxName] = "";
    sscanf(line, "%63s", word);
    if (strcmp(word, "run") == 0) {
      sscanf(line, "run %d", &plan.run);
    } else if (strcmp(word, "repetitions") == 0) {
      sscanf(line, "repetitions %d", &plan.repetitions);
    } else if (strcmp(word, "budget") == 0) {
      sscanf(line, "budget %lf", &plan.budget_s);
    } else if (strcmp(word, "cell") == 0) {
      read_cell(line);
    } else if (strcmp(word, "seed") != 0 && strcmp(word, "variant") != 0 && word[0] != '\0') {
      fail("the plan has an unknown line");
    }
  }
  fclose(file);
  if (plan.repetitions < kLeastRepetitions) plan.repetitions = kLeastRepetitions;
  if (plan.repetitions > kMostRepetitions) plan.repetitions = kMostRepetitions;
}

/* Operations end with one without a name. */
static inline const struct operation* operation_of(const struct operation* operations,
                                                   const char* name) {
  for (; operations->name != NULL; ++operations) {
    if (strcmp(operations->name, name) == 0) return operations;
  }
  fail("the plan has an unknown operation");
  return NULL;
}

static inline size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* Room for every cell of the plan. */
static inline void size_buffers(const struct operation* operations) {
  for (int i = 0; i < plan.cells; ++i) {
    const struct operation* const operation = operation_of(operations, plan.cell[i].operation);
    const size_t block = larger((size_t)plan.cell[i].bytes, kLeastBlock) + sizeof(uint64_t);
    const size_t blocks_of_each = operation->by_rank ? (size_t)all : 1;
    source_bytes = larger(source_bytes, operation->source_blocks * block * blocks_of_each);
    target_bytes = larger(target_bytes, operation->target_blocks * block * blocks_of_each);
  }
}

/* What elements hold, and checks against what a sequential program would have. */

static inline unsigned char datum(int from, long index, long salt) {
  return (unsigned char)(from * 131 + index * 7 + salt * 29 + 1);
}

static inline void put_data(unsigned char* to, long bytes, int from, long salt) {
  for (long i = 0; i < bytes; ++i) to[i] = datum(from, i, salt);
}

static inline int has_data(const unsigned char* at, long bytes, int from, long salt, char* note) {
  for (long i = 0; i < bytes; ++i) {
    if (at[i] == datum(from, i, salt)) continue;
    snprintf(note, kMaxNote, "rank %d: byte %ld of what rank %d had is wrong", me, i, from);
    return 0;
  }
  return 1;
}

static inline void fill_one(const struct cell* cell) {
  put_data(source, cell->bytes, me, 0);
  memset(target, 0xee, target_bytes);
}

/* The halos of a ring: what goes to the next rank, and to the one before. */
static inline void fill_two(const struct cell* cell) {
  put_data(source, cell->bytes, me, 1);
  put_data(source + cell->bytes, cell->bytes, me, 2);
  memset(target, 0xee, target_bytes);
}

static inline int check_from_next(const struct cell* cell, char* note) {
  return has_data(target, cell->bytes, next_rank(), 0, note);
}

static inline int check_from_before(const struct cell* cell, char* note) {
  return has_data(target, cell->bytes, rank_before(), 0, note);
}

static inline int check_two(const struct cell* cell, char* note) {
  return has_data(target, cell->bytes, rank_before(), 1, note) &&
         has_data(target + cell->bytes, cell->bytes, next_rank(), 2, note);
}

static inline int check_window(const struct cell* cell, char* note) {
  for (int i = 0; i < kWindow; ++i) {
    if (!has_data(target + i * cell->bytes, cell->bytes, rank_before(), 0, note)) return 0;
  }
  return 1;
}

/* After ping-pongs between ranks 0 and 1. */
static inline int check_latency(const struct cell* cell, char* note) {
  return me > 1 || all < 2 || has_data(target, cell->bytes, 1 - me, 0, note);
}

/* A window of blocks from each rank. */
static inline int check_outstanding(const struct cell* cell, char* note) {
  for (int from = 0; from < all; ++from) {
    for (int i = 0; i < kWindow; ++i) {
      if (!has_data(target + ((long)from * kWindow + i) * cell->bytes, cell->bytes, from, 0,
                    note)) {
        return 0;
      }
    }
  }
  return 1;
}

/* Keys that are sorted by their owners. */

static inline long keys_of(const struct cell* cell) { return cell->bytes / (long)sizeof(uint64_t); }

static inline uint64_t key_of(int from, long index) {
  uint64_t x = (uint64_t)from * 0x9e3779b97f4a7c15u + (uint64_t)index + 1;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static inline int owner_of(uint64_t key) { return (int)(key % (uint64_t)all); }

/* A bucket for each owner, which begins with how many keys it has, and has room for all keys of a
 * rank. */
static inline uint64_t* bucket_of(unsigned char* buckets, const struct cell* cell, int rank) {
  return (uint64_t*)buckets + (long)rank * (keys_of(cell) + 1);
}

static inline void fill_buckets(const struct cell* cell) {
  memset(target, 0, target_bytes);
  for (int owner = 0; owner < all; ++owner) *bucket_of(source, cell, owner) = 0;
  for (long i = 0; i < keys_of(cell); ++i) {
    const uint64_t key = key_of(me, i);
    uint64_t* const bucket = bucket_of(source, cell, owner_of(key));
    bucket[++bucket[0]] = key;
  }
}

/* The buckets of all ranks have come. */
static inline int check_buckets(const struct cell* cell, char* note) {
  for (int from = 0; from < all; ++from) {
    const uint64_t* const bucket = bucket_of(target, cell, from);
    uint64_t keys = 0;
    for (long i = 0; i < keys_of(cell); ++i) {
      const uint64_t key = key_of(from, i);
      if (owner_of(key) != me) continue;
      if (bucket[++keys] == key) continue;
      snprintf(note, kMaxNote, "rank %d: key %ld of rank %d is wrong", me, i, from);
      return 0;
    }
    if (bucket[0] == keys) continue;
    snprintf(note, kMaxNote, "rank %d: it has %lu keys of rank %d, not %lu", me,
             (unsigned long)bucket[0], from, (unsigned long)keys);
    return 0;
  }
  return 1;
}

/* Measuring. */

static inline void print_point(const struct cell* cell) {
  printf(
      "{\"experiment\":\"target.%s\",\"variant\":\"0\",\"params\":{\"ranks\":%d,\"bytes\":%ld,"
      "\"type\":\"%s\",\"in_place\":%d}}",
      cell->operation, cell->ranks, cell->bytes, cell->type, cell->in_place);
}

static inline void print_next(const struct cell* cell) {
  printf("{\"at\":");
  print_point(cell);
  printf("}\n");
  fflush(stdout);
}

static inline void print_series(const struct cell* cell, const double* times, const double* ends,
                                int count, int well, const char* note) {
  printf("{\"point\":");
  print_point(cell);
  printf(",\"run\":%d,\"values\":[", plan.run);
  for (int i = 0; i < count && well; ++i) printf("%s%.9e", i > 0 ? "," : "", times[i]);
  printf("],\"timestamps_s\":[");
  for (int i = 0; i < count && well; ++i) printf("%s%.6f", i > 0 ? "," : "", ends[i] - start_s);
  printf("],\"warmup_dropped\":1,\"stop_reason\":\"%s\",\"verified\":%s,\"note\":\"%s\"}\n",
         count >= plan.repetitions ? "max_reps" : "time_budget", well ? "true" : "false", note);
  fflush(stdout);
}

/* The first call makes connections: the shorter one of the next two says how long one takes. */
static inline int repetitions_of(const struct operation* operation, const struct cell* cell) {
  const double first_s = timed(operation, cell);
  const double second_s = timed(operation, cell);
  const double once_s = first_s < second_s ? first_s : second_s;
  if (once_s * plan.repetitions <= plan.budget_s) return plan.repetitions;
  return (int)larger((size_t)(plan.budget_s / once_s), kLeastRepetitions);
}

static inline void measure(const struct operation* operation, const struct cell* cell) {
  static double times[kMostRepetitions];
  static double ends[kMostRepetitions];
  char note[kMaxNote] = "";
  int repetitions = 0;
  int well;
  double said_s;
  if (me == 0) print_next(cell);
  well = verified(operation, cell, note);
  if (well) repetitions = repetitions_of(operation, cell);
  said_s = now_s();
  for (int i = 0; i < repetitions; ++i) {
    times[i] = timed(operation, cell);
    ends[i] = now_s();
    if (me == 0 && ends[i] - said_s > 1) {
      print_next(cell);
      said_s = ends[i];
    }
  }
  if (well) well = verified(operation, cell, note);
  if (me == 0) print_series(cell, times, ends, repetitions, well, note);
}

/* All cells of the plan. */
static inline void carry_out(const struct operation* operations) {
  for (int i = 0; i < plan.cells; ++i) {
    measure(operation_of(operations, plan.cell[i].operation), &plan.cell[i]);
  }
}

#endif
