// shmem_global_exit: one PE ends all of them.
#pragma once

#include "shmem/world.h"

namespace stripline::shmem {

/// Collective over the job, once: from now on this PE ends when another one says so.
void watch_for_global_exit(World& world);

}  // namespace stripline::shmem
