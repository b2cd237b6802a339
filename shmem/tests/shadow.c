/*
 * Random puts, gets, atomic operations, signals, fences and collectives of all PEs, against what a program that does
 * them one after the other would find. Arguments: the seed, and the number of operations of each PE.
 *
 * Each PE draws its operations from a stream of its own, which all PEs know: so each can say what its memory is to
 * hold. A PE has a window in every other one's memory to which it alone writes, and orders operations that overlap
 * by a fence of their context, or by a quiet where that is another one. Counters that all add to are sums.
 */
#include <string.h>

#include "check.h"

enum { kMostPes = 8, kWindow = 2048, kCounters = 16, kContexts = 3 };

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

typedef enum { kPut, kPutNbi, kP, kIput, kPutSignal, kGet, kAdd, kFetchAdd, kXor, kFence, kQuiet, kBarrier, kKinds } Kind;

typedef struct {
  Kind kind;
  int context, target, first, count, stride;
  unsigned long value;
} Operation;

static Operation next_operation(Random *random, int pes) {
  Operation operation;
  const uint32_t chance = below(random, 100);
  operation.kind = chance < 20   ? kPut
                   : chance < 30 ? kPutNbi
                   : chance < 50 ? kP
                   : chance < 55 ? kIput
                   : chance < 60 ? kPutSignal
                   : chance < 70 ? kGet
                   : chance < 80 ? kAdd
                   : chance < 85 ? kFetchAdd
                   : chance < 90 ? kXor
                   : chance < 94 ? kFence
                                 : kQuiet;
  operation.context = (int)below(random, kContexts);
  operation.target = (int)below(random, (uint32_t)pes);
  const uint32_t most = below(random, 4) == 0 ? kWindow / 2 : 12;
  operation.count = operation.kind == kP ? 1 : 1 + (int)below(random, most);
  operation.stride = operation.kind == kIput ? 1 + (int)below(random, 4) : 1;
  if (operation.count * operation.stride > kWindow) operation.stride = 1;
  operation.first = (int)below(random, (uint32_t)(kWindow - operation.count * operation.stride + 1));
  operation.value = draw(random);
  return operation;
}

/* What the i-th word of an operation is to be. */
static unsigned long word_of(const Operation *operation, int i) { return operation->value * 4096 + (unsigned long)i; }

/* Windows of static data and of the heap, by the PE that writes to them. */
static unsigned long static_windows[kMostPes][kWindow];
static unsigned long *heap_windows;
static uint64_t signals_seen[kMostPes];
static long counters[kCounters];
static unsigned long toggles[kCounters];

static unsigned long *window_of(int writer, const Operation *operation) {
  return operation->value % 2 == 0 ? static_windows[writer] : heap_windows + (size_t)writer * kWindow;
}

/* What PE `me` writes: its windows in the memory of each PE. */
static unsigned long shadow[2][kMostPes][kWindow];
/* The context of the last write of a word that nothing has ordered since, plus one. */
static unsigned char unordered[2][kMostPes][kWindow];
static unsigned long source[kWindow * 4], strided_source[kWindow * 4];
static shmem_ctx_t contexts[kContexts];

static void complete(int context) {
  shmem_ctx_quiet(contexts[context]);
  for (int half = 0; half < 2; ++half) {
    for (int pe = 0; pe < shmem_n_pes(); ++pe) {
      for (int i = 0; i < kWindow; ++i) {
        if (unordered[half][pe][i] == context + 1) unordered[half][pe][i] = 0;
      }
    }
  }
}

/* Before words are written, or read, by this context. */
static void order(const Operation *operation, int reads) {
  const int half = (int)(operation->value % 2);
  const unsigned char *const there = unordered[half][operation->target];
  for (int i = 0; i < operation->count; ++i) {
    const int writer = there[operation->first + i * operation->stride] - 1;
    if (writer < 0) continue;
    if (writer == operation->context && !reads) {
      shmem_ctx_fence(contexts[writer]);
      /* Still to be completed before it is read. */
      return;
    }
    complete(writer);
  }
}

static void wrote(const Operation *operation) {
  const int half = (int)(operation->value % 2);
  for (int i = 0; i < operation->count; ++i) {
    const int at = operation->first + i * operation->stride;
    shadow[half][operation->target][at] = word_of(operation, i);
    unordered[half][operation->target][at] = (unsigned char)(operation->context + 1);
  }
}

/* All contexts that have written any of the words, one after the other. */
static void order_all(const Operation *operation) {
  const int half = (int)(operation->value % 2);
  for (int context = 0; context < kContexts; ++context) {
    if (context == operation->context) continue;
    for (int i = 0; i < operation->count; ++i) {
      if (unordered[half][operation->target][operation->first + i * operation->stride] == context + 1) {
        complete(context);
        break;
      }
    }
  }
  order(operation, 0);
}

