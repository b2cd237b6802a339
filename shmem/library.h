// Setup, exit and queries.
#pragma once

#include <cstddef>

#include "shmem/world.h"

namespace stripline::shmem {

void init(const char* call);
/// Zero. A program that cannot start ends, with a message and the exit code of its error.
int init_thread(const char* call, int requested, int* provided);
void start_pes(const char* call, int pes);
/// The last one, of as many as there were calls of init(), leaves the job; each is a barrier.
void finalize(const char* call);
[[noreturn]] void global_exit(const char* call, int status);
void query_thread(const char* call, int* provided);
void query_initialized(int* initialized);

inline int my_pe(const char* call) { return static_cast<int>(world(call).me()); }
inline int n_pes(const char* call) { return static_cast<int>(world(call).pes()); }

int pe_accessible(const char* call, int pe);
int addr_accessible(const char* call, const void* address, int pe);
/// The address at which loads and stores of this PE reach the object of another one; null.
void* pointer_to(const char* call, shmem_team_t team, const void* address, int pe);

void info_get_version(int* major, int* minor);
void info_get_name(char* name);

/// 0: --trace and reports of the run note nothing, until another level. Tools may put a function of
/// their own in its place.
void pcontrol(int level);
/// Caches are coherent on all machines that this library is for.
inline void caches_are_coherent(const void* = nullptr) {}

}  // namespace stripline::shmem
