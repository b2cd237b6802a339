// A mutex of which clang knows what it guards (-Wthread-safety, in builds with clang): a member
// that is touched without it, and a function that needs it and is called without, do not compile
// there.
#pragma once

#include <mutex>

#if defined(__clang__)
#define STRIPLINE_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define STRIPLINE_THREAD_SAFETY(attribute)
#endif

/// A member that may be touched only while this mutex is held.
#define STRIPLINE_GUARDED_BY(mutex) STRIPLINE_THREAD_SAFETY(guarded_by(mutex))
/// A function whose caller holds this mutex.
#define STRIPLINE_REQUIRES(mutex) STRIPLINE_THREAD_SAFETY(requires_capability(mutex))
/// A function that takes this mutex, which its caller does not hold.
#define STRIPLINE_EXCLUDES(mutex) STRIPLINE_THREAD_SAFETY(locks_excluded(mutex))

namespace stripline {

class STRIPLINE_THREAD_SAFETY(capability("mutex")) Mutex {
 public:
  void lock() STRIPLINE_THREAD_SAFETY(acquire_capability()) { mutex_.lock(); }
  void unlock() STRIPLINE_THREAD_SAFETY(release_capability()) { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

/// Holds a mutex for its lifetime, but for where it is unlocked meanwhile. A
/// std::condition_variable_any can wait with it.
class STRIPLINE_THREAD_SAFETY(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) STRIPLINE_THREAD_SAFETY(acquire_capability(mutex))
      : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() STRIPLINE_THREAD_SAFETY(release_capability()) {
    if (held_) mutex_.unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() STRIPLINE_THREAD_SAFETY(acquire_capability()) {
    mutex_.lock();
    held_ = true;
  }
  void unlock() STRIPLINE_THREAD_SAFETY(release_capability()) {
    held_ = false;
    mutex_.unlock();
  }

 private:
  Mutex& mutex_;
  bool held_ = true;
};

}  // namespace stripline
