#include "base/atomic_file.h"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "base/subprocess.h"

namespace stripline {
namespace {

Error write_error(const std::filesystem::path& path, int error) {
  return {ErrorCode::unavailable, "cannot write '" + path.string() +
                                      "': " + std::generic_category().message(error) +
                                      "; check the folder and the space left"};
}

// The most files of one name, left behind by processes that were killed, that are removed.
constexpr int kMostLeftOver = 100;

}  // namespace

Result<AtomicFile> AtomicFile::create(const std::filesystem::path& destination,
                                      std::optional<mode_t> mode) {
  std::error_code ignored;
  const auto there = std::filesystem::status(destination, ignored);
  if (std::filesystem::is_directory(there)) return write_error(destination, EISDIR);
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there)) {
    return Error(ErrorCode::unavailable, "cannot write '" + destination.string() +
                                             "': it is not a regular file; name one, or a new one");
  }
  std::filesystem::path target = destination;
  if (std::filesystem::exists(there)) {
    const auto linked = std::filesystem::canonical(destination, ignored);
    if (!linked.empty()) target = linked;
    if (!mode) mode = static_cast<mode_t>(there.permissions() & std::filesystem::perms::all);
  }
  // From the start: who opens a file while others may read it reads what comes later, too.
  const mode_t at_first = mode.value_or(0666);
  // Processes of other hosts have the same numbers.
  const std::string prefix = target.string() + ".tmp" + std::to_string(::getpid()) + ".";
  for (int number = 0;; ++number) {
    std::filesystem::path temporary = prefix + std::to_string(number);
    UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, at_first));
    if (!fd && errno == EEXIST && number < kMostLeftOver) continue;
    std::FILE* file = fd ? ::fdopen(fd.get(), "wb") : nullptr;
    if (file == nullptr) return write_error(destination, errno);
    [[maybe_unused]] const int owned_by_file = fd.release();
    AtomicFile created(std::move(target), std::move(temporary), file);
    if (mode && ::fchmod(::fileno(file), *mode) != 0) return write_error(destination, errno);
    return created;
  }
}

AtomicFile::~AtomicFile() {
  if (!file_) return;  // committed, or moved from
  file_.reset();
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

Status AtomicFile::write(std::string_view data) {
  if (std::fwrite(data.data(), 1, data.size(), file_.get()) == data.size()) return {};
  return write_error(destination_, errno);
}

Status AtomicFile::commit() {
  if (std::fflush(file_.get()) != 0 || ::fsync(::fileno(file_.get())) != 0) {
    return write_error(destination_, errno);
  }
  std::error_code ec;
  std::filesystem::rename(temporary_, destination_, ec);
  if (ec) return write_error(destination_, ec.value());
  file_.reset();
  return {};
}

Status write_atomically(const std::filesystem::path& destination, std::string_view data) {
  STRIPLINE_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(destination));
  STRIPLINE_RETURN_IF_ERROR(file.write(data));
  return file.commit();
}

}  // namespace stripline
