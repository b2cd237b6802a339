// The CPU time of the calling thread, read often.
#pragma once

#include <cstdint>

namespace stripline::fabric {

/// CPU time of the calling thread in nanoseconds, from a moment of the past that stays the same. It
/// is what CLOCK_THREAD_CPUTIME_ID says, which takes a system call to read, and slows the code that
/// follows. As long as the thread is not interrupted by another one its CPU time advances as the
/// wall clock does, which takes no system call; that it was not, the kernel tells by the thread's
/// area of restartable sequences (rseq(2)). Where there is none, every reading is a system call.
///
/// Thread-safe: every thread has its own. After fork() the child begins with
/// restart_thread_cpu_ns().
int64_t thread_cpu_ns();

/// Has the next reading ask the kernel.
void restart_thread_cpu_ns();

/// Whether readings of this thread take no system call while nothing interrupts it.
bool thread_cpu_ns_is_cheap();

}  // namespace stripline::fabric
