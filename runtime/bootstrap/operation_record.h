// What a rank did last, where its launcher can still read it when the rank has been killed: memory
// that the launcher hands down, written with plain stores.
//
// The rank names an operation by a string that lives as long as the program; each name is written
// out once, and then referred to. An operation takes two words: what the rank is in, and what it
// last started with which rank and how many bytes; each is stored at once, so that none is torn.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/subprocess.h"

namespace stripline::bootstrap {

/// The variable that names the memory: "DESCRIPTOR:OFFSET" (docs/worker-protocol.md).
inline constexpr const char* kOperationRecordVariable = "STRIPLINE_OPERATION_RECORD";

/// The memory of one rank; zeroed to begin with. A multiple of every page size up to 8 KiB.
struct OperationMemory {
  static constexpr size_t kNameBytes = 64;  ///< with the null byte that ends it
  static constexpr size_t kNames = 127;

  std::atomic<uint64_t> current;  ///< number of the name of the operation that the rank is in
  std::atomic<uint64_t> started;  ///< with a peer: see OperationRecorder::pack()
  std::array<uint64_t, 6> reserved;
  std::array<std::array<char, kNameBytes>, kNames> names;  ///< number 1 is the first
};
static_assert(sizeof(OperationMemory) == 8192);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

/// The writing side. One thread.
class OperationRecorder {
 public:
  explicit OperationRecorder(const char* name) : name_(name) {}
  OperationRecorder(const OperationRecorder&) = delete;
  OperationRecorder& operator=(const OperationRecorder&) = delete;

  /// From now on operations are recorded there, too; with null memory, no longer.
  void attach(OperationMemory* memory);

  /// The rank is in this operation. A string literal.
  OperationRecorder& operator=(const char* name) {
    name_ = name;
    if (memory_ != nullptr) memory_->current.store(number_of(name), std::memory_order_relaxed);
    return *this;
  }
  /// The same with one rank and an amount of data.
  void start(const char* name, uint32_t peer, uint64_t bytes) {
    name_ = name;
    if (memory_ == nullptr) return;
    const uint64_t number = number_of(name);
    memory_->started.store(pack(number, peer, bytes), std::memory_order_relaxed);
    memory_->current.store(number, std::memory_order_relaxed);
  }

  const char* name() const { return name_; }

  /// 8 bits of the name's number, 21 of the rank, 35 of the bytes, of which more are not told.
  static constexpr uint64_t kMostBytes = (uint64_t{1} << 35) - 1;
  static constexpr uint64_t pack(uint64_t number, uint32_t peer, uint64_t bytes) {
    return number << 56 | uint64_t{peer} << 35 | (bytes < kMostBytes ? bytes : kMostBytes);
  }

 private:
  struct Known {
    const char* name = nullptr;
    uint64_t number = 0;
  };

  uint64_t number_of(const char* name) {
    const auto address = reinterpret_cast<uintptr_t>(name);
    for (size_t at = address ^ address >> 8;; ++at) {
      const Known& known = known_[at % known_.size()];
      if (known.name == name) [[likely]]
        return known.number;
      if (known.name == nullptr) return learn(name, at % known_.size());
    }
  }
  uint64_t learn(const char* name, size_t place);
  uint64_t find_or_add(const char* name);

  const char* name_;
  OperationMemory* memory_ = nullptr;
  std::array<Known, 256> known_{};  // a hash table by address; never full
  size_t known_names_ = 0;
};

/// The memory of this process that the environment names, mapped, for its whole life; null if there
/// is none or it is not what a launcher hands down. The descriptor is closed.
OperationMemory* operation_memory_from_environment();

/// The launcher's side: memory for some ranks in one descriptor.
class OperationRecords {
 public:
  /// Without it (no memory, no descriptors) nothing is recorded: file() is -1.
  explicit OperationRecords(uint32_t ranks);

  int file() const { return file_.get(); }
  /// What the rank at `index` gets as kOperationRecordVariable, with `descriptor` for file().
  static std::string variable(int descriptor, uint32_t index);

  /// What the rank at `index` was in when it ended, to follow "its last operation was": e.g. "wait,
  /// after rput of 8 bytes to rank 1". Empty if it has recorded nothing, or nonsense.
  std::string last_operation(uint32_t index) const;

 private:
  UniqueFd file_;
};

/// The same for what has been read of a rank's memory.
std::string last_operation(std::span<const std::byte, sizeof(OperationMemory)> memory);

}  // namespace stripline::bootstrap
