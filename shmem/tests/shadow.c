/*
 * Random puts, gets, atomic operations, signals, locks, fences, waits and collectives of all PEs and
 * threads, against what a program that does them one after the other would find. Arguments: the
 * seed, the number of operations of each thread, and of threads of each PE.
 *
 * Each thread draws its operations from a stream of its own, which all PEs know: so each can say
 * what its memory is to hold. A thread has a window in every PE's memory to which it alone writes,
 * and orders operations that overlap by a fence of their context, or by a quiet where that is
 * another one. Its contexts are the default one, which threads share, two of its own, and one of a
 * team in which PEs have other numbers. Counters that all add to, by atomic operations or by reading
 * and writing them with a lock, are sums. Collectives, letters to
 * the next PE, and phases between barriers, in which one thread puts large blocks and gets others
 * again and again, are drawn from a stream that is the same on all PEs.
 */
#include <pthread.h>
#include <string.h>

#include "check.h"

enum {
  kMostPes = 8,
  kMostThreads = 2,
  kWriters = kMostPes * kMostThreads,
  kWindow = 1024,
  kCounters = 16,
  kLocks = 3,
  kContexts = 4,
  kBackwards = 3, /* the context of the team in which PEs are numbered from the last on */
  kBetweenCollectives = 40,
  kBetweenPhases = 200,
  kBlock = 24,
  kFlags = 4,
  kPart = kBlock / kFlags,
  kLarge = 12000, /* words: more than puts of which the runtime makes a copy */
  kRepeated = 6
};

typedef struct {
  uint64_t state;
} Random;

static uint32_t draw(Random *random) { /* xorshift64* */
  random->state ^= random->state >> 12;
  random->state ^= random->state << 25;
  random->state ^= random->state >> 27;
  return (uint32_t)((random->state * 0x2545f4914f6cdd1dULL) >> 32);
}
static uint32_t below(Random *random, uint32_t bound) { return draw(random) % bound; }

typedef enum {
  kPut,
  kPutNbi,
  kP,
  kIput,
  kIbput,
  kPutSignal, /* so far: those that write to the window */
  kG,
  kGet,
  kGetNbi,
  kIget,
  kAdd,
  kFetchAdd,
  kFetchAddNbi,
  kXor,
  kSwap,
  kCompareSwap,
  kSwapShort,
  kLocked,
  kFence,
  kQuiet
} Kind;

typedef struct {
  Kind kind;
  int context, target;
  int first, words, block, stride; /* blocks of words, the stride apart */
  unsigned long value;
} Operation;

static int extent_of(const Operation *operation) {
  return (operation->words / operation->block - 1) * operation->stride + operation->block;
}

/* Where in the window the i-th word is. */
static int place_of(const Operation *operation, int i) {
  return operation->first + i / operation->block * operation->stride + i % operation->block;
}

static unsigned long word_of(const Operation *operation, int i) { return operation->value * 4096 + (unsigned long)i; }

static int half_of(const Operation *operation) { return (int)(operation->value % 2); }

/* Of puts with a signal: whether that is added to. */
static int adds_signal(const Operation *operation) { return operation->value / 2 % 2 == 1; }

static Operation next_operation(Random *random, int pes) {
  Operation operation;
  const uint32_t chance = below(random, 100);
  operation.kind = chance < 16   ? kPut
                   : chance < 26 ? kPutNbi
                   : chance < 44 ? kP
                   : chance < 49 ? kIput
                   : chance < 54 ? kIbput
                   : chance < 59 ? kPutSignal
                   : chance < 63 ? kGet
                   : chance < 68 ? kG
                   : chance < 72 ? kGetNbi
                   : chance < 75 ? kIget
                   : chance < 79 ? kAdd
                   : chance < 82 ? kFetchAdd
                   : chance < 85 ? kFetchAddNbi
                   : chance < 88 ? kXor
                   : chance < 90 ? kSwap
                   : chance < 92 ? kCompareSwap
                   : chance < 93 ? kSwapShort
                   : chance < 94 ? kLocked
                   : chance < 96 ? kFence
                                 : kQuiet;
  operation.context = (int)below(random, kContexts);
  operation.target = (int)below(random, (uint32_t)pes);
  const uint32_t most = below(random, 4) == 0 ? kWindow / 2 : 12;
  operation.words = operation.kind == kP || operation.kind == kG ? 1 : 1 + (int)below(random, most);
  operation.block = operation.kind == kIbput ? 2 : 1;
  operation.words += operation.words % operation.block;
  const int strided = operation.kind == kIput || operation.kind == kIbput || operation.kind == kIget;
  operation.stride = operation.block + (strided ? (int)below(random, 4) : 0);
  if (extent_of(&operation) > kWindow) operation.stride = operation.block;
  operation.first = (int)below(random, (uint32_t)(kWindow - extent_of(&operation) + 1));
  operation.value = draw(random);
  return operation;
}

