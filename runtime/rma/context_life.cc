#include "runtime/rma/context_life.h"

#include <new>
#include <sys/mman.h>

#include <stripline/future.h>

#include "runtime/rma/context_state.h"

namespace stripline::detail {

ContextLife::ContextLife(rank_t ranks)
    : process_(::getpid()), bytes_(sizeof(Memory) + ranks * sizeof(std::byte*)) {
  void* const pages =
      ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages != MAP_FAILED && ::madvise(pages, bytes_, MADV_WIPEONFORK) == 0) {
    memory_ = ::new (pages) Memory;
    segments_ = {reinterpret_cast<std::byte**>(memory_ + 1), ranks};  // zero, as all new pages
    wiped_ = true;
    return;
  }
  if (pages != MAP_FAILED) ::munmap(pages, bytes_);
  own_segments_.resize(ranks, nullptr);
  segments_ = own_segments_;
}

// No one is left to tell the launcher.
void ContextLife::fail(const rma::Call& call) {
  rma::fail_without_job(text(call) +
                        ", but the Context has gone; what a Context is needed for goes before it");
}

std::shared_ptr<const ContextLife> life_of(Context* context) {
  return context == nullptr ? nullptr : context->state().job.life();
}

ContextLife::~ContextLife() {
  if (wiped_) ::munmap(memory_, bytes_);
}

}  // namespace stripline::detail
