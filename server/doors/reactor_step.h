// What gRPC promises about reactors, said so that ThreadSanitizer can use it.
#pragma once

#ifdef STRIPLINE_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace stripline::server {

/// gRPC runs a reactor's methods on changing threads, but each of a chain of reads (or writes)
/// after the one before, and OnDone after all. How it does that is invisible to ThreadSanitizer,
/// because gRPC is not instrumented. A step spans such a method, the constructor included; nothing
/// but builds with ThreadSanitizer have code for it.
class ReactorStep {
 public:
  ReactorStep(const ReactorStep&) = delete;
  ReactorStep& operator=(const ReactorStep&) = delete;
  ~ReactorStep() { hand_over(); }

#ifdef STRIPLINE_TSAN
  explicit ReactorStep(void* reactor) : reactor_(reactor) { __tsan_acquire(reactor_); }
  void hand_over() { __tsan_release(reactor_); }

 private:
  void* reactor_;
#else
  explicit ReactorStep(void* /*reactor*/) {}

  /// To be called before a read or a write is started: its completion may be the next step while
  /// this one still returns.
  void hand_over() {}
#endif
};

}  // namespace stripline::server