/* Windows of static data and of the heap, by the thread that writes to them. */
static unsigned long static_windows[kWriters][kWindow];
static unsigned long *heap_windows;
static uint64_t signals_seen[kWriters];
/* Sums of one thread's signals each. */
static uint64_t signals_added[kWriters];
static long counters[kCounters];
static unsigned long toggles[kCounters];
/* Who has the lock reads and writes the counter on any PE. */
static long locks[kLocks], guarded[kLocks];
/* Swapped by one thread each. */
static unsigned long slots[kWriters];
static unsigned short_slots[kWriters];
/* What the PE before has sent, and the flags that it raises when it is there. */
static unsigned long letters[kMostThreads][kBlock];
static uint64_t flags[kMostThreads][kFlags];
/* Large blocks, by the PE that writes to them. */
static unsigned long large[kMostPes][kLarge];
static unsigned long given[kMostThreads][kMostPes * kBlock], got[kMostThreads][kMostPes * kBlock];

/* A get that its context has not completed. */
typedef struct {
  int active;
  Operation operation;
  unsigned long back[kWindow], expected[kWindow];
} PendingGet;

typedef struct {
  int number;
  uint64_t seed;
  long operations;
  shmem_team_t team;
  shmem_ctx_t contexts[kContexts];
  /* What this thread writes: its windows in the memory of each PE. */
  unsigned long shadow[2][kMostPes][kWindow];
  /* The context of the last write of a word that nothing has ordered since, plus one. */
  unsigned char unordered[2][kMostPes][kWindow];
  PendingGet gets[kContexts];
  long fetched[kContexts];
  unsigned long swapped[kMostPes];
  unsigned swapped_short[kMostPes];
  /* Sources of puts without handles stay until a quiet: three are in use in turn; the first is of other puts. */
  unsigned long sources[4][kWindow];
  int source;
  unsigned long strided[2 * kWindow];
  /* The flags of the next PE that this thread raises. */
  uint64_t raised[kFlags];
} Thread;
static Thread threads[kMostThreads];

static uint64_t stream_of(uint64_t seed, int pe, int thread) {
  return seed * 1000003 + (uint64_t)(pe * kMostThreads + thread) + 1;
}

static unsigned long *window_of(int pe, int thread, const Operation *operation) {
  const size_t writer = (size_t)(pe * kMostThreads + thread);
  return half_of(operation) == 0 ? static_windows[writer] : heap_windows + writer * kWindow;
}

static void complete(Thread *self, int context) {
  shmem_ctx_quiet(self->contexts[context]);
  for (int half = 0; half < 2; ++half) {
    for (int pe = 0; pe < shmem_n_pes(); ++pe) {
      for (int i = 0; i < kWindow; ++i) {
        if (self->unordered[half][pe][i] == context + 1) self->unordered[half][pe][i] = 0;
      }
    }
  }
  PendingGet *const get = &self->gets[context];
  for (int i = 0; get->active && i < get->operation.words; ++i) CHECK_EQUAL(get->back[i], get->expected[i]);
  get->active = 0;
}

static int writes_word(const Thread *self, const Operation *operation, int i) {
  return self->unordered[half_of(operation)][operation->target][place_of(operation, i)] - 1;
}

/* Completes the contexts that have written any of the words, but for `spared`. */
static void complete_writers(Thread *self, const Operation *operation, int spared) {
  for (int i = 0; i < operation->words; ++i) {
    const int context = writes_word(self, operation, i);
    if (context >= 0 && context != spared) complete(self, context);
  }
}

