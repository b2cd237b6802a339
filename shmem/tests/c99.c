/* Without generic names: C99, and names that are deprecated. */
#include <mpp/shmem.h>
#include <pshmem.h>
#include <stdio.h>
#include <stdlib.h>

static long word;
static int puts_seen;

/* A tool's function in place of the library's. */
void shmem_long_put(long *dest, const long *source, size_t nelems, int pe) {
  ++puts_seen;
  pshmem_long_put(dest, source, nelems, pe);
}

int main(void) {
  start_pes(0);
  const int next = (_my_pe() + 1) % _num_pes();
  long *const old = shmalloc(sizeof(long));
  if (old == NULL) return 1;
  const long one = 1;
  *old = 0;
  shmem_barrier_all();
  shmem_long_put(old, &one, 1, next);
  shmem_long_p(&word, 4, next);
  shmem_quiet();
  shmem_wait(&word, 0);
  shmem_wait_until(&word, _SHMEM_CMP_EQ, 4);
  shmem_barrier_all();
  if (shmem_swap(&word, 5, next) != 4 || *old != 1 || puts_seen != 1) return 1;
  shmem_barrier_all();
  shmem_long_inc(&word, next);
  shmem_set_cache_inv();
  shmem_pcontrol(1, 2, 3);
  shmem_barrier_all();
  if (word != 6) return 1;
  shfree(old);
  if (_my_pe() == 0) printf("c99: passed\n");
  return 0;
}
