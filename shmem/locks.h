// Locks: symmetric variables of type long that are zero at first. PEs get one in the order in which
// they asked for it.
#pragma once

#include "shmem/world.h"

namespace stripline::shmem {

void set_lock(const char* call, long* lock);
void clear_lock(const char* call, long* lock);
/// 0: this PE has it now; 1: another one has it, or comes before.
int test_lock(const char* call, long* lock);

}  // namespace stripline::shmem
