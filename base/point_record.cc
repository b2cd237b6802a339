#include "base/point_record.h"

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/number_text.h"

namespace stripline {

Result<PointRecord> PointRecord::create() {
  const auto failed = [] {
    return Error(ErrorCode::resource_exhausted, "cannot make memory to watch a worker by: " +
                                                    std::generic_category().message(errno));
  };
  UniqueFd file(::memfd_create("stripline-point", MFD_CLOEXEC));
  if (!file || ::ftruncate(file.get(), sizeof(uint64_t)) != 0) return failed();
  PointRecord record = map(std::move(file));
  if (record.memory_ == nullptr) return failed();
  return record;
}

PointRecord PointRecord::from_environment() {
  const char* const text = std::getenv(kPointRecordVariable);  // NOLINT(*-mt-unsafe)
  if (text == nullptr) return {};
  const int descriptor = number_from_text<int>(text).value_or(-1);
  if (descriptor < 3) return {};
  struct stat about {};
  // A descriptor of something else, which the variable was inherited with, is left alone.
  if (::fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode) ||
      about.st_size != static_cast<off_t>(sizeof(uint64_t))) {
    return {};
  }
  PointRecord record = map(UniqueFd(descriptor));
  record.file_.reset();
  return record;
}

PointRecord PointRecord::map(UniqueFd file) {
  PointRecord record;
  void* const memory =
      ::mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory != MAP_FAILED) record.memory_ = static_cast<std::atomic<uint64_t>*>(memory);
  record.file_ = std::move(file);
  return record;
}

PointRecord::PointRecord(PointRecord&& other) noexcept
    : file_(std::move(other.file_)), memory_(std::exchange(other.memory_, nullptr)) {}

PointRecord& PointRecord::operator=(PointRecord&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(memory_, other.memory_);
  return *this;
}

PointRecord::~PointRecord() {
  if (memory_ != nullptr) ::munmap(memory_, sizeof(uint64_t));
}

}  // namespace stripline
