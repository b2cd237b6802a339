// shmem_global_exit: one PE ends all of them.
#pragma once

#include "shmem/world.h"

namespace stripline::shmem {

/// Collective over the job, once, on the thread of the program that uses its streams: from now on
/// this PE ends when another one says so.
void watch_for_global_exit(World& world);

/// What the program has written by C's streams and by the standard ones of C++, which may have
/// buffers of their own, leaves this process.
void flush_streams();

}  // namespace stripline::shmem
