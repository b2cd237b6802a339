// What a rank is in and did last, where its launcher can read it at any time, also when the rank
// has been killed: memory that the launcher hands down, written with plain stores.
//
// The rank names an operation by a string that lives as long as the program; each name is written
// out once, and then referred to. An operation takes three words: what the rank is in, what it
// last started with which rank and how many bytes, and where the call stands in the program; each
// is stored at once, so that none is torn. A count of waits tells whoever looks now and then
// whether the rank waits, and whether it is the wait of the last look; the rank need not read a
// clock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <stripline/call_site.h>

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
  std::atomic<uint64_t> site;     ///< of an operation: see OperationRecorder::pack_site()
  std::atomic<uint64_t> waits;    ///< begun and ended: odd while the rank waits
  std::array<uint64_t, 4> reserved;
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

  /// The operation of this name was called there last; no one knows where, without a file. String
  /// literals.
  void at(const char* name, CallSite site) {
    if (memory_ == nullptr) return;
    memory_->site.store(site.file == nullptr ? 0
                                             : pack_site(number_of(name), number_of(site.file),
                                                         static_cast<uint32_t>(site.line)),
                        std::memory_order_relaxed);
  }

  const char* name() const { return name_; }

  /// Where to count waits, OperationMemory::waits, from attach() on.
  std::atomic<uint64_t>& waits() { return memory_ != nullptr ? memory_->waits : own_waits_; }

  /// 8 bits of the name's number, 21 of the rank, 35 of the bytes; larger sizes count as that.
  static constexpr uint64_t kMostBytes = (uint64_t{1} << 35) - 1;
  static constexpr uint64_t pack(uint64_t number, uint32_t peer, uint64_t bytes) {
    return number << 56 | uint64_t{peer} << 35 | (bytes < kMostBytes ? bytes : kMostBytes);
  }
  /// 8 bits of the number of the operation's name, 8 of that of the file's, and the line.
  static constexpr uint64_t pack_site(uint64_t number, uint64_t file, uint32_t line) {
    return number << 56 | file << 48 | line;
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
  std::atomic<uint64_t> own_waits_{0};
  std::array<Known, 256> known_{};  // a hash table by address; never full
  size_t known_names_ = 0;
};

/// What a rank gets of its launcher's records.
struct RankRecords {
  OperationMemory* own = nullptr;            ///< this process's; null: there are none
  std::span<const OperationMemory> started;  ///< of all ranks that the launcher has started here
  size_t index = 0;                          ///< of `own` among them

  /// True if the rank `other` (numbers in the job; `rank` is this one) has recorded that it is not
  /// in a wait: what it owes others may come when it has computed. False where nothing is known.
  bool computes(uint32_t rank, uint32_t other) const;
};

/// The records that the environment names, mapped for the life of this process; none if there are
/// none or it is not what a launcher hands down. The descriptor is closed.
RankRecords rank_records_from_environment();

/// The launcher's side: memory for some ranks in one descriptor.
class OperationRecords {
 public:
  /// Without it (no memory, no descriptors) nothing is recorded: file() is -1.
  explicit OperationRecords(uint32_t ranks);

  int file() const { return file_.get(); }
  /// What the rank at `index` gets as kOperationRecordVariable, with `descriptor` for file().
  static std::string variable(int descriptor, uint32_t index);

  /// What the rank at `index` is in, or was in when it ended, to follow "its last operation was":
  /// e.g. "wait (solver.cc:9), after rput of 8 bytes with rank 1", "barrier (solver.cc:40)". Empty
  /// if it has recorded nothing, or nonsense.
  std::string last_operation(uint32_t index) const;

  /// Waits that the rank at `index` has begun and ended: odd while it waits.
  uint64_t waits(uint32_t index) const;

 private:
  UniqueFd file_;
};

/// The same for what has been read of a rank's memory.
std::string last_operation(std::span<const std::byte, sizeof(OperationMemory)> memory);

}  // namespace stripline::bootstrap
