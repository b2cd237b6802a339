/*
 * Many puts without a quiet stay within a budget of memory. Argument: how many.
 */
#include <string.h>

#include "check.h"

enum { kBudgetKiB = 32 << 10 };
static long words[4096];

/* The most memory that this process has had, in KiB. */
static long peak(void) {
  FILE *const status = fopen("/proc/self/status", "r");
  char line[256];
  long kib = -1;
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    if (sscanf(line, "VmHWM: %ld", &kib) == 1) break;
  }
  if (status != NULL) fclose(status);
  return kib;
}

int main(int argc, char **argv) {
  const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
  shmem_init();
  const int me = shmem_my_pe();
  static long scattered[512];
  shmem_barrier_all();
  const long before = peak();
  CHECK(before > 0);
  if (me != 0) {
    for (long i = 0; i < count; ++i) {
      shmem_p(&words[i * 67 % 4096], i, 0);
      if (i % 1000 == 0) shmem_put(scattered, words, 512, 0);
      if (i % 100 == 0) shmem_atomic_inc(&words[0], 0);
    }
  }
  const long used = peak() - before;
  shmem_barrier_all();
  const long served = peak() - before;
  printf("PE %d: %ld KiB more after %ld puts, %ld at the end\n", me, used, count, served);
  CHECK(used < kBudgetKiB && served < kBudgetKiB);
  return passed("flood");
}
