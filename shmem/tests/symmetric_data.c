/* Static data and the heap as symmetric memory. */
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

static long initialised[3] = {1, 2, 3};
static long zeroed[1 << 16];
long global = 7;
static const char *text = "unchanged";

static long *in_function(void) {
  static long inner = 5;
  return &inner;
}

static void static_data(int me, int pes) {
  const int next = (me + 1) % pes, before = (me + pes - 1) % pes;
  CHECK_EQUAL(initialised[2], 3);
  CHECK_EQUAL(global, 7);
  CHECK_EQUAL(*in_function(), 5);
  shmem_barrier_all();
  shmem_long_p(&initialised[1], me, next);
  shmem_long_p(&zeroed[65535], me + 1, next);
  shmem_long_p(&global, me + 2, next);
  shmem_long_p(in_function(), me + 3, next);
  shmem_barrier_all();
  CHECK_EQUAL(initialised[0], 1);
  CHECK_EQUAL(initialised[1], before);
  CHECK_EQUAL(initialised[2], 3);
  CHECK_EQUAL(zeroed[65535], before + 1);
  CHECK_EQUAL(global, before + 2);
  CHECK_EQUAL(*in_function(), before + 3);
  CHECK_EQUAL(strcmp(text, "unchanged"), 0);
  CHECK_EQUAL(shmem_long_g(&global, next), me + 2);
  CHECK_EQUAL(shmem_addr_accessible(&global, next), 1);
  int on_stack = 0;
  CHECK_EQUAL(shmem_addr_accessible(&on_stack, next), 0);
  CHECK_EQUAL(shmem_addr_accessible(&global, pes), 0);
  long *const there = shmem_ptr(&global, next);
  if (there != NULL) CHECK_EQUAL(*there, me + 2);
  CHECK(shmem_ptr(&global, me) == &global);
  CHECK(shmem_ptr(&on_stack, me) == NULL);
  shmem_barrier_all();
}

/* The same on all PEs: by its offset from `base`. */
static void same_everywhere(const char *block, const char *base) {
  static ptrdiff_t mine, all[64];
  mine = block == NULL ? PTRDIFF_MAX : block - base;
  shmem_ptrdiff_fcollect(SHMEM_TEAM_WORLD, all, &mine, 1);
  for (int pe = 0; pe < shmem_n_pes(); ++pe) CHECK_EQUAL(all[pe], mine);
  shmem_barrier_all();
}

static void heap(void) {
  char *const first = shmem_malloc(1000);
  CHECK(first != NULL);
  CHECK(shmem_malloc(0) == NULL);
  char *const aligned = shmem_align(65536, 10);
  CHECK(aligned != NULL && (uintptr_t)aligned % 65536 == 0);
  same_everywhere(aligned, first);
  CHECK(shmem_align(48, 10) == NULL && shmem_align(0, 10) == NULL && shmem_align(64, 0) == NULL);
  char *const unaligned = shmem_align(1, 10);
  CHECK(unaligned != NULL);
  shmem_free(unaligned);
  CHECK(shmem_calloc(0, 8) == NULL && shmem_calloc(8, 0) == NULL);
  CHECK(shmem_malloc_with_hints(0, SHMEM_MALLOC_ATOMICS_REMOTE) == NULL);

  /* Exhaustion is seen by all PEs, and the heap is usable after it. */
  CHECK(shmem_malloc((size_t)1 << 40) == NULL);
  CHECK(shmem_malloc(SIZE_MAX) == NULL);
  CHECK(shmem_calloc(SIZE_MAX / 2, 4) == NULL);
  char *blocks[256];
  int count = 0;
  while (count < 256 && (blocks[count] = shmem_malloc(1 << 18)) != NULL) ++count;
  CHECK(count > 4 && count < 256);
  same_everywhere(blocks[count - 1], first);
  /* A hole is used by what fits, and by nothing else; holes beside each other are one. */
  shmem_free(blocks[1]);
  CHECK(shmem_malloc((1 << 18) + 1) == NULL && shmem_realloc(blocks[0], (size_t)1 << 30) == NULL);
  shmem_free(blocks[2]);
  char *const larger = shmem_malloc(2 << 18);
  CHECK(larger == blocks[1]);
  same_everywhere(larger, first);
  shmem_free(larger);
  for (int i = 0; i < count; ++i) {
    if (i != 1 && i != 2) shmem_free(blocks[i]);
  }
  char *const again = shmem_malloc(1 << 18);
  CHECK(again == blocks[0]);
  shmem_free(again);
  shmem_free(NULL);

  long *numbers = shmem_calloc(100, sizeof(long));
  for (int i = 0; i < 100; ++i) CHECK_EQUAL(numbers[i], 0);
  for (int i = 0; i < 100; ++i) numbers[i] = i;
  shmem_malloc(1); /* so that it has to move */
  numbers = shmem_realloc(numbers, 10000 * sizeof(long));
  CHECK(numbers != NULL);
  for (int i = 0; i < 100; ++i) CHECK_EQUAL(numbers[i], i);
  same_everywhere((char *)numbers, first);
  CHECK(shmem_realloc(numbers, (size_t)1 << 40) == NULL);
  CHECK_EQUAL(numbers[99], 99);
  numbers = shmem_realloc(numbers, 10 * sizeof(long));
  CHECK_EQUAL(numbers[9], 9);
  CHECK(shmem_realloc(numbers, 0) == NULL);
  numbers = shmem_realloc(NULL, 64);
  CHECK(numbers != NULL);
  shmem_free(numbers);
  numbers = shmem_malloc_with_hints(64, SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE);
  CHECK(numbers != NULL);
  shmem_free(numbers);
}

int main(void) {
  shmem_init();
  static_data(shmem_my_pe(), shmem_n_pes());
  heap();
  return passed("symmetric_data");
}
