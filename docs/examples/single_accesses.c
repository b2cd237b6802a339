/* An OpenSHMEM program that accesses one value at a time: each PE adds to cells wherever random
 * numbers say, and reads entries of a table likewise.
 *
 *   single_accesses [ACCESSES [CELLS]]     of each PE
 *   single_accesses ACCESSES CELLS records
 *
 * The second form reads one field of a record and writes another one, in turns.
 *
 * What stripline run --coalesce makes of it: docs/worked-examples.md.
 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t next_number(uint64_t *state) { /* xorshift64* */
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 0x2545f4914f6cdd1dULL >> 16;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Reads `from` of records wherever random numbers say, and writes what follows from it to `to`. */
static int read_and_write(const long *places, long accesses, long cells) {
  static long wrong, all_wrong;
  struct record {
    long from, to;
  };
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  struct record *const records = shmem_calloc((size_t)cells, sizeof *records);
  if (records == NULL) {
    fprintf(stderr, "there is no memory for %ld records\n", cells);
    shmem_global_exit(1);
  }
  for (long i = 0; i < cells; ++i) records[i].from = i * pes + me;
  shmem_barrier_all();
  const double begun = now();
  for (long i = 0; i < accesses; ++i) {
    struct record *const there = &records[places[i] / pes];
    const int pe = (int)(places[i] % pes);
    const long from = shmem_long_g(&there->from, pe);
    wrong += from != places[i];
    shmem_long_p(&there->to, from + 1, pe);
  }
  shmem_barrier_all();
  const double done = now();
  for (long i = 0; i < cells; ++i) wrong += records[i].to != 0 && records[i].to != i * pes + me + 1;
  for (long i = 0; i < accesses; i += 100) wrong += shmem_long_g(&records[places[i] / pes].to, (int)(places[i] % pes)) != places[i] + 1;
  shmem_sum_reduce(SHMEM_TEAM_WORLD, &all_wrong, &wrong, 1);
  if (me == 0) {
    printf("read and write %.1f ns for each access, %s\n", (done - begun) * 1e9 / (double)accesses,
           all_wrong == 0 ? "as expected" : "WRONG");
  }
  return all_wrong == 0;
}

int main(int argc, char **argv) {
  static long wrong, all_wrong;
  const long accesses = argc > 1 ? strtol(argv[1], NULL, 10) : 100000;
  const long cells = argc > 2 ? strtol(argv[2], NULL, 10) : 10000;
  shmem_init();
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  long *const counts = shmem_calloc((size_t)cells, sizeof *counts);
  long *const table = shmem_calloc((size_t)cells, sizeof *table);
  long *const places = malloc((size_t)accesses * sizeof *places);
  if (counts == NULL || table == NULL || places == NULL) {
    fprintf(stderr, "there is no memory for %ld cells and %ld accesses\n", cells, accesses);
    shmem_global_exit(1);
  }
  uint64_t random = (uint64_t)me + 1;
  for (long i = 0; i < accesses; ++i) places[i] = (long)(next_number(&random) % (uint64_t)(cells * pes));
  for (long i = 0; i < cells; ++i) table[i] = i * pes + me;
  if (argc > 3 && strcmp(argv[3], "records") == 0) {
    const int as_expected = read_and_write(places, accesses, cells);
    free(places);
    shmem_finalize();
    return as_expected ? 0 : 8;
  }

  shmem_barrier_all();
  const double begun = now();
  for (long i = 0; i < accesses; ++i) shmem_long_atomic_inc(&counts[places[i] / pes], (int)(places[i] % pes));
  shmem_barrier_all();
  const double counted = now();
  for (long i = 0; i < accesses; ++i) {
    wrong += shmem_long_g(&table[places[i] / pes], (int)(places[i] % pes)) != places[i];
  }
  shmem_barrier_all();
  const double gathered = now();

  long sum = 0;
  for (long i = 0; i < cells; ++i) sum += counts[i];
  static long own_sum, all_sums;
  own_sum = sum;
  shmem_sum_reduce(SHMEM_TEAM_WORLD, &all_sums, &own_sum, 1);
  shmem_sum_reduce(SHMEM_TEAM_WORLD, &all_wrong, &wrong, 1);
  const int right = all_sums == accesses * pes && all_wrong == 0;
  if (me == 0) {
    const double each = 1e9 / (double)accesses;
    printf("histogram %.1f ns, index gather %.1f ns for each access, %s\n", (counted - begun) * each,
           (gathered - counted) * each, right ? "as expected" : "WRONG");
  }
  free(places);
  shmem_finalize();
  return right ? 0 : 8;
}