/* Before words are written. */
static void order(Thread *self, const Operation *operation) {
  for (int context = 0; context < kContexts; ++context) {
    const PendingGet *const get = &self->gets[context];
    if (get->active && half_of(&get->operation) == half_of(operation) && get->operation.target == operation->target &&
        get->operation.first < operation->first + extent_of(operation) &&
        operation->first < get->operation.first + extent_of(&get->operation)) {
      complete(self, context);
    }
  }
  complete_writers(self, operation, operation->context);
  for (int i = 0; i < operation->words; ++i) {
    if (writes_word(self, operation, i) != operation->context) continue;
    shmem_ctx_fence(self->contexts[operation->context]);
    return;
  }
}

static void wrote(Thread *self, const Operation *operation) {
  for (int i = 0; i < operation->words; ++i) {
    const int at = place_of(operation, i);
    self->shadow[half_of(operation)][operation->target][at] = word_of(operation, i);
    self->unordered[half_of(operation)][operation->target][at] = (unsigned char)(operation->context + 1);
  }
}

static void write_window(Thread *self, const Operation *operation, int pe) {
  const shmem_ctx_t ctx = self->contexts[operation->context];
  const int me = shmem_my_pe();
  unsigned long *const there = window_of(me, self->number, operation) + operation->first;
  const size_t words = (size_t)operation->words;
  order(self, operation);
  if (operation->kind == kPutNbi) {
    self->source = self->source % 3 + 1;
    if (self->source == 1) {
      for (int i = 0; i < kContexts; ++i) complete(self, i);
    }
  }
  unsigned long *const from = self->sources[operation->kind == kPutNbi ? self->source : 0];
  for (int i = 0; i < operation->words; ++i) from[i] = word_of(operation, i);
  switch (operation->kind) {
    case kPut:
      shmem_put(ctx, there, from, words, pe);
      memset(from, 0xee, words * sizeof *from);
      break;
    case kPutNbi:
      shmem_put_nbi(ctx, there, from, words, pe);
      break;
    case kP:
      shmem_p(ctx, there, from[0], pe);
      break;
    case kIput:
      for (int i = 0; i < operation->words; ++i) self->strided[2 * i] = from[i];
      shmem_iput(ctx, there, self->strided, operation->stride, 2, words, pe);
      break;
    case kIbput:
      for (int i = 0; i < operation->words; ++i) self->strided[i / 2 * 3 + i % 2] = from[i];
      shmem_ibput(ctx, there, self->strided, operation->stride, 3, 2, words / 2, pe);
      break;
    default: {
      const int adds = adds_signal(operation), writer = me * kMostThreads + self->number;
      shmem_put_signal(ctx, there, from, words, adds ? &signals_added[writer] : &signals_seen[writer],
                       (uint64_t)operation->value, adds ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET, pe);
      memset(from, 0xee, words * sizeof *from);
      break;
    }
  }
  wrote(self, operation);
}

static void read_window(Thread *self, const Operation *operation, int pe) {
  const shmem_ctx_t ctx = self->contexts[operation->context];
  const unsigned long *const there = window_of(shmem_my_pe(), self->number, operation) + operation->first;
  const unsigned long *const expected = self->shadow[half_of(operation)][operation->target];
  const size_t words = (size_t)operation->words;
  PendingGet *const get = &self->gets[operation->context];
  complete_writers(self, operation, -1);
  if (get->active) complete(self, operation->context);
  for (int i = 0; i < operation->words; ++i) {
    get->back[i] = 0;
    get->expected[i] = expected[place_of(operation, i)];
  }
  if (operation->kind == kGetNbi) {
    get->active = 1;
    get->operation = *operation;
    shmem_get_nbi(ctx, get->back, there, words, pe);
    return;
  }
  if (operation->kind == kG) {
    get->back[0] = shmem_g(ctx, there, pe);
  } else if (operation->kind == kGet) {
    shmem_get(ctx, get->back, there, words, pe);
  } else {
    shmem_iget(ctx, get->back, there, 1, operation->stride, words, pe);
  }
  for (int i = 0; i < operation->words; ++i) CHECK_EQUAL(get->back[i], get->expected[i]);
}

