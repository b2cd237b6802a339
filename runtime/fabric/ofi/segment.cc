#include "runtime/fabric/ofi/segment.h"

#include <cerrno>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

#include "base/host_memory.h"
#include "base/memory_limits.h"
#include "base/quantity.h"

namespace stripline::fabric::ofi {
namespace {

Error does_not_fit(size_t bytes, const std::string& reason) {
  return Error(ErrorCode::resource_exhausted,
               "cannot allocate a segment of " + bytes_text(bytes) + ": " + reason +
                   "; ask for a smaller one with STRIPLINE_SEGMENT_BYTES, or run fewer ranks on "
                   "this host");
}

/// Makes every page present. The kernel reports a shortage here instead of killing the process
/// later, except under overcommit, where nothing can.
bool populate(std::byte* base, size_t bytes) {
  if (madvise(base, bytes, MADV_POPULATE_WRITE) == 0) return true;
  if (errno != EINVAL) return false;
  // A kernel before 5.14: touch the pages.
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (size_t offset = 0; offset < bytes; offset += page) {
    *const_cast<volatile std::byte*>(base + offset) = std::byte{0};
  }
  return true;
}

/// An address at which `bytes` and huge pages begin; null where the kernel may choose one.
void* find_place(size_t bytes) {
  if (bytes < kHugePageBytes) return nullptr;
  void* const found = mmap(nullptr, bytes + kHugePageBytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) return nullptr;
  munmap(found, bytes + kHugePageBytes);
  const auto address = reinterpret_cast<uintptr_t>(found);
  // A hint only: if somebody else maps memory there meanwhile, the kernel chooses.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<void*>((address + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes);
}

}  // namespace

Segment::~Segment() {
  if (base_ != nullptr) munmap(base_, mapped_);
}

Result<Segment> Segment::allocate(size_t bytes, Kind kind, Pages pages) {
  Segment segment;
  segment.bytes_ = bytes;
  if (bytes == 0) return segment;

  const uint64_t room = MemoryLimits::read().allocatable_bytes();
  if (bytes > room) {
    return does_not_fit(bytes, "this host has " + bytes_text(room) + " of memory to give");
  }
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t mapped = (bytes + page - 1) / page * page;
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  if (kind == Kind::shared) {
    if (!may_size_file(mapped)) {
      return does_not_fit(bytes,
                          "the shell allows no file of that size, shared memory among them "
                          "('ulimit -f unlimited' allows it)");
    }
    segment.file_ = UniqueFd(memfd_create("stripline-segment", MFD_CLOEXEC));
    if (segment.file_ && ftruncate(segment.file_.get(), static_cast<off_t>(mapped)) == 0) {
      flags = MAP_SHARED;
    } else {
      segment.file_.reset();
    }
  }
  void* base =
      mmap(find_place(mapped), mapped, PROT_READ | PROT_WRITE, flags, segment.file_.get(), 0);
  if (base == MAP_FAILED) {
    return does_not_fit(
        bytes, "mmap: " + std::generic_category().message(errno) + " (see also 'ulimit -v')");
  }
  segment.base_ = static_cast<std::byte*>(base);
  segment.mapped_ = mapped;
  // Fewer faults and TLB misses; where huge pages are off, small ones do.
  if (mapped >= kHugePageBytes) madvise(base, mapped, MADV_HUGEPAGE);
  if (pages == Pages::now && !populate(segment.base_, mapped)) {
    return does_not_fit(bytes, "populating it: " + std::generic_category().message(errno));
  }
  return segment;
}

}  // namespace stripline::fabric::ofi
