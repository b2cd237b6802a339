#include "runtime/bootstrap/fiber.h"

#include <cerrno>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STRIPLINE_ASAN_FIBERS
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define STRIPLINE_ASAN_FIBERS
#endif
#if defined(STRIPLINE_ASAN_FIBERS)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(STRIPLINE_TSAN_FIBERS)  // by CMakeLists.txt: this file itself is not instrumented
#include <sanitizer/tsan_interface.h>
#endif

namespace stripline::bootstrap {
namespace {

constexpr size_t kStackBytes = size_t{4} << 20;  // reserved; what is not used takes no memory

/// Memory for a stack, with a page below it that must not be touched.
class Stack {
 public:
  static Result<Stack> create() {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    void* const memory = ::mmap(nullptr, page + kStackBytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) {
      return Error(ErrorCode::resource_exhausted, "no memory for the stack of a fiber (" +
                                                      std::generic_category().message(errno) +
                                                      "); start fewer ranks");
    }
    Stack stack(static_cast<std::byte*>(memory), page);
    if (::mprotect(memory, page, PROT_NONE) != 0) {
      return Error(ErrorCode::resource_exhausted, "the stack of a fiber cannot be guarded (" +
                                                      std::generic_category().message(errno) +
                                                      "); start fewer ranks");
    }
    return stack;
  }
  Stack() = default;
  Stack(Stack&& other) noexcept { *this = std::move(other); }
  Stack& operator=(Stack&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(guard_bytes_, other.guard_bytes_);
    return *this;
  }
  ~Stack() {
    if (memory_ == nullptr) return;
#if defined(STRIPLINE_ASAN_FIBERS)
    // A fiber ends without returning from its first frames, which are marked as such until someone
    // clears the marks: they would outlive this mapping, and stop whoever is given its addresses.
    ASAN_UNPOISON_MEMORY_REGION(bottom(), kStackBytes);
#endif
    ::munmap(memory_, guard_bytes_ + kStackBytes);
  }

  std::byte* bottom() const { return memory_ + guard_bytes_; }

 private:
  Stack(std::byte* memory, size_t guard_bytes) : memory_(memory), guard_bytes_(guard_bytes) {}

  std::byte* memory_ = nullptr;
  size_t guard_bytes_ = 0;
};

// Stacks stay until all fibers have ended.
struct KeepStack {
  static void deallocate(boost::context::stack_context&) {}
};

}  // namespace

struct Fibers::Fiber {
  Stack stack;
  boost::context::fiber context;  // where it goes on; empty while it runs and when it has ended
  // As sanitizers are informed: that of the thread is known when another stack is entered from it.
  const void* stack_bottom = nullptr;
  size_t stack_bytes = 0;
  bool ended = false;
  void* sanitizer_state = nullptr;
  Fiber* came_from = nullptr;
};

Fibers::Fibers() : outside_(std::make_unique<Fiber>()) {}

Fibers::~Fibers() {
#if defined(STRIPLINE_TSAN_FIBERS)
  for (const auto& fiber : fibers_) __tsan_destroy_fiber(fiber->sanitizer_state);
#endif
}

Result<std::unique_ptr<Fibers>> Fibers::create(uint32_t count) {
  std::unique_ptr<Fibers> group(new Fibers());  // NOLINT(*-owning-memory)
  for (uint32_t i = 0; i < count; ++i) {
    auto fiber = std::make_unique<Fiber>();
    STRIPLINE_ASSIGN_OR_RETURN(fiber->stack, Stack::create());
    fiber->stack_bottom = fiber->stack.bottom();
    fiber->stack_bytes = kStackBytes;
#if defined(STRIPLINE_TSAN_FIBERS)
    fiber->sanitizer_state = __tsan_create_fiber(0);
#endif
    group->fibers_.push_back(std::move(fiber));
  }
  return group;
}

void Fibers::run(const std::function<void(uint32_t)>& body) {
  namespace context = boost::context;
  body_ = body;
  for (const auto& fiber : fibers_) {
    context::stack_context whole;
    whole.size = kStackBytes;
    whole.sp = fiber->stack.bottom() + kStackBytes;
    fiber->context =
        context::fiber(std::allocator_arg, context::preallocated(whole.sp, whole.size, whole),
                       KeepStack(), [this](context::fiber&& before) {
                         fibers_[current_]->came_from->context = std::move(before);
                         return std::move(run_current().context);
                       });
  }
#if defined(STRIPLINE_TSAN_FIBERS)
  outside_->sanitizer_state = __tsan_get_current_fiber();
#endif
  current_ = 0;
  if (!fibers_.empty()) switch_to(*outside_, *fibers_[0]);
}

// Returns who is to run when this one has ended.
Fibers::Fiber& Fibers::run_current() {
  Fiber& mine = *fibers_[current_];
  arrived(mine);
  body_(current_);
  mine.ended = true;
  const uint32_t next = successor();
  Fiber& heir = next == current_ ? *outside_ : *fibers_[next];
  current_ = next;
  leave(mine, heir);
  return heir;
}

void Fibers::resume(uint32_t fiber) {
  const uint32_t mine = current_;
  const uint32_t next = fiber == mine || fibers_[fiber]->ended ? successor() : fiber;
  if (next == mine) return;
  current_ = next;
  switch_to(*fibers_[mine], *fibers_[next]);
}

uint32_t Fibers::successor() const {
  const auto count = static_cast<uint32_t>(fibers_.size());
  for (uint32_t step = 1; step < count; ++step) {
    const uint32_t candidate = (current_ + step) % count;
    if (!fibers_[candidate]->ended) return candidate;
  }
  return current_;
}

void Fibers::switch_to(Fiber& from, Fiber& to) {
  leave(from, to);
  boost::context::fiber before = std::move(to.context).resume();
  from.came_from->context = std::move(before);
  arrived(from);
}

void Fibers::leave(Fiber& from, Fiber& to) {
  to.came_from = &from;
#if defined(STRIPLINE_ASAN_FIBERS)
  __sanitizer_start_switch_fiber(from.ended ? nullptr : &from.sanitizer_state, to.stack_bottom,
                                 to.stack_bytes);
#elif defined(STRIPLINE_TSAN_FIBERS)
  __tsan_switch_to_fiber(to.sanitizer_state, 0);
#endif
}

void Fibers::arrived([[maybe_unused]] Fiber& here) {
#if defined(STRIPLINE_ASAN_FIBERS)
  const void* bottom = nullptr;
  size_t bytes = 0;
  __sanitizer_finish_switch_fiber(here.sanitizer_state, &bottom, &bytes);
  here.came_from->stack_bottom = bottom;
  here.came_from->stack_bytes = bytes;
#endif
}

}  // namespace stripline::bootstrap
