// Puts and gets. `dest` of a put and `source` of a get are symmetric, the other side is any memory.
//
// A put returns when its source may be changed; a get when its data are here. Those that end in
// _nbi return at once: a quiet completes them. A put of few bytes that does not reach its target by
// stores is copied and travels with others, within the runtime's budget: a program may issue any
// number of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "shmem/world.h"

namespace stripline::shmem {

/// Bytes to memory that loads and stores reach. Of 1, 2, 4 or 8 aligned bytes each reader sees all
/// or none.
inline void copy_bytes(void* to, const void* from, size_t bytes) {
  switch (bytes) {
    case 1:
      std::memcpy(to, from, 1);
      break;
    case 2:
      std::memcpy(to, from, 2);
      break;
    case 4:
      std::memcpy(to, from, 4);
      break;
    case 8:
      std::memcpy(to, from, 8);
      break;
    default:
      std::memmove(to, from, bytes);
  }
}

void put(const char* call, shmem_ctx_t ctx, void* dest, const void* source, size_t bytes, int pe);
void put_nbi(const char* call, shmem_ctx_t ctx, void* dest, const void* source, size_t bytes,
             int pe);
void get(const char* call, shmem_ctx_t ctx, void* dest, const void* source, size_t bytes, int pe);
void get_nbi(const char* call, shmem_ctx_t ctx, void* dest, const void* source, size_t bytes,
             int pe);

/// `count` blocks of `block` elements; block i is at dest + i * dest_stride and at
/// source + i * source_stride, which are in elements.
void iput(const char* call, shmem_ctx_t ctx, void* dest, const void* source, ptrdiff_t dest_stride,
          ptrdiff_t source_stride, size_t element_bytes, size_t block, size_t count, int pe);
void iget(const char* call, shmem_ctx_t ctx, void* dest, const void* source, ptrdiff_t dest_stride,
          ptrdiff_t source_stride, size_t element_bytes, size_t block, size_t count, int pe);

/// put() and get() of what loads and stores do not reach.
void put_away(const char* call, World& world, CommContext& context, const Place& place,
              const void* source, size_t bytes);
void get_away(const char* call, World& world, CommContext& context, const Place& place, void* dest,
              size_t bytes);

template <typename T>
void p(const char* call, shmem_ctx_t ctx, T* dest, std::type_identity_t<T> value, int pe) {
  World& here = world(call);
  CommContext& context = here.context_of(call, ctx);
  const Place place = here.place(call, context, dest, sizeof(T), pe, false);
  if (place.here != nullptr) [[likely]] {
    std::memcpy(place.here, &value, sizeof(T));
    return;
  }
  put_away(call, here, context, place, &value, sizeof(T));
}

template <typename T>
T g(const char* call, shmem_ctx_t ctx, const T* source, int pe) {
  World& here = world(call);
  CommContext& context = here.context_of(call, ctx);
  const Place place = here.place(call, context, source, sizeof(T), pe, true);
  T value;
  if (place.here != nullptr) [[likely]] {
    std::memcpy(&value, place.here, sizeof(T));
  } else {
    get_away(call, here, context, place, &value, sizeof(T));
  }
  here.note_read(place, &value, sizeof(T));
  return value;
}

}  // namespace stripline::shmem
