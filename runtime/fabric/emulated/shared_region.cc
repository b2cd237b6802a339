#include "runtime/fabric/emulated/shared_region.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "base/host_memory.h"
#include "base/memory_limits.h"
#include "base/subprocess.h"

namespace stripline::fabric {
namespace {

constexpr size_t kPage = 4096;

struct alignas(kCacheLine) RegionHeader {
  std::atomic<uint64_t> shape_key;  // 0: not written yet
  alignas(kCacheLine) std::atomic<uint32_t> nic_lock;
};

size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

std::string errno_text() { return std::generic_category().message(errno); }

// In /dev/shm any user may have made a file of this name first, and open it whenever he likes.
Status check_own(int fd, const std::string& name) {
  struct stat found = {};
  if (::fstat(fd, &found) != 0) {
    return Error(ErrorCode::unavailable,
                 "cannot look at shared memory '" + name + "': " + errno_text());
  }
  const bool open_to_others = (found.st_mode & (S_IRWXG | S_IRWXO)) != 0;
  // A link to a file of ours that somebody has given this name; another rank may have removed it.
  const bool has_another_name = found.st_nlink > 1;
  if (found.st_uid == ::geteuid() && S_ISREG(found.st_mode) && !open_to_others &&
      !has_another_name) {
    return {};
  }
  return Error(ErrorCode::failed_precondition,
               "shared memory '" + name + "' was made by another user (id " +
                   std::to_string(found.st_uid) +
                   "), is open to others, who could change what the ranks share, or is a link to "
                   "another file: it is not used; remove it, and start the job again");
}

}  // namespace

SharedRegion::Offsets SharedRegion::layout(const Shape& shape) {
  Offsets o{};
  o.nics = round_up(sizeof(RegionHeader), kCacheLine);
  o.links = o.nics + shape.nodes * sizeof(NicState);
  o.buffers = o.links + shape.links * sizeof(LinkState);
  o.requests = o.buffers + shape.buffers * sizeof(BufferState);
  o.grants = o.requests + size_t{shape.buffers} * shape.ranks * sizeof(RoomRequest);
  o.controls = round_up(o.grants + shape.ranks * sizeof(std::atomic<uint32_t>), kCacheLine);
  o.next = o.controls + shape.ranks * sizeof(RankControl);
  o.rings = round_up(o.next + shape.ranks * sizeof(double), kCacheLine);
  const size_t pairs = size_t{shape.ranks} * shape.ranks;
  o.slots = o.rings + pairs * sizeof(RingControl);
  o.slot_stride = round_up(sizeof(MessageSlot) + shape.max_message_bytes, kCacheLine);
  o.segments = round_up(o.slots + pairs * shape.ring_slots * o.slot_stride, kPage);
  o.total = o.segments + shape.ranks * round_up(shape.segment_bytes, kPage);
  return o;
}

// The memory of a name, with `rank`'s segment.
Result<std::shared_ptr<std::byte>> SharedRegion::map(const std::string& name, const Shape& shape,
                                                     Rank rank) {
  const UniqueFd fd(::shm_open(name.c_str(), O_RDWR | O_CREAT, 0600));
  if (!fd) {
    return Error(ErrorCode::unavailable, "cannot open shared memory '" + name +
                                             "': " + errno_text() + "; is /dev/shm mounted?");
  }
  STRIPLINE_RETURN_IF_ERROR(check_own(fd.get(), name));
  const Offsets offsets = layout(shape);
  if (!may_size_file(offsets.total)) {
    ::shm_unlink(name.c_str());
    return Error(ErrorCode::resource_exhausted,
                 "the shell allows no file of " + std::to_string(offsets.total) +
                     " bytes, shared memory among them, which the ranks of an emulated network "
                     "need; raise it with 'ulimit -f unlimited'");
  }
  if (::ftruncate(fd.get(), static_cast<off_t>(offsets.total)) != 0) {
    return Error(ErrorCode::resource_exhausted, "cannot size shared memory '" + name + "' to " +
                                                    std::to_string(offsets.total) +
                                                    " bytes: " + errno_text());
  }
  // Everything but the segments is small or sparse; this rank's segment is allocated for real, so
  // that a lack of memory shows now and not as SIGBUS in the middle of a run.
  const size_t segment_room = round_up(shape.segment_bytes, kPage);
  if (segment_room > 0) {
    const int error =
        ::posix_fallocate(fd.get(), static_cast<off_t>(offsets.segments + rank * segment_room),
                          static_cast<off_t>(segment_room));
    if (error != 0) {
      ::shm_unlink(name.c_str());
      return Error(ErrorCode::resource_exhausted,
                   "cannot allocate a segment of " + std::to_string(shape.segment_bytes) +
                       " bytes for rank " + std::to_string(rank) +
                       " in /dev/shm: " + std::generic_category().message(error) +
                       "; ask for smaller segments (STRIPLINE_SEGMENT_BYTES), or " +
                       std::string(kEnlargeSharedMemory));
    }
  }
  void* base = ::mmap(nullptr, offsets.total, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (base == MAP_FAILED) {
    return Error(ErrorCode::resource_exhausted, "cannot map " + std::to_string(offsets.total) +
                                                    " bytes of shared memory: " + errno_text());
  }
  const size_t total = offsets.total;
  return std::shared_ptr<std::byte>(static_cast<std::byte*>(base),
                                    [total](std::byte* mapped) { ::munmap(mapped, total); });
}

Result<SharedRegion> SharedRegion::open(const Shape& shape, Rank rank, Crew* crew) {
  const std::string name = crew != nullptr ? "" : "/stripline-" + shape.job_id;
  STRIPLINE_ASSIGN_OR_RETURN(
      std::shared_ptr<std::byte> memory,
      crew != nullptr ? crew->shared_memory(layout(shape).total) : map(name, shape, rank));
  SharedRegion region(shape, std::move(memory), name);
  const uint64_t key = (uint64_t{shape.ranks} << 44) ^ (uint64_t{shape.nodes} << 24) ^
                       (uint64_t{shape.links} << 32) ^ (uint64_t{shape.buffers} << 8) ^
                       (uint64_t{shape.ring_slots} << 16) ^ shape.max_message_bytes ^
                       (shape.segment_bytes << 1) ^ (uint64_t{1} << 63);
  uint64_t expected = 0;
  auto* header = reinterpret_cast<RegionHeader*>(region.base_);
  if (!header->shape_key.compare_exchange_strong(expected, key) && expected != key) {
    return Error(ErrorCode::failed_precondition,
                 "shared memory '" + name +
                     "' belongs to a job of another shape; every rank must use the same profile, "
                     "rank count and segment size");
  }
  return region;
}

SharedRegion::SharedRegion(Shape shape, std::shared_ptr<std::byte> memory, std::string name)
    : shape_(std::move(shape)),
      offsets_(layout(shape_)),
      memory_(std::move(memory)),
      base_(memory_.get()),
      name_(std::move(name)) {}

void SharedRegion::unlink() {
  if (!name_.empty()) ::shm_unlink(name_.c_str());
  name_.clear();
}

NicState& SharedRegion::nic(uint32_t node) const {
  return reinterpret_cast<NicState*>(base_ + offsets_.nics)[node];
}

LinkState& SharedRegion::link(uint32_t link) const {
  return reinterpret_cast<LinkState*>(base_ + offsets_.links)[link];
}

BufferState& SharedRegion::buffer(uint32_t buffer) const {
  return reinterpret_cast<BufferState*>(base_ + offsets_.buffers)[buffer];
}

RoomRequest& SharedRegion::room_request(uint32_t buffer, Rank rank) const {
  return reinterpret_cast<RoomRequest*>(base_ +
                                        offsets_.requests)[size_t{buffer} * shape_.ranks + rank];
}

std::atomic<uint32_t>& SharedRegion::first_granted(Rank rank) const {
  return reinterpret_cast<std::atomic<uint32_t>*>(base_ + offsets_.grants)[rank];
}

std::atomic<uint32_t>& SharedRegion::nic_lock() const {
  return reinterpret_cast<RegionHeader*>(base_)->nic_lock;
}

RankControl& SharedRegion::control(Rank rank) const {
  return reinterpret_cast<RankControl*>(base_ + offsets_.controls)[rank];
}

std::span<double> SharedRegion::next_s() const {
  return {reinterpret_cast<double*>(base_ + offsets_.next), shape_.ranks};
}

RingControl& SharedRegion::ring(Rank source, Rank target) const {
  return reinterpret_cast<RingControl*>(base_ +
                                        offsets_.rings)[size_t{source} * shape_.ranks + target];
}

MessageSlot& SharedRegion::slot(Rank source, Rank target, uint32_t index) const {
  const size_t pair = size_t{source} * shape_.ranks + target;
  return *reinterpret_cast<MessageSlot*>(base_ + offsets_.slots +
                                         (pair * shape_.ring_slots + index % shape_.ring_slots) *
                                             offsets_.slot_stride);
}

std::span<std::byte> SharedRegion::segment(Rank rank) const {
  return {base_ + offsets_.segments + rank * round_up(shape_.segment_bytes, kPage),
          shape_.segment_bytes};
}

}  // namespace stripline::fabric
