// The CPU time of the calling thread, read often.
#pragma once

#include <cstdint>

namespace stripline::fabric {

/// CPU time of the calling thread in nanoseconds, from a moment of the past that stays the same. It
/// is what CLOCK_THREAD_CPUTIME_ID says, which takes a system call to read, and slows the code that
/// follows. As long as no other thread takes the processor away, a thread's CPU time advances as
/// the wall clock does, which takes no system call; whether one did, the kernel tells by the
/// thread's area of restartable sequences (rseq(2)), if it clears the sequence there whenever it
/// switches threads. Linux does up to 6.18; later ones may not where a thread slept in a system
/// call, which is found out by trying. Where it does not, or there is no area, every reading is a
/// system call. What interrupts and a host take is left out by the kernel's clock where it knows of
/// it: readings follow it again after a millisecond at the latest, and may then go back by that.
///
/// Thread-safe: every thread has its own. After fork() the child begins with
/// restart_thread_cpu_ns().
int64_t thread_cpu_ns();

/// Has the next reading ask the kernel, and leaves nothing in the thread's area.
void restart_thread_cpu_ns();

}  // namespace stripline::fabric
