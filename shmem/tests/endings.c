/* How a program may end, and mistakes that end it; the argument says which. LAYOUT adds to its static data. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#ifdef LAYOUT
static long more_data[1000] = {1};
#endif

static long value = 1;
static long values[4];
static uint64_t arrived;

static void child_has_a_copy(void) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const long before = value;
    value = 99;
    _exit(before == 1 && value == 99 ? 0 : 1);
  }
  value = 7;
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK_EQUAL(value, 7);
  value = 1;
}

/* Counts in static data until it is told to stop: how often. */
static volatile long counts[2];
static int stops;

static void *count(void *place) {
  long own = 0;
  for (; !__atomic_load_n(&stops, __ATOMIC_RELAXED); ++own) *(volatile long *)place += 1;
  return (void *)own;
}

static void *synchronise(void *unused) {
  (void)unused;
  shmem_sync_all();
  return NULL;
}

int main(int argc, char **argv) {
  const char *const how = argc > 1 ? argv[1] : "";
#ifdef LAYOUT
  value = more_data[0];
#endif
  if (strcmp(how, "early") == 0) shmem_barrier_all();
  pthread_t counting[2];
  const int counts_before = strcmp(how, "threads before") == 0;
  if (counts_before) {
    for (int i = 0; i < 2; ++i) {
      if (pthread_create(&counting[i], NULL, count, (void *)&counts[i]) != 0) return 1;
    }
    usleep(1000);
  }
  if (strcmp(how, "two threads") == 0) {
    int provided = -1;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  } else {
    shmem_init();
  }
  const int me = shmem_my_pe(), pes = shmem_n_pes(), next = (me + 1) % pes;
  if (counts_before) { /* nothing of it is lost where static data have moved */
    __atomic_store_n(&stops, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; ++i) {
      void *counted = NULL;
      CHECK_EQUAL(pthread_join(counting[i], &counted), 0);
      CHECK_EQUAL(counts[i], (long)counted);
    }
  }
  if (strcmp(how, "again") == 0) {
    shmem_finalize();
    shmem_init();
  }
  if (strcmp(how, "exit") == 0) {
    printf("PE %d ends\n", me);
    return 0;
  }
  if (strcmp(how, "exit 3") == 0 && me == 1) exit(3);
  if (strncmp(how, "stopped ", 8) == 0 || strncmp(how, "dead ", 5) == 0) {
    if (me == 2) {
      shmem_long_p(&value, 3, 1);
      shmem_quiet();
      raise(how[0] == 's' ? SIGSTOP : SIGKILL);
    }
    if (me == 1) {
      shmem_long_wait_until(&value, SHMEM_CMP_EQ, 3);
      usleep(100000);
      shmem_global_exit(atoi(strchr(how, ' ')));
    }
    shmem_long_wait_until(&value, SHMEM_CMP_EQ, 2);
  }
  if (strcmp(how, "halted") == 0) {
    if (me == 2) raise(SIGSTOP);
    shmem_long_wait_until(&value, SHMEM_CMP_EQ, 2);
  }
  if (strncmp(how, "global ", 7) == 0) {
    if (me == 1) shmem_global_exit(atoi(how + 7));
    shmem_long_wait_until(&value, SHMEM_CMP_EQ, 2);
  }
  if (strcmp(how, "fork") == 0) child_has_a_copy();
  if (strcmp(how, "twice") == 0) {
    shmem_init();
    if (me == 0) {
      usleep(100000);
      for (int pe = 0; pe < pes; ++pe) shmem_long_p(&values[0], 6, pe);
    }
    shmem_finalize(); /* a barrier, too, where it is not the last */
    CHECK_EQUAL(values[0], 6);
    int initialised = 0;
    shmem_query_initialized(&initialised);
    CHECK_EQUAL(initialised, 1);
  }
  long on_stack = 0;
  if (strcmp(how, "address") == 0) shmem_long_p(&on_stack, 1, next);
  if (strcmp(how, "pe") == 0) shmem_long_p(&value, 1, pes);
  if (strcmp(how, "free") == 0) shmem_free(&value);
  if (strcmp(how, "freed") == 0 || strcmp(how, "beyond") == 0) {
    long *const block = shmem_malloc(2 * sizeof *block);
    shmem_long_p(&block[1], 1, next);
    shmem_barrier_all();
    if (how[0] == 'f') shmem_free(block);
    shmem_long_p(&block[how[0] == 'f' ? 0 : 2], 1, next);
  }
  if (strncmp(how, "sizes ", 6) == 0) {
    const size_t bytes = me == 1 ? 64 : 128;
    if (strcmp(how + 6, "malloc") == 0) {
      shmem_malloc(bytes);
    } else if (strcmp(how + 6, "calloc") == 0) {
      shmem_calloc(bytes / 8, 8);
    } else if (strcmp(how + 6, "align") == 0) {
      shmem_align(256, bytes);
    } else {
      shmem_realloc(shmem_malloc(8), bytes);
    }
  }
  if (strcmp(how, "buffer") == 0) {
    long *const block = shmem_calloc(2, sizeof *block);
    shmem_free(block);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &value, block, 1);
  }
  if (strncmp(how, "local ", 6) == 0) {
    long *const block = shmem_calloc(2, sizeof *block);
    shmem_free(block);
    const char *const call = how + 6;
    if (strcmp(call, "put") == 0) shmem_long_put(&value, block, 1, next);
    if (strcmp(call, "get") == 0) shmem_long_get(block, &value, 1, next);
    if (strcmp(call, "put_nbi") == 0) shmem_long_put_nbi(&value, block, 1, next);
    if (strcmp(call, "get_nbi") == 0) shmem_long_get_nbi(block, &value, 1, next);
    if (strcmp(call, "iput") == 0) shmem_long_iput(values, block, 2, 1, 2, next);
    if (strcmp(call, "iget") == 0) shmem_long_iget(block, values, 1, 2, 2, next);
    if (strcmp(call, "put_signal") == 0) shmem_long_put_signal(values, block, 1, &arrived, 1, SHMEM_SIGNAL_SET, next);
    if (strcmp(call, "atomic_fetch_nbi") == 0) shmem_long_atomic_fetch_nbi(block, &value, next);
  }
  if (strcmp(how, "strides") == 0) {
    long *const to = shmem_calloc((size_t)pes, sizeof *to);
    long *const from = shmem_calloc((size_t)pes, sizeof *from);
    shmem_long_alltoalls(SHMEM_TEAM_WORLD, to, from, 1, 2, 1);
  }
  if (strcmp(how, "two threads") == 0) { /* the others do not come */
    pthread_t other;
    if (me == 0) {
      CHECK_EQUAL(pthread_create(&other, NULL, synchronise, NULL), 0);
      synchronise(NULL);
    }
    shmem_long_wait_until(&value, SHMEM_CMP_EQ, 2);
  }
  if (strcmp(how, "two calls") == 0) {
    if (me == 0) {
      shmem_sync_all();
    } else {
      shmem_long_broadcast(SHMEM_TEAM_WORLD, &value, &value, 1, 0);
    }
  }
  if (strncmp(how, "level ", 6) == 0) {
    shmem_pcontrol(atoi(how + 6));
    shmem_long_atomic_inc(&value, next);
    shmem_pcontrol(1);
  }
  if (strcmp(how, "comparison") == 0) {
    int flag = 7;
    shmem_int_wait_until(&flag, 17, 0);
  }
  if (strcmp(how, "signal") == 0) shmem_long_put_signal(values, &value, 1, &arrived, 1, 7, next);
  if (strcmp(how, "raw") == 0 && me == 0) {
    /* Others' puts arrive while this PE computes without a call. */
    while (*(volatile long *)&value != 5) {
    }
  } else if (strcmp(how, "raw") == 0) {
    shmem_long_p(&value, 5, 0);
    shmem_quiet();
  }
  shmem_barrier_all();
  shmem_long_p(&value, me + 10, next);
  return passed("endings");
}
