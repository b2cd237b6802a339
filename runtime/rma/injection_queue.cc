#include "runtime/rma/injection_queue.h"

#include <cstring>

namespace stripline::rma {

Result<std::unique_ptr<InjectionQueue>> InjectionQueue::open(const Job& job,
                                                             const std::function<void()>& serve) {
  std::unique_ptr<fabric::Injector> injector;
  for (rank_t rank = 0; rank < job.ranks() && injector == nullptr; ++rank) {
    if (rank == job.rank() || job.path_to(rank) != model::Path::network) continue;
    STRIPLINE_ASSIGN_OR_RETURN(injector, job.fabric().open_injector(serve));
  }
  return std::unique_ptr<InjectionQueue>(new InjectionQueue(job, serve, std::move(injector)));
}

void InjectionQueue::put(fabric::Rank target, uint64_t offset, const std::byte* source,
                         size_t bytes) {
  begin();
  path_to(target).put(target, offset, {source, bytes}, started_);
}

void InjectionQueue::put_copied(fabric::Rank target, uint64_t offset, const std::byte* source,
                                size_t bytes) {
  begin();
  fabric::Injector& path = path_to(target);
  if (bytes <= inject_bytes_) {
    path.put(target, offset, {source, bytes}, started_);
  } else if (bytes <= kHalf && &path == injector_.get()) {
    std::byte* const copy = room_for_copy(bytes);
    std::memcpy(copy, source, bytes);
    path.put(target, offset, {copy, bytes}, copied_[half_]);
  } else {
    fabric::Counter alone;
    path.put(target, offset, {source, bytes}, alone);
    wait_for(alone);
  }
}

std::byte* InjectionQueue::room_for_copy(size_t bytes) {
  if (copies_.empty()) copies_.resize(kCopyBytes);
  if (bytes > kHalf - used_) {
    half_ = 1 - half_;
    used_ = 0;
    wait_for(copied_[half_]);
  }
  std::byte* const room = copies_.data() + half_ * kHalf + used_;
  used_ += bytes;
  return room;
}

void InjectionQueue::get(std::byte* destination, fabric::Rank target, uint64_t offset,
                         size_t bytes) {
  begin();
  path_to(target).get({destination, bytes}, target, offset, started_);
}

void InjectionQueue::get_now(std::byte* destination, fabric::Rank target, uint64_t offset,
                             size_t bytes) {
  begin();
  fabric::Counter alone;
  path_to(target).get({destination, bytes}, target, offset, alone);
  wait_for(alone);
}

void InjectionQueue::atomic(const fabric::AtomicRequest& request, fabric::Rank target,
                            uint64_t offset, void* previous) {
  begin();
  injector_->atomic(request, target, offset, previous, started_);
}

void InjectionQueue::atomic_now(const fabric::AtomicRequest& request, fabric::Rank target,
                                uint64_t offset, void* previous) {
  begin();
  fabric::Counter alone;
  injector_->atomic(request, target, offset, previous, alone);
  wait_for(alone);
}

void InjectionQueue::complete() {
  job_.check_process();
  wait_for(started_);
  for (const fabric::Counter& one : copied_) wait_for(one);
}

}  // namespace stripline::rma