/* What others have done with the lock is there, and what is done with it is there for the next one: without a call that
 * completes it. */
static void count_with_lock(const Operation *operation) {
  const int lock = operation->first % kLocks;
  if (operation->value % 4 == 0) {
    while (shmem_test_lock(&locks[lock]) != 0) {
    }
  } else {
    shmem_set_lock(&locks[lock]);
  }
  const long before = shmem_g(&guarded[lock], operation->target);
  shmem_p(&guarded[lock], before + 1, operation->target);
  shmem_clear_lock(&locks[lock]);
}

static void carry_out(Thread *self, const Operation *operation) {
  const int pes = shmem_n_pes();
  const int pe = operation->context == kBackwards ? pes - 1 - operation->target : operation->target;
  const shmem_ctx_t ctx = self->contexts[operation->context];
  const int counter = operation->first % kCounters;
  const int writer = shmem_my_pe() * kMostThreads + self->number;
  unsigned long *const swapped = &self->swapped[operation->target];
  switch (operation->kind) {
    case kG:
    case kGet:
    case kGetNbi:
    case kIget:
      read_window(self, operation, pe);
      break;
    case kAdd:
      shmem_atomic_add(ctx, &counters[counter], (long)(operation->value % 1000), pe);
      break;
    case kFetchAdd:
      CHECK(shmem_atomic_fetch_add(ctx, &counters[counter], 1L, pe) >= 0);
      break;
    case kFetchAddNbi:
      shmem_atomic_fetch_add_nbi(ctx, &self->fetched[operation->context], &counters[counter], 1L, pe);
      break;
    case kXor:
      shmem_atomic_xor(ctx, &toggles[counter], operation->value, pe);
      break;
    case kSwap:
      CHECK_EQUAL(shmem_atomic_swap(ctx, &slots[writer], operation->value, pe), *swapped);
      *swapped = operation->value;
      break;
    case kCompareSwap: {
      const int matches = operation->first % 2;
      const unsigned long compared = matches ? *swapped : ~*swapped;
      CHECK_EQUAL(shmem_atomic_compare_swap(ctx, &slots[writer], compared, operation->value, pe), *swapped);
      if (matches) *swapped = operation->value;
      break;
    }
    case kSwapShort: {
      const unsigned value = (unsigned)operation->value;
      CHECK_EQUAL(shmem_atomic_swap(ctx, &short_slots[writer], value, pe), self->swapped_short[operation->target]);
      self->swapped_short[operation->target] = value;
      break;
    }
    case kLocked:
      count_with_lock(operation);
      break;
    case kFence:
      shmem_ctx_fence(ctx);
      break;
    case kQuiet:
      complete(self, operation->context);
      break;
    default:
      write_window(self, operation, pe);
      break;
  }
}

static unsigned long element(unsigned long round, int pe, int i) {
  return round * 100003UL + (unsigned long)pe * 1009UL + (unsigned long)i;
}

