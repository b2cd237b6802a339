#include "runtime/rma/context_life.h"

#include <new>
#include <sys/mman.h>

#include <stripline/future.h>

#include "runtime/rma/context_state.h"

namespace stripline::detail {
namespace {

constexpr size_t kPageBytes = 4096;  // the kernel rounds up

}  // namespace

ContextLife::ContextLife() : process_(::getpid()) {
  void* const page =
      ::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (::madvise(page, kPageBytes, MADV_WIPEONFORK) != 0) {
    ::munmap(page, kPageBytes);
    return;
  }
  memory_ = ::new (page) Memory;
  wiped_ = true;
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
  if (wiped_) ::munmap(memory_, kPageBytes);
}

}  // namespace stripline::detail
