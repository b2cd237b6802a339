/*
 * Two threads of each PE that use one context: a quiet of either returns when what its thread has started is complete,
 * whatever the other one does.
 */
#include <pthread.h>

#include "check.h"

enum { kThreads = 2, kRounds = 200, kWords = 64 };
static long words[kWords];
static long written[kThreads][kWords];

static void *puts_and_gets(void *argument) {
  const int thread = *(const int *)argument;
  const int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
  long back[kWords], source[kWords];
  for (long round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kWords; ++i) back[i] = -1;
    shmem_get_nbi(back, words, kWords, next);
    shmem_quiet();
    for (int i = 0; i < kWords; ++i) CHECK_EQUAL(back[i], next * 1000L + i);

    for (int i = 0; i < kWords; ++i) source[i] = round * 1000 + i;
    shmem_put_nbi(written[thread], source, kWords, next);
    shmem_quiet();
    shmem_get(back, written[thread], kWords, next);
    for (int i = 0; i < kWords; ++i) CHECK_EQUAL(back[i], round * 1000 + i);
  }
  return NULL;
}

int main(void) {
  int provided = -1;
  CHECK_EQUAL(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
  CHECK_EQUAL(provided, SHMEM_THREAD_MULTIPLE);
  for (int i = 0; i < kWords; ++i) words[i] = shmem_my_pe() * 1000L + i;
  shmem_barrier_all();
  pthread_t threads[kThreads];
  int numbers[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    numbers[i] = i;
    CHECK_EQUAL(pthread_create(&threads[i], NULL, puts_and_gets, &numbers[i]), 0);
  }
  for (int i = 0; i < kThreads; ++i) CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
  return passed("threads");
}
