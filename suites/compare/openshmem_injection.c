/*
 * What two threads of a PE gain by contexts of their own, for scripts/compare.py injection: osh_injection [BATCHES].
 * Streams of puts, gets and atomic additions from PE 0 to PE 1, by one thread and by two, in turns. Prints a JSON line for
 * each, with the median over batches of the time of an operation. What came is checked.
 *
 * Puts, and gets without a handle, of a few bytes are left out: those of all contexts travel together.
 */
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kThreads = 2, kMostBatches = 1000, kStream = 256 * 1024 };

static char remote[kThreads][kStream], source[kThreads][kStream], target[kThreads][kStream];
static long counters[kThreads], added[kThreads];
/* Of threads, too: each is used by one thread at a time. */
static shmem_ctx_t contexts[kThreads];

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct {
  const char *operation;
  size_t bytes;
  int count;                     /* of a stream, which takes kStream bytes at most */
  void (*run)(int, size_t, int); /* thread, bytes, count: a stream */
  int (*right)(int, size_t);     /* thread, bytes of the stream */
} Row;

static void put_nbi(int thread, size_t bytes, int count) {
  for (int i = 0; i < count; ++i) {
    const size_t at = (size_t)i * bytes;
    shmem_ctx_putmem_nbi(contexts[thread], remote[thread] + at, source[thread] + at, bytes, 1);
  }
  shmem_ctx_quiet(contexts[thread]);
}
static void get(int thread, size_t bytes, int count) {
  for (int i = 0; i < count; ++i) {
    const size_t at = (size_t)i * bytes;
    shmem_ctx_getmem(contexts[thread], target[thread] + at, remote[thread] + at, bytes, 1);
  }
}
static void get_nbi(int thread, size_t bytes, int count) {
  for (int i = 0; i < count; ++i) {
    const size_t at = (size_t)i * bytes;
    shmem_ctx_getmem_nbi(contexts[thread], target[thread] + at, remote[thread] + at, bytes, 1);
  }
  shmem_ctx_quiet(contexts[thread]);
}
static void fetch_add(int thread, size_t bytes, int count) {
  (void)bytes;
  for (int i = 0; i < count; ++i) (void)shmem_ctx_long_atomic_fetch_add(contexts[thread], &counters[thread], 1, 1);
  added[thread] += count;
}

static int got(int thread, size_t stream) { return memcmp(target[thread], source[thread], stream) == 0; }
static int put_came(int thread, size_t stream) {
  shmem_getmem(target[thread], remote[thread], stream, 1);
  return got(thread, stream);
}
static int counted(int thread, size_t stream) {
  (void)stream;
  return shmem_long_atomic_fetch(&counters[thread], 1) == added[thread];
}

static const Row rows[] = {{"put_nbi", 1024, 256, put_nbi, put_came},
                           {"put_nbi", 16384, 16, put_nbi, put_came},
                           {"get", 8, 256, get, got},
                           {"get", 1024, 256, get, got},
                           {"get_nbi", 1024, 256, get_nbi, got},
                           {"atomic_fetch_add", 8, 256, fetch_add, counted}};

typedef struct {
  const Row *row;
  int thread;
  pthread_barrier_t *gate;
} Stream;

static void *run(void *argument) {
  const Stream *const stream = argument;
  pthread_barrier_wait(stream->gate);
  stream->row->run(stream->thread, stream->row->bytes, stream->row->count);
  pthread_barrier_wait(stream->gate);
  return NULL;
}

/* What is there beforehand is neither what a put brings nor what a get is to find. */
static void prepare(const Row *row, int thread) {
  static int prepared;
  const size_t stream = row->bytes * (size_t)row->count;
  memset(source[thread], ++prepared % 255 + 1, stream);
  memset(target[thread], 0, stream);
  if (row->right == got) {
    shmem_putmem(remote[thread], source[thread], stream, 1);
    shmem_quiet();
  }
}

/* Seconds from the moment that all threads begin to the moment that the last one has completed its stream. */
static double batch_s(const Row *row, int threads) {
  pthread_t crew[kThreads];
  Stream streams[kThreads];
  pthread_barrier_t gate;
  pthread_barrier_init(&gate, NULL, (unsigned)threads + 1);
  for (int t = 0; t < threads; ++t) {
    prepare(row, t);
    streams[t] = (Stream){row, t, &gate};
    if (pthread_create(&crew[t], NULL, run, &streams[t]) != 0) {
      fprintf(stderr, "osh_injection: a thread cannot be created\n");
      exit(4);
    }
  }
  pthread_barrier_wait(&gate);
  const double begun = now();
  pthread_barrier_wait(&gate);
  const double time_s = now() - begun;
  for (int t = 0; t < threads; ++t) pthread_join(crew[t], NULL);
  pthread_barrier_destroy(&gate);
  for (int t = 0; t < threads; ++t) {
    if (row->right(t, row->bytes * (size_t)row->count)) continue;
    fprintf(stderr, "osh_injection: the result of %s by %d threads is wrong\n", row->operation, threads);
    exit(8);
  }
  return time_s;
}

static void measure(const Row *row, int batches) {
  static double times[kThreads][kMostBatches];
  for (int batch = -1; batch < batches; ++batch) { /* the first one is not counted */
    for (int threads = 1; threads <= kThreads; ++threads) {
      const double time_s = batch_s(row, threads);
      if (batch >= 0) times[threads - 1][batch] = time_s / (threads * row->count);
    }
  }
  for (int threads = 1; threads <= kThreads; ++threads) {
    double *const of = times[threads - 1];
    qsort(of, (size_t)batches, sizeof *of, by_size);
    printf("{\"operation\":\"%s\",\"bytes\":%zu,\"threads\":%d,\"median_s\":%.9g}\n", row->operation, row->bytes, threads,
           of[batches / 2]);
  }
}

int main(int argc, char **argv) {
  const int batches = argc > 1 ? atoi(argv[1]) : 30;
  int provided = -1;
  if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) != 0 || provided != SHMEM_THREAD_MULTIPLE) {
    fprintf(stderr, "osh_injection: threads may not make calls at the same time\n");
    return 4;
  }
  if (shmem_n_pes() != 2 || batches < 1 || batches > kMostBatches) {
    fprintf(stderr, "osh_injection [BATCHES], with 2 PEs and 1 to %d batches\n", kMostBatches);
    return 2;
  }
  for (int t = 0; t < kThreads; ++t) {
    if (shmem_ctx_create(SHMEM_CTX_SERIALIZED, &contexts[t]) == 0) continue;
    fprintf(stderr, "osh_injection: a context cannot be created\n");
    return 4;
  }
  for (size_t i = 0; shmem_my_pe() == 0 && i < sizeof rows / sizeof *rows; ++i) measure(&rows[i], batches);
  for (int t = 0; t < kThreads; ++t) shmem_ctx_destroy(contexts[t]);
  shmem_barrier_all(); /* in which PE 1 serves */
  fflush(stdout);
  shmem_finalize();
  return 0;
}
