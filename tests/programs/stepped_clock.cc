// Takes the place of libc's calls that read the time of day: the machine's clock, set forward or
// back by the seconds (an int64_t) in the file $STEPPED_CLOCK_FILE, which a test may change at any
// time. Clocks that no one can set are left alone.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

namespace {

const std::atomic<int64_t>* mapped_offset() {
  const char* path = std::getenv("STEPPED_CLOCK_FILE");  // NOLINT(concurrency-mt-unsafe)
  const int file = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) ::_exit(127);
  void* memory = ::mmap(nullptr, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) ::_exit(127);
  return static_cast<const std::atomic<int64_t>*>(memory);
}

int64_t offset_s() {
  static const std::atomic<int64_t>* const offset = mapped_offset();
  return offset->load(std::memory_order_relaxed);
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const long failed = ::syscall(SYS_clock_gettime, clock, time);
  if (failed == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    time->tv_sec += offset_s();
  }
  return static_cast<int>(failed);
}

int gettimeofday(timeval* time, void* /*zone*/) noexcept {
  timespec now{};
  (void)clock_gettime(CLOCK_REALTIME, &now);
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* out) noexcept {
  timespec now{};
  (void)clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}
}
