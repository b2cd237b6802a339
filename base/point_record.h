// A record of the point of its assignment that a worker is at, where the process that started it
// can read it at any time, also when the worker has been killed, is stopped or hangs: one number in
// memory that is handed down as a descriptor. The worker writes it with a plain store, so that
// neither side is disturbed while a point is timed.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/result.h"
#include "base/subprocess.h"

namespace stripline {

/// The variable that names the worker's descriptor (docs/worker-protocol.md).
inline constexpr const char* kPointRecordVariable = "STRIPLINE_POINT_RECORD";

/// The memory, mapped. Move-only.
class PointRecord {
 public:
  PointRecord() = default;
  /// The side of whoever starts the worker. Errors: resource_exhausted.
  static Result<PointRecord> create();
  /// The side of the worker: what kPointRecordVariable names, which is closed; without memory when
  /// the variable is not set or names something else. Reads the environment.
  static PointRecord from_environment();

  PointRecord(PointRecord&& other) noexcept;
  PointRecord& operator=(PointRecord&& other) noexcept;
  ~PointRecord();

  /// To be inherited by the worker; -1 at the worker's side.
  int file() const { return file_.get(); }

  /// The worker is at its point number `begun`, from 1 on. Does nothing without memory.
  void begin(uint64_t begun) {
    if (memory_ != nullptr) memory_->store(begun, std::memory_order_relaxed);
  }
  /// The last of them; 0: it has begun none, or does not record it.
  uint64_t begun() const {
    return memory_ == nullptr ? 0 : memory_->load(std::memory_order_relaxed);
  }

 private:
  static PointRecord map(UniqueFd file);

  UniqueFd file_;
  std::atomic<uint64_t>* memory_ = nullptr;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

}  // namespace stripline
