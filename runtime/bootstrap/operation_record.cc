#include "runtime/bootstrap/operation_record.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace stripline::bootstrap {
namespace {

constexpr size_t kNames = OperationMemory::kNames;
constexpr size_t kNameBytes = OperationMemory::kNameBytes;

// A killed rank may have left anything.
std::string_view name_at(std::span<const std::byte> memory, uint64_t number) {
  if (number == 0 || number > kNames) return {};
  const auto* const name = reinterpret_cast<const char*>(memory.data()) +
                           offsetof(OperationMemory, names) + (number - 1) * kNameBytes;
  const std::string_view text(name, ::strnlen(name, kNameBytes));
  const bool readable =
      text.size() < kNameBytes &&
      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return readable ? text : std::string_view();
}

uint64_t word_at(std::span<const std::byte> memory, size_t offset) {
  uint64_t word = 0;
  std::memcpy(&word, memory.data() + offset, sizeof word);
  return word;
}

}  // namespace

void OperationRecorder::attach(OperationMemory* memory) {
  memory_ = memory;
  known_ = {};
  known_names_ = 0;
  if (memory != nullptr) *this = name_;
}

uint64_t OperationRecorder::learn(const char* name, size_t place) {
  const uint64_t number = find_or_add(name);
  if (known_names_ + 1 < known_.size()) {
    known_[place] = {name, number};
    ++known_names_;
  }
  return number;
}

// 0, which stands for no name, when there are too many.
uint64_t OperationRecorder::find_or_add(const char* name) {
  for (size_t i = 0; i < kNames; ++i) {
    auto& entry = memory_->names[i];
    if (entry[0] == '\0') {
      std::strncpy(entry.data(), name, kNameBytes - 1);
      return i + 1;
    }
    if (std::strncmp(entry.data(), name, kNameBytes - 1) == 0) return i + 1;
  }
  return 0;
}

OperationMemory* operation_memory_from_environment() {
  const char* variable = std::getenv(kOperationRecordVariable);  // NOLINT(concurrency-mt-unsafe)
  if (variable == nullptr) return nullptr;
  const std::string_view text(variable);
  int descriptor = -1;
  uint64_t offset = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, descriptor);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ':') return nullptr;
  const auto second = std::from_chars(first.ptr + 1, end, offset);
  if (second.ec != std::errc() || second.ptr != end) return nullptr;
  // Programs between the launcher and this one may have closed it, and opened another file.
  struct stat found {};
  if (descriptor < 0 || ::fcntl(descriptor, F_GET_SEALS) < 0 || ::fstat(descriptor, &found) != 0 ||
      offset % sizeof(OperationMemory) != 0 ||
      static_cast<uint64_t>(found.st_size) < sizeof(OperationMemory) ||
      offset > static_cast<uint64_t>(found.st_size) - sizeof(OperationMemory)) {
    return nullptr;
  }
  void* const memory = ::mmap(nullptr, sizeof(OperationMemory), PROT_READ | PROT_WRITE, MAP_SHARED,
                              descriptor, static_cast<off_t>(offset));
  ::close(descriptor);
  return memory == MAP_FAILED ? nullptr : static_cast<OperationMemory*>(memory);
}

OperationRecords::OperationRecords(uint32_t ranks)
    : file_(::memfd_create("stripline-operations", MFD_CLOEXEC)) {
  if (file_ &&
      ::ftruncate(file_.get(), static_cast<off_t>(size_t{ranks} * sizeof(OperationMemory))) != 0) {
    file_.reset();
  }
}

std::string OperationRecords::variable(int descriptor, uint32_t index) {
  return std::to_string(descriptor) + ":" +
         std::to_string(uint64_t{index} * sizeof(OperationMemory));
}

std::string OperationRecords::last_operation(uint32_t index) const {
  // Read, not mapped: a rank may have cut the file.
  std::array<std::byte, sizeof(OperationMemory)> memory{};
  const auto offset = static_cast<off_t>(uint64_t{index} * sizeof(OperationMemory));
  if (!file_ || ::pread(file_.get(), memory.data(), memory.size(), offset) !=
                    static_cast<ssize_t>(memory.size())) {
    return {};
  }
  return bootstrap::last_operation(memory);
}

std::string last_operation(std::span<const std::byte, sizeof(OperationMemory)> memory) {
  const uint64_t current = word_at(memory, offsetof(OperationMemory, current));
  const uint64_t started = word_at(memory, offsetof(OperationMemory, started));
  const std::string_view name = name_at(memory, current);
  if (name.empty()) return {};
  const std::string_view with_peer = name_at(memory, started >> 56);
  std::string text(name);
  if (with_peer.empty()) return text;
  const uint64_t bytes = started & OperationRecorder::kMostBytes;
  if (name != with_peer) text += ", after " + std::string(with_peer);
  return text + " of " + std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes") + " with rank " +
         std::to_string(started >> 35 & ((uint64_t{1} << 21) - 1));
}

}  // namespace stripline::bootstrap
