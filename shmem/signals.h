// Puts that end in an update of a signal, a uint64_t at the target: who sees the signal sees the
// data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shmem/world.h"

namespace stripline::shmem {

/// `op` is SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD.
void put_signal(const char* call, shmem_ctx_t ctx, void* dest, const void* source, size_t bytes,
                uint64_t* signal, uint64_t value, int op, int pe);
void put_signal_nbi(const char* call, shmem_ctx_t ctx, void* dest, const void* source, size_t bytes,
                    uint64_t* signal, uint64_t value, int op, int pe);
void signal_set(const char* call, shmem_ctx_t ctx, uint64_t* signal, uint64_t value, int pe);
void signal_add(const char* call, shmem_ctx_t ctx, uint64_t* signal, uint64_t value, int pe);
uint64_t signal_fetch(const char* call, const uint64_t* signal);
uint64_t signal_wait_until(const char* call, uint64_t* signal, int comparison, uint64_t value);

}  // namespace stripline::shmem
