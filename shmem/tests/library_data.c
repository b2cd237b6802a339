/* Puts to, gets from and counts in static data of a shared object. */
#include "library.h"

#include "check.h"

static void use(long *words, long first) {
  const int me = shmem_my_pe(), pes = shmem_n_pes(), next = (me + 1) % pes, before = (me + pes - 1) % pes;
  CHECK_EQUAL(words[0], first); /* what it was before it was moved */
  CHECK_EQUAL(shmem_addr_accessible(words, next), 1);
  shmem_barrier_all();
  for (int i = 0; i < kLibraryWords; ++i) shmem_p(&words[i], 1000L * me + i, next);
  shmem_barrier_all();
  for (int i = 0; i < kLibraryWords; ++i) CHECK_EQUAL(words[i], 1000L * before + i);
  CHECK_EQUAL(shmem_g(&words[5], next), 1000L * me + 5);
  shmem_barrier_all();
  shmem_atomic_add(&words[1], 7L, next);
  shmem_barrier_all();
  CHECK_EQUAL(words[1], 1000L * before + 8);
}

int main(void) {
  shmem_init();
  use(library_words, 7);
  use(zeroed_words(), 0);
  use(words_of_function(), 8);
  return passed("library_data");
}