/* Each on the thread's own team, of all PEs. */
static void collective(Thread *self, Random *random, unsigned long round) {
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  unsigned long *const in = given[self->number], *const out = got[self->number];
  const uint32_t kind = below(random, 6);
  const int root = (int)below(random, (uint32_t)pes), count = 1 + (int)below(random, kBlock);
  for (int i = 0; i < pes * count; ++i) in[i] = element(round, me, i);
  shmem_team_sync(self->team);
  int at = 0;
  switch (kind) {
    case 0:
      CHECK_EQUAL(shmem_broadcast(self->team, out, in, (size_t)count, root), 0);
      for (int i = 0; i < count; ++i) CHECK_EQUAL(out[i], element(round, root, i));
      break;
    case 1:
      CHECK_EQUAL(shmem_fcollect(self->team, out, in, (size_t)count), 0);
      for (int i = 0; i < pes * count; ++i) CHECK_EQUAL(out[i], element(round, i / count, i % count));
      break;
    case 2: /* as many as the PE's number and `count` say */
      CHECK_EQUAL(shmem_collect(self->team, out, in, (size_t)((me + count) % kBlock)), 0);
      for (int pe = 0; pe < pes; ++pe) {
        for (int i = 0; i < (pe + count) % kBlock; ++i, ++at) CHECK_EQUAL(out[at], element(round, pe, i));
      }
      break;
    case 3:
      CHECK_EQUAL(shmem_alltoall(self->team, out, in, (size_t)count), 0);
      for (int i = 0; i < pes * count; ++i) CHECK_EQUAL(out[i], element(round, i / count, me * count + i % count));
      break;
    case 4:
      CHECK_EQUAL(shmem_max_reduce(self->team, out, in, (size_t)count), 0);
      for (int i = 0; i < count; ++i) CHECK_EQUAL(out[i], element(round, pes - 1, i));
      break;
    default: {
      shmem_team_t row = SHMEM_TEAM_INVALID, column = SHMEM_TEAM_INVALID;
      CHECK_EQUAL(shmem_team_split_2d(self->team, 1 + root, NULL, 0, &row, NULL, 0, &column), 0);
      const int pes_of_column = shmem_team_n_pes(column), x = me % (1 + root);
      CHECK_EQUAL(shmem_team_n_pes(row) > 0, 1);
      CHECK_EQUAL(shmem_broadcast(column, out, in, (size_t)count, pes_of_column - 1), 0);
      for (int i = 0; i < count; ++i) {
        CHECK_EQUAL(out[i], element(round, x + (pes_of_column - 1) * (1 + root), i));
      }
      shmem_team_destroy(row);
      shmem_team_destroy(column);
      break;
    }
  }
}

/* Waits and tests, by the order of await_flags(). Those of vectors have a value for each flag. */
enum {
  kWaitEach,
  kWaitSignals,
  kTestEach,
  kWaitAll,
  kTestAll,
  kWaitAny,
  kTestAny,
  kWaitSome,
  kTestSome,
  kWaitAllVector, /* from here on: those of vectors */
  kTestAllVector,
  kWaitAnyVector,
  kTestAnyVector,
  kWaitSomeVector,
  kTestSomeVector,
  kWaits
};

static size_t any_raised(uint64_t *raised, const int *status, uint64_t *stamps, uint32_t how) {
  switch (how) {
    case kWaitAny:
      return shmem_wait_until_any(raised, kFlags, status, SHMEM_CMP_EQ, stamps[0]);
    case kTestAny:
      return shmem_test_any(raised, kFlags, status, SHMEM_CMP_EQ, stamps[0]);
    case kWaitAnyVector:
      return shmem_wait_until_any_vector(raised, kFlags, status, SHMEM_CMP_EQ, stamps);
    default:
      return shmem_test_any_vector(raised, kFlags, status, SHMEM_CMP_EQ, stamps);
  }
}

static size_t some_raised(uint64_t *raised, size_t *indices, const int *status, uint64_t *stamps, uint32_t how) {
  switch (how) {
    case kWaitSome:
      return shmem_wait_until_some(raised, kFlags, indices, status, SHMEM_CMP_EQ, stamps[0]);
    case kTestSome:
      return shmem_test_some(raised, kFlags, indices, status, SHMEM_CMP_EQ, stamps[0]);
    case kWaitSomeVector:
      return shmem_wait_until_some_vector(raised, kFlags, indices, status, SHMEM_CMP_EQ, stamps);
    default:
      return shmem_test_some_vector(raised, kFlags, indices, status, SHMEM_CMP_EQ, stamps);
  }
}

