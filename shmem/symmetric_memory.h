// The symmetric heap's calls: collective, and the same on all PEs, among them the null pointer
// where there is no room. Memory of another PE is usable when a call returns.
#pragma once

#include <cstddef>

#include "shmem/world.h"

namespace stripline::shmem {

void* allocate(const char* call, size_t bytes);
void* allocate_zeroed(const char* call, size_t count, size_t element_bytes);
/// Null for an alignment that is not a power of two, or beyond World::heap_alignment().
void* allocate_aligned(const char* call, size_t alignment, size_t bytes);
/// As allocate(): all memory here suits atomic operations and signals.
void* allocate_with_hints(const char* call, size_t bytes, long hints);
void* reallocate(const char* call, void* block, size_t bytes);
void deallocate(const char* call, void* block);

}  // namespace stripline::shmem
