#include "server/store/data_folder.h"

#include <system_error>

namespace stripline::server {

Status make_data_folder(const std::filesystem::path& folder) {
  std::error_code failure;
  if (folder.empty() || std::filesystem::is_directory(folder, failure)) return {};
  std::filesystem::create_directories(folder, failure);
  if (!failure) {
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, failure);
  }
  if (!failure) return {};
  return Error(ErrorCode::unavailable, "cannot create data folder '" + folder.string() + "': " +
                                           failure.message() + "; choose another --data-dir");
}

}  // namespace stripline::server
