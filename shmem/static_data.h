// Static data of the program as symmetric memory: the writable data of its executable and of its
// shared objects (.data, .bss, what is static in functions).
//
// Their pages become pages of this PE's segment, at the addresses that they have: what they hold is
// copied to the segment, and the segment is mapped in their place. So everything that reaches
// a segment reaches them, by loads and stores on a node and by the network elsewhere, and an
// address becomes an offset as that of the heap does. PEs may have them at different addresses
// (ASLR); what lies in them must be laid out alike, which is compared before anything is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace stripline::shmem {

/// Whole pages of writable data.
struct StaticPages {
  uintptr_t begin = 0;
  size_t bytes = 0;
};

/// An executable or shared object of the program.
struct StaticObject {
  std::string name;    ///< of its file, without folders
  std::string build;   ///< "build ID 3f2a...", or, of files without one, "instructions 77ab..."
  uint64_t first = 0;  ///< where its data begin, from where it is loaded
  uint64_t initialised_bytes = 0;  ///< of its data; the others, which are zero at first:
  uint64_t zeroed_bytes = 0;
  std::vector<StaticPages> pages;  ///< may be none

  size_t bytes() const {
    size_t sum = 0;
    for (const StaticPages& part : pages) sum += part.bytes;
    return sum;
  }
};

/// The objects of this process, by name: its executable, and shared objects from outside of the
/// system's folders (/lib, /usr/lib, ...), whose data are their own affair. Read-only parts (RELRO)
/// are not in it.
std::vector<StaticObject> static_objects();

/// What must be the same on all PEs, one line for an object: which build it is, where its data
/// begin and how many there are. Compared by difference().
std::string describe(std::span<const StaticObject> objects);

/// What differs between two descriptions, for a message that begins with the object's name; empty:
/// nothing. `theirs` is PE 0's.
std::string difference(const std::string& mine, const std::string& theirs);

/// How many bytes of the segment the objects take.
size_t total_bytes(std::span<const StaticObject> objects);

/// Puts the pages of all objects, one after the other, into `place`: zeroed and page-aligned
/// memory of the segment, of total_bytes(). From then on both addresses show the same memory.
/// `pinned`: a network may hold on to the pages of `place`. `others_run`: other threads may write
/// static data meanwhile; one that does waits until they have been moved, by a handler of SIGSEGV,
/// and calls of the system that are to write there fail in that time. A child process of fork()
/// gets a copy of its own, as of all its memory. Errors: failed_precondition where this cannot be,
/// and then nothing has changed.
Status move_to(std::span<std::byte> place, std::span<const StaticObject> objects, bool pinned,
               bool others_run);

/// The same memory at an address that is a multiple of `alignment`, a power of two from a page on:
/// a second mapping of it, until the process ends. `memory` itself if it is aligned, or if it
/// cannot be mapped twice. Nothing is there yet; `pinned` as above.
std::byte* aligned(std::span<std::byte> memory, size_t alignment, bool pinned);

/// Threads of this process now, this one among them; 0: unknown.
size_t threads_of_process();

}  // namespace stripline::shmem
