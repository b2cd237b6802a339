#include "runtime/rma/memory.h"

#include <algorithm>
#include <string>

#include "runtime/rma/debug_checks.h"

namespace stripline::rma {
namespace {

constexpr size_t kPageBytes = 4096;

// Two slots for each peer and as many twins: of up to 64 KiB for the few peers of a small job, and
// of at least 16 KiB among up to 257 ranks, for what a parcel of 4 KiB costs its sender and its
// owner is more than what is in it. More ranks share what the most is.
constexpr size_t kLeastBulkBytes = size_t{2} << 20;
constexpr size_t kMostBulkBytes = size_t{16} << 20;
constexpr size_t kBulkBytesForPeer = size_t{64} << 10;

}  // namespace

size_t Memory::bulk_bytes(rank_t ranks) {
  if (ranks < 2) return 0;
  return std::clamp((ranks - 1) * kBulkBytesForPeer, kLeastBulkBytes, kMostBulkBytes);
}

size_t Memory::collective_offset(size_t segment_bytes, rank_t ranks) {
  const size_t begin = segment_bytes + bulk_bytes(ranks);
  return (begin + kPageBytes - 1) / kPageBytes * kPageBytes;
}

Memory::Memory(Job& job)
    : job_(job),
      fabric_(job.fabric()),
      ranks_(job.ranks()),
      segment_(job.fabric().segment().first(job.options().segment_bytes)),
      checked_bytes_(job.options().debug || job.options().trace == "sites" ? 0 : segment_.size()),
      bulk_(job.fabric().segment().subspan(segment_.size(), bulk_bytes(job.ranks()))),
      collective_(job.fabric().segment().subspan(
          collective_offset(job.options().segment_bytes, job.ranks()))),
      reachable_(job.life()->segments_only_here()),
      heap_(segment_.size()),
      local_heap_(segment_.size()),
      keepers_(job.ranks()) {
  reachable_[job.rank()] = segment_.data();
}

void Memory::find_reachable() {
  for (rank_t peer = 0; peer < ranks_; ++peer) {
    if (peer == job_.rank()) continue;
    const std::span<std::byte> there = job_.fabric().reachable_segment(peer);
    // Offsets are checked against this rank's own size.
    if (there.size() >= segment_.size()) reachable_[peer] = there.data();
  }
}

void Memory::check_alignment(Call call, rank_t target, uint64_t offset, size_t bytes) const {
  if (offset % bytes == 0) return;
  job_.fail(Error(ErrorCode::invalid_argument, text(call) + " of " +
                                                   range_text(offset, bytes, target) +
                                                   ", which is not a multiple of its size"));
}

void Memory::check_closely(const char* name, CallSite site, rank_t target, uint64_t offset,
                           size_t bytes, Access access) const {
  if (target >= ranks_ || bytes > segment_.size() || offset > segment_.size() - bytes) {
    fail_bounds({name, site}, target, offset, bytes);
  }
  if (DebugChecks* const debug = job_.observers().debug()) {
    debug->check({name, site}, access, target, offset, bytes);
  }
}

std::byte* Memory::local(Call call, global_ptr<const std::byte> place) const {
  const rank_t target = place.where();
  const uint64_t offset = place.offset();
  if (target >= ranks_ || offset > segment_.size()) fail_bounds(call, target, offset, 1);
  if (reachable_[target] == nullptr) {
    job_.check_process();
    job_.fail(Error(ErrorCode::invalid_argument,
                    text(call) + " of memory of rank " + std::to_string(target) +
                        ", which loads and stores of rank " + std::to_string(job_.rank()) +
                        " do not reach: is_local() tells which they reach, and rget() and rput() "
                        "are for all"));
  }
  return reachable_[target] + offset;
}

void Memory::fail_bounds(Call call, rank_t target, uint64_t offset, size_t bytes) const {
  std::string why;
  if (target >= ranks_) {
    why = "the job has ranks 0 to " + std::to_string(ranks_ - 1);
  } else {
    why = "the segment has " + std::to_string(segment_.size()) +
          " bytes; the global pointer or the count is wrong";
  }
  job_.fail(
      Error(ErrorCode::invalid_argument,
            text(call) + " of " + range_text(offset, bytes, target) + " is out of bounds: " + why));
}

void Memory::fail_target(Call call, rank_t target) const {
  job_.fail(Error(ErrorCode::invalid_argument,
                  text(call) + " names rank " + std::to_string(target) +
                      ", but the job has ranks 0 to " + std::to_string(ranks_ - 1)));
}

}  // namespace stripline::rma