/* Until all flags are raised to their stamps, by each kind of wait and test. */
static void await_flags(uint64_t *raised, uint64_t *stamps, uint32_t how) {
  int status[kFlags] = {0};
  size_t indices[kFlags], found = 0;
  switch (how) {
    case kWaitEach:
      for (int i = 0; i < kFlags; ++i) shmem_wait_until(&raised[i], SHMEM_CMP_EQ, stamps[i]);
      break;
    case kWaitSignals:
      for (int i = 0; i < kFlags; ++i) {
        CHECK_EQUAL(shmem_signal_wait_until(&raised[i], SHMEM_CMP_GE, stamps[i]), stamps[i]);
      }
      break;
    case kTestEach:
      for (int i = 0; i < kFlags; ++i) {
        while (!shmem_test(&raised[i], SHMEM_CMP_EQ, stamps[i])) {
        }
      }
      break;
    case kWaitAll:
      shmem_wait_until_all(raised, kFlags, status, SHMEM_CMP_EQ, stamps[0]);
      break;
    case kTestAll:
      while (!shmem_test_all(raised, kFlags, status, SHMEM_CMP_EQ, stamps[0])) {
      }
      break;
    case kWaitAllVector:
      shmem_wait_until_all_vector(raised, kFlags, status, SHMEM_CMP_GE, stamps);
      break;
    case kTestAllVector:
      while (!shmem_test_all_vector(raised, kFlags, status, SHMEM_CMP_EQ, stamps)) {
      }
      break;
    case kWaitAny:
    case kTestAny:
    case kWaitAnyVector:
    case kTestAnyVector:
      while (found < kFlags) {
        const size_t one = any_raised(raised, status, stamps, how);
        if (one == SIZE_MAX && (how == kTestAny || how == kTestAnyVector)) continue;
        CHECK(one < kFlags && status[one] == 0);
        status[one] = 1;
        ++found;
      }
      break;
    default:
      while (found < kFlags) {
        const size_t some = some_raised(raised, indices, status, stamps, how);
        CHECK(some <= kFlags - found && (some > 0 || how == kTestSome || how == kTestSomeVector));
        for (size_t i = 0; i < some; ++i) {
          CHECK(indices[i] < kFlags && status[indices[i]] == 0);
          status[indices[i]] = 1;
        }
        found += some;
      }
  }
  for (int i = 0; i < kFlags; ++i) CHECK_EQUAL(raised[i], stamps[i]);
}

static void raise_flag(shmem_ctx_t ctx, uint64_t *raised, uint64_t stamp, uint32_t how, int pe) {
  switch (how) {
    case 0:
      shmem_p(ctx, raised, stamp, pe);
      break;
    case 1:
      shmem_put(ctx, raised, &stamp, 1, pe);
      break;
    case 2:
      shmem_atomic_set(ctx, raised, stamp, pe);
      break;
    default:
      shmem_ctx_signal_set(ctx, raised, stamp, pe);
      break;
  }
}

/* The letter in as many parts as there are flags, each with its flag as a signal, which nothing else orders. */
static void send_with_signals(Thread *self, shmem_ctx_t ctx, const unsigned long *out, const uint64_t *stamps, int adds,
                              int pe) {
  for (int i = 0; i < kFlags; ++i) {
    const uint64_t signal = adds ? stamps[i] - self->raised[i] : stamps[i];
    shmem_put_signal(ctx, letters[self->number] + i * kPart, out + i * kPart, kPart, &flags[self->number][i], signal,
                     adds ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET, pe);
  }
}

/* Each PE writes to the next one, which waits until the letter has come. */
static void letter(Thread *self, Random *random, unsigned long round) {
  const int me = shmem_my_pe(), pes = shmem_n_pes(), next = (me + 1) % pes, before = (me + pes - 1) % pes;
  const uint32_t context = below(random, kBackwards), fences = below(random, 2), how = below(random, kWaits);
  const uint32_t writes = below(random, 6), raises = below(random, 4);
  const shmem_ctx_t ctx = self->contexts[context];
  unsigned long *const out = given[self->number], *const here = letters[self->number];
  /* They rise from letter to letter, whether they differ among flags or not. */
  uint64_t stamps[kFlags];
  for (int i = 0; i < kFlags; ++i) stamps[i] = (round + 1) * kFlags + (how >= kWaitAllVector ? (uint64_t)i : 0);
  for (int i = 0; i < kBlock; ++i) out[i] = element(round, me, i);
  switch (writes) {
    case 0:
      for (int i = 0; i < kBlock; ++i) shmem_p(ctx, &here[i], out[i], next);
      break;
    case 1:
      shmem_put(ctx, here, out, kBlock, next);
      break;
    case 2:
      shmem_put_nbi(ctx, here, out, kBlock, next);
      break;
    case 3:
      for (int i = 0; i < kBlock; ++i) shmem_atomic_set(ctx, &here[i], out[i], next);
      break;
    default:
      send_with_signals(self, ctx, out, stamps, writes == 4, next);
      break;
  }
  if (writes < 4) {
    if (fences) {
      shmem_ctx_fence(ctx);
    } else {
      shmem_ctx_quiet(ctx);
    }
    for (int i = 0; i < kFlags; ++i) raise_flag(ctx, &flags[self->number][i], stamps[i], raises, next);
  }
  memcpy(self->raised, stamps, sizeof stamps);
  await_flags(flags[self->number], stamps, how);
  for (int i = 0; i < kBlock; ++i) CHECK_EQUAL(here[i], element(round, before, i));
  shmem_ctx_quiet(ctx);
  shmem_team_sync(self->team); /* it has been read */
}

