#include "suites/targets/work_folder.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>

#include "base/unguessable.h"

namespace stripline::suites::tune {
namespace {

Error cannot(const std::string& what, const std::filesystem::path& path, int error) {
  return {ErrorCode::unavailable,
          "cannot " + what + " '" + path.string() + "': " + std::generic_category().message(error)};
}

}  // namespace

Result<WorkFolder> WorkFolder::create(const std::filesystem::path& parent) {
  std::error_code error;
  const auto above = parent.empty() ? std::filesystem::temp_directory_path(error) : parent;
  if (error) return cannot("find", "a folder for temporary files", error.value());
  auto path = above / ("stripline-tune-" + unguessable_text());
  if (::mkdir(path.c_str(), 0700) != 0) return cannot("create the folder", path, errno);
  return WorkFolder(std::move(path));
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Result<UniqueFd> WorkFolder::open_for_writing(const std::string& name) const {
  const auto path = path_ / name;
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) return cannot("write", path, errno);
  return file;
}

}  // namespace stripline::suites::tune