static void carry_out(const Operation *operation, int me, int slot) {
  const shmem_ctx_t ctx = contexts[operation->context];
  const int target = operation->target;
  unsigned long *const window = window_of(me, operation) + operation->first;
  const size_t count = (size_t)operation->count;
  /* Sources of puts without handles stay until a quiet: two are in use in turn. */
  unsigned long *const from = source + (size_t)slot * kWindow;
  switch (operation->kind) {
    case kPut:
    case kPutNbi:
    case kPutSignal:
      order_all(operation);
      for (int i = 0; i < operation->count; ++i) from[i] = word_of(operation, i);
      if (operation->kind == kPut) {
        shmem_put(ctx, window, from, count, target);
        memset(from, 0xee, count * sizeof *from);
      } else if (operation->kind == kPutNbi) {
        shmem_put_nbi(ctx, window, from, count, target);
      } else {
        shmem_put_signal(ctx, window, from, count, &signals_seen[me], operation->value, SHMEM_SIGNAL_SET, target);
      }
      wrote(operation);
      break;
    case kP:
      order_all(operation);
      shmem_p(ctx, window, word_of(operation, 0), target);
      wrote(operation);
      break;
    case kIput:
      order_all(operation);
      for (int i = 0; i < operation->count; ++i) strided_source[2 * i] = word_of(operation, i);
      shmem_iput(ctx, window, strided_source, operation->stride, 2, count, target);
      wrote(operation);
      break;
    case kGet: {
      static unsigned long back[kWindow];
      order(operation, 1);
      shmem_get(ctx, back, window, count, target);
      for (int i = 0; i < operation->count; ++i) {
        CHECK_EQUAL(back[i], shadow[operation->value % 2][target][operation->first + i]);
      }
      break;
    }
    case kAdd:
      shmem_atomic_add(ctx, &counters[operation->first % kCounters], (long)(operation->value % 1000), target);
      break;
    case kFetchAdd:
      CHECK(shmem_atomic_fetch_add(ctx, &counters[operation->first % kCounters], 1L, target) >= 0);
      break;
    case kXor:
      shmem_atomic_xor(ctx, &toggles[operation->first % kCounters], operation->value, target);
      break;
    case kFence:
      shmem_ctx_fence(ctx);
      break;
    default:
      complete(operation->context);
      break;
  }
}

/* What the operations of PE `writer` do to this PE's memory. */
static void replay(int writer, int me, int pes, uint64_t seed, long operations) {
  static unsigned long expected[2][kWindow];
  memset(expected, 0, sizeof expected);
  Random random = {seed * 1000003 + (uint64_t)writer + 1};
  for (long n = 0; n < operations; ++n) {
    const Operation operation = next_operation(&random, pes);
    if (operation.target != me) continue;
    if (operation.kind <= kPutSignal) {
      for (int i = 0; i < operation.count; ++i) {
        expected[operation.value % 2][operation.first + i * operation.stride] = word_of(&operation, i);
      }
    }
    const int counter = operation.first % kCounters;
    if (operation.kind == kAdd) counters[counter] -= (long)(operation.value % 1000);
    if (operation.kind == kFetchAdd) counters[counter] -= 1;
    if (operation.kind == kXor) toggles[counter] ^= operation.value;
  }
  for (int i = 0; i < kWindow; ++i) {
    CHECK_EQUAL(static_windows[writer][i], expected[0][i]);
    CHECK_EQUAL(heap_windows[(size_t)writer * kWindow + (size_t)i], expected[1][i]);
  }
}

int main(int argc, char **argv) {
  const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  const long operations = argc > 2 ? strtol(argv[2], NULL, 10) : 2000;
  shmem_init();
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  CHECK(pes <= kMostPes);
  heap_windows = shmem_calloc((size_t)kMostPes * kWindow, sizeof(unsigned long));
  CHECK(heap_windows != NULL);
  contexts[0] = SHMEM_CTX_DEFAULT;
  for (int i = 1; i < kContexts; ++i) CHECK_EQUAL(shmem_ctx_create(0, &contexts[i]), 0);
  shmem_barrier_all();

  Random random = {seed * 1000003 + (uint64_t)me + 1};
  int slot = 0;
  for (long n = 0; n < operations; ++n) {
    const Operation operation = next_operation(&random, pes);
    /* A source that is still read from is not written. */
    if (operation.kind == kPutNbi) {
      slot = (slot + 1) % 3 + 1;
      if (slot == 1) {
        for (int i = 0; i < kContexts; ++i) complete(i);
      }
    }
    carry_out(&operation, me, operation.kind == kPutNbi ? slot : 0);
  }
  for (int i = 0; i < kContexts; ++i) shmem_ctx_quiet(contexts[i]);
  shmem_barrier_all();
  for (int writer = 0; writer < pes; ++writer) replay(writer, me, pes, seed, operations);
  for (int i = 0; i < kCounters; ++i) {
    CHECK_EQUAL(counters[i], 0);
    CHECK_EQUAL(toggles[i], 0);
  }
  for (int i = 1; i < kContexts; ++i) shmem_ctx_destroy(contexts[i]);
  return passed("shadow");
}