/* What each PE has, of each writer: the same on all PEs. */
static unsigned long *expected_large;

static unsigned long *expected_on(int pe, int writer) {
  return expected_large + ((size_t)pe * (size_t)shmem_n_pes() + (size_t)writer) * kLarge;
}

static void get_large(Thread *self, int pe, int writer, int first, int words) {
  unsigned long *const back = self->strided;
  for (int from = first; from < first + words; from += kWindow) {
    const int some = first + words - from < kWindow ? first + words - from : kWindow;
    shmem_get(back, &large[writer][from], (size_t)some, pe);
    for (int i = 0; i < some; ++i) CHECK_EQUAL(back[i], expected_on(pe, writer)[from + i]);
  }
}

/* Between barriers, which begin where they did before: the same gets, which may be made ahead, and
 * puts of blocks that are too large to be copied. */
static void phase(Thread *self, Random *random, unsigned long round) {
  static unsigned long source[kLarge];
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  shmem_barrier_all();
  for (int i = 0; i < kRepeated; ++i) get_large(self, (me + i) % pes, (me + 2 * i) % pes, 1000 * i, 20 + 300 * i);
  shmem_barrier_all(); /* all have read what is overwritten next */
  int target = 0;
  for (int writer = 0; writer < pes; ++writer) {
    const int pe = (int)below(random, (uint32_t)pes);
    const int words = kLarge / 2 + (int)below(random, kLarge / 2);
    const int first = (int)below(random, (uint32_t)(kLarge - words + 1));
    for (int i = 0; i < words; ++i) expected_on(pe, writer)[first + i] = element(round, writer, i);
    if (writer != me) continue;
    target = pe;
    for (int i = 0; i < words; ++i) source[i] = element(round, me, i);
    shmem_put(&large[me][first], source, (size_t)words, pe);
    memset(source, 0xee, sizeof source);
  }
  shmem_quiet();
  get_large(self, target, me, 0, kLarge);
  shmem_barrier_all();
  for (int writer = 0; writer < pes; ++writer) {
    for (int i = 0; i < kLarge; i += 97) CHECK_EQUAL(large[writer][i], expected_on(me, writer)[i]);
  }
}

static void *run(void *argument) {
  Thread *const self = argument;
  const int pes = shmem_n_pes();
  Random random = {stream_of(self->seed, shmem_my_pe(), self->number)};
  Random shared = {stream_of(self->seed, kMostPes, self->number)};
  for (long n = 0; n < self->operations; ++n) {
    const Operation operation = next_operation(&random, pes);
    carry_out(self, &operation);
    if (n % kBetweenCollectives == kBetweenCollectives - 1) {
      collective(self, &shared, (unsigned long)n);
      letter(self, &shared, (unsigned long)n);
    }
    if (expected_large != NULL && n % kBetweenPhases == kBetweenPhases - 1) phase(self, &shared, (unsigned long)n);
  }
  for (int i = 0; i < kContexts; ++i) complete(self, i);
  return NULL;
}

