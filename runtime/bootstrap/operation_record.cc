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

#include "base/place_text.h"

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

// 0, which stands for no name, when there are too many. Of what is too long the end is kept: paths
// of files differ there.
uint64_t OperationRecorder::find_or_add(const char* name) {
  if (const size_t size = std::strlen(name); size >= kNameBytes) name += size - (kNameBytes - 1);
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

bool RankRecords::computes(uint32_t rank, uint32_t other) const {
  const uint64_t place = uint64_t{other} + index - rank;  // wraps around for ranks of other hosts
  if (place >= started.size()) return false;
  const OperationMemory& record = started[place];
  return record.current.load(std::memory_order_relaxed) != 0 &&
         (record.waits.load(std::memory_order_relaxed) & 1) == 0;
}

RankRecords rank_records_from_environment() {
  const char* variable = std::getenv(kOperationRecordVariable);  // NOLINT(concurrency-mt-unsafe)
  if (variable == nullptr) return {};
  const std::string_view text(variable);
  int descriptor = -1;
  uint64_t offset = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, descriptor);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ':') return {};
  const auto second = std::from_chars(first.ptr + 1, end, offset);
  if (second.ec != std::errc() || second.ptr != end) return {};
  // Programs between the launcher and this one may have closed it, and opened another file.
  struct stat found {};
  if (descriptor < 0 || ::fcntl(descriptor, F_GET_SEALS) < 0 || ::fstat(descriptor, &found) != 0 ||
      offset % sizeof(OperationMemory) != 0 ||
      static_cast<uint64_t>(found.st_size) < sizeof(OperationMemory) ||
      offset > static_cast<uint64_t>(found.st_size) - sizeof(OperationMemory)) {
    return {};
  }
  const size_t count = static_cast<size_t>(found.st_size) / sizeof(OperationMemory);
  void* const own = ::mmap(nullptr, sizeof(OperationMemory), PROT_READ | PROT_WRITE, MAP_SHARED,
                           descriptor, static_cast<off_t>(offset));
  const void* const all =
      ::mmap(nullptr, count * sizeof(OperationMemory), PROT_READ, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  RankRecords records;
  if (own != MAP_FAILED) records.own = static_cast<OperationMemory*>(own);
  if (all != MAP_FAILED) records.started = {static_cast<const OperationMemory*>(all), count};
  records.index = offset / sizeof(OperationMemory);
  return records;
}

OperationRecords::OperationRecords(uint32_t ranks)
    : file_(::memfd_create("stripline-operations", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  // The file has a size that no rank can change: all of them read it by loads.
  if (file_ &&
      (::ftruncate(file_.get(), static_cast<off_t>(size_t{ranks} * sizeof(OperationMemory))) != 0 ||
       ::fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)) {
    file_.reset();
  }
}

std::string OperationRecords::variable(int descriptor, uint32_t index) {
  return std::to_string(descriptor) + ":" +
         std::to_string(uint64_t{index} * sizeof(OperationMemory));
}

std::string OperationRecords::last_operation(uint32_t index) const {
  std::array<std::byte, sizeof(OperationMemory)> memory{};
  const auto offset = static_cast<off_t>(uint64_t{index} * sizeof(OperationMemory));
  if (!file_ || ::pread(file_.get(), memory.data(), memory.size(), offset) !=
                    static_cast<ssize_t>(memory.size())) {
    return {};
  }
  return bootstrap::last_operation(memory);
}

uint64_t OperationRecords::waits(uint32_t index) const {
  uint64_t count = 0;
  const auto offset = static_cast<off_t>(uint64_t{index} * sizeof(OperationMemory) +
                                         offsetof(OperationMemory, waits));
  if (!file_ || ::pread(file_.get(), &count, sizeof count, offset) != sizeof count) return 0;
  return count;
}

std::string last_operation(std::span<const std::byte, sizeof(OperationMemory)> memory) {
  const uint64_t current = word_at(memory, offsetof(OperationMemory, current));
  const uint64_t started = word_at(memory, offsetof(OperationMemory, started));
  const std::string_view name = name_at(memory, current);
  if (name.empty()) return {};
  const std::string_view with_peer = name_at(memory, started >> 56);
  const uint64_t site = word_at(memory, offsetof(OperationMemory, site));
  std::string text(name);
  // The file by its name alone.
  const std::string_view path = name_at(memory, site >> 48 & 0xff);
  if (site >> 56 == current && !path.empty()) {
    text += " (" + place_text(path.substr(path.rfind('/') + 1), static_cast<uint32_t>(site)) + ")";
    // Only these are for an operation, which was begun elsewhere.
    if (name != "wait" && name != "fence") return text;
  }
  if (with_peer.empty()) return text;
  const uint64_t bytes = started & OperationRecorder::kMostBytes;
  if (name != with_peer) text += ", after " + std::string(with_peer);
  return text + " of " + std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes") + " with rank " +
         std::to_string(started >> 35 & ((uint64_t{1} << 21) - 1));
}

}  // namespace stripline::bootstrap
