#include "runtime/fabric/emulated/thread_cpu_clock.h"

#include <time.h>

#if defined(__x86_64__) && __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define STRIPLINE_HAS_RSEQ 1
#endif

namespace stripline::fabric {
namespace {

int64_t read_ns(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// For this long CPU time is taken to advance as the wall clock does, at most.
constexpr int64_t kSpan_ns = 1'000'000;

// CPU and wall time of one moment, since which no other thread has had the processor.
struct Moment {
  int64_t cpu_ns = 0;
  int64_t wall_ns = 0;
};

thread_local Moment moment;

#ifdef STRIPLINE_HAS_RSEQ

// A sequence that is never carried out. The kernel takes it from the thread's area when it has
// switched threads, as this one is not within it; it insists on a place to continue at, in front of
// which the signature is that glibc has registered (0x53053053, RSEQ_SIG).
asm(R"(
  .pushsection .text.stripline_sequence, "ax", @progbits
  .balign 4
  .long 0x53053053
stripline_sequence_abort:
  ud2
stripline_sequence:
  ud2
  .popsection
)");
static_assert(RSEQ_SIG == 0x53053053);
extern "C" const char stripline_sequence_abort[] __asm__("stripline_sequence_abort");
extern "C" const char stripline_sequence[] __asm__("stripline_sequence");

// struct rseq_cs of the kernel, whose addresses are known to the linker only.
struct alignas(32) Sequence {
  uint32_t version;
  uint32_t flags;
  const char* start;
  uint64_t bytes;
  const char* abort;
};
const Sequence kSequence{0, 0, stripline_sequence, 2, stripline_sequence_abort};

uint64_t address_of_sequence() { return reinterpret_cast<uint64_t>(&kSequence); }

// Null where the thread has no area.
volatile uint64_t* area_of_thread() {
  if (__rseq_size == 0) return nullptr;
  auto* const area = reinterpret_cast<struct rseq*>(static_cast<char*>(__builtin_thread_pointer()) +
                                                    __rseq_offset);
  if (static_cast<int32_t>(area->cpu_id) < 0) return nullptr;  // not registered
  return reinterpret_cast<volatile uint64_t*>(&area->rseq_cs);
}

// True if the kernel takes the sequence from the area of a thread that has slept.
bool is_cleared_by_sleep() {
  volatile uint64_t* const sequence = area_of_thread();
  if (sequence == nullptr) return false;
  *sequence = address_of_sequence();
  const timespec short_while{.tv_sec = 0, .tv_nsec = 50'000};
  ::clock_nanosleep(CLOCK_MONOTONIC, 0, &short_while, nullptr);
  const bool cleared = *sequence == 0;
  *sequence = 0;
  return cleared;
}

// Null where readings are system calls.
volatile uint64_t* sequence_of_thread() {
  static const bool is_told = is_cleared_by_sleep();
  return is_told ? area_of_thread() : nullptr;
}

#else

volatile uint64_t* sequence_of_thread() { return nullptr; }
uint64_t address_of_sequence() { return 0; }

#endif

}  // namespace

int64_t thread_cpu_ns() {
  volatile uint64_t* const sequence = sequence_of_thread();
  if (sequence == nullptr) return read_ns(CLOCK_THREAD_CPUTIME_ID);
  const int64_t wall_ns = read_ns(CLOCK_MONOTONIC);
  const int64_t since_ns = wall_ns - moment.wall_ns;
  if (*sequence == address_of_sequence() && since_ns < kSpan_ns) return moment.cpu_ns + since_ns;
  // Again if threads are switched in the middle, but not for ever.
  constexpr int kTries = 4;
  for (int i = 0; i < kTries; ++i) {
    *sequence = address_of_sequence();
    moment.cpu_ns = read_ns(CLOCK_THREAD_CPUTIME_ID);
    moment.wall_ns = read_ns(CLOCK_MONOTONIC);
    if (*sequence == address_of_sequence()) break;
  }
  return moment.cpu_ns;
}

void restart_thread_cpu_ns() {
  volatile uint64_t* const sequence = sequence_of_thread();
  if (sequence != nullptr && *sequence == address_of_sequence()) *sequence = 0;
}

}  // namespace stripline::fabric