/* What the operations of a thread do to this PE's memory. */
static void replay(int pe, const Thread *thread, int me, int pes) {
  static unsigned long expected[2][kWindow];
  memset(expected, 0, sizeof expected);
  unsigned long swapped = 0;
  uint64_t added = 0;
  unsigned swapped_short = 0;
  Random random = {stream_of(thread->seed, pe, thread->number)};
  for (long n = 0; n < thread->operations; ++n) {
    const Operation operation = next_operation(&random, pes);
    if (operation.target != me) continue;
    if (operation.kind <= kPutSignal) {
      for (int i = 0; i < operation.words; ++i) {
        expected[half_of(&operation)][place_of(&operation, i)] = word_of(&operation, i);
      }
    }
    const int counter = operation.first % kCounters;
    if (operation.kind == kAdd) counters[counter] -= (long)(operation.value % 1000);
    if (operation.kind == kFetchAdd || operation.kind == kFetchAddNbi) counters[counter] -= 1;
    if (operation.kind == kXor) toggles[counter] ^= operation.value;
    if (operation.kind == kPutSignal && adds_signal(&operation)) added += operation.value;
    if (operation.kind == kLocked) guarded[operation.first % kLocks] -= 1;
    if (operation.kind == kSwap || (operation.kind == kCompareSwap && operation.first % 2)) swapped = operation.value;
    if (operation.kind == kSwapShort) swapped_short = (unsigned)operation.value;
  }
  const size_t writer = (size_t)(pe * kMostThreads + thread->number);
  CHECK_EQUAL(slots[writer], swapped);
  CHECK_EQUAL(short_slots[writer], swapped_short);
  CHECK_EQUAL(signals_added[writer], added);
  for (int i = 0; i < kWindow; ++i) {
    CHECK_EQUAL(static_windows[writer][i], expected[0][i]);
    CHECK_EQUAL(heap_windows[writer * kWindow + (size_t)i], expected[1][i]);
  }
}

int main(int argc, char **argv) {
  const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  const long operations = argc > 2 ? strtol(argv[2], NULL, 10) : 2000;
  const int used = argc > 3 ? atoi(argv[3]) : 1;
  int provided = -1;
  CHECK_EQUAL(shmem_init_thread(used > 1 ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE, &provided), 0);
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  CHECK(pes <= kMostPes && used >= 1 && used <= kMostThreads);
  heap_windows = shmem_calloc((size_t)kWriters * kWindow, sizeof(unsigned long));
  CHECK(heap_windows != NULL);
  if (used == 1) { /* barriers, and what they begin, are of all threads */
    expected_large = calloc((size_t)pes * (size_t)pes * kLarge, sizeof *expected_large);
    CHECK(expected_large != NULL);
  }
  shmem_team_t backwards = SHMEM_TEAM_INVALID;
  CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &backwards), 0);
  CHECK_EQUAL(shmem_team_my_pe(backwards), pes - 1 - me);
  for (int t = 0; t < used; ++t) {
    Thread *const thread = &threads[t];
    thread->number = t;
    thread->seed = seed;
    thread->operations = operations;
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, NULL, 0, &thread->team), 0);
    thread->contexts[0] = SHMEM_CTX_DEFAULT;
    for (int i = 1; i < kBackwards; ++i) CHECK_EQUAL(shmem_ctx_create(SHMEM_CTX_PRIVATE, &thread->contexts[i]), 0);
    CHECK_EQUAL(shmem_team_create_ctx(backwards, SHMEM_CTX_SERIALIZED, &thread->contexts[kBackwards]), 0);
  }
  shmem_barrier_all();

  pthread_t others[kMostThreads];
  for (int t = 1; t < used; ++t) CHECK_EQUAL(pthread_create(&others[t], NULL, run, &threads[t]), 0);
  run(&threads[0]);
  for (int t = 1; t < used; ++t) CHECK_EQUAL(pthread_join(others[t], NULL), 0);
  shmem_barrier_all();

  for (int pe = 0; pe < pes; ++pe) {
    for (int t = 0; t < used; ++t) replay(pe, &threads[t], me, pes);
  }
  for (int i = 0; i < kCounters; ++i) {
    CHECK_EQUAL(counters[i], 0);
    CHECK_EQUAL(toggles[i], 0);
  }
  for (int i = 0; i < kLocks; ++i) {
    CHECK_EQUAL(guarded[i], 0);
    CHECK_EQUAL(locks[i], 0);
  }
  for (int t = 0; t < used; ++t) {
    for (int i = 1; i < kBackwards; ++i) shmem_ctx_destroy(threads[t].contexts[i]);
    shmem_team_destroy(threads[t].team);
  }
  shmem_team_destroy(backwards); /* and the contexts of it */
  free(expected_large);
  return passed("shadow");
}
