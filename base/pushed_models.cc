#include "base/pushed_models.h"

#include <algorithm>
#include <cctype>
#include <system_error>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/network_name.h"
#include "base/settings.h"

namespace stripline {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCurrent = "current";
constexpr const char* kSuffix = ".stripline.json";
constexpr size_t kHashDigits = 12;

// Two networks never share a folder, and options of runs make none of their own: what no letter,
// digit, '.', '_' or '-' is becomes its code.
fs::path folder_of(const fs::path& folder, const std::string& fabric) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string name;
  for (const char c : network_name(fabric)) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '_' || c == '-' || (c == '.' && !name.empty())) {
      name += c;
    } else {
      name += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return folder / name;
}

std::optional<PushedModel> current_of(const fs::path& network) {
  std::error_code failure;
  const fs::path target = fs::read_symlink(network / kCurrent, failure);
  const std::string name = target.filename().string();
  if (failure || !name.ends_with(kSuffix) || !fs::is_regular_file(network / target, failure)) {
    return std::nullopt;
  }
  const std::string stem = name.substr(0, name.size() - std::string(kSuffix).size());
  const size_t dash = stem.rfind('-');
  if (dash == std::string::npos) return std::nullopt;
  return PushedModel{network / target, stem.substr(0, dash), stem.substr(dash + 1)};
}

// Nothing is made before there is something to put into it.
bool may_be_made(fs::path folder) {
  std::error_code ignored;
  while (!fs::exists(folder, ignored) && folder.has_relative_path()) folder = folder.parent_path();
  return fs::is_directory(folder, ignored) && ::access(folder.c_str(), W_OK | X_OK) == 0;
}

Error cannot(const std::string& what, const fs::path& path, const std::error_code& failure) {
  return {ErrorCode::unavailable,
          "cannot " + what + " '" + path.string() + "': " + failure.message()};
}

}  // namespace

std::vector<fs::path> pushed_model_folders() {
  std::vector<fs::path> folders;
  if (std::string list = environment_value("STRIPLINE_MODELS"); !list.empty()) {
    for (size_t begin = 0; begin <= list.size();) {
      const size_t end = std::min(list.find(':', begin), list.size());
      if (end > begin) folders.emplace_back(list.substr(begin, end - begin));
      begin = end + 1;
    }
    return folders;
  }
  fs::path state = environment_value("XDG_STATE_HOME");
  if (state.empty() && !environment_value("HOME").empty()) {
    state = fs::path(environment_value("HOME")) / ".local" / "state";
  }
  if (!state.empty()) folders.push_back(state / "stripline" / "models");
  folders.emplace_back("/var/lib/stripline-models");
  return folders;
}

fs::path writable_model_folder() {
  const auto folders = pushed_model_folders();
  for (const fs::path& folder : folders) {
    if (may_be_made(folder)) return folder;
  }
  return folders.empty() ? fs::path() : folders.back();
}

std::optional<PushedModel> find_pushed_model(const std::vector<fs::path>& folders,
                                             const std::string& fabric) {
  for (const fs::path& folder : folders) {
    if (auto model = current_of(folder_of(folder, fabric))) return model;
  }
  return std::nullopt;
}

Status install_pushed_model(const fs::path& folder, const std::string& fabric,
                            const std::string& name, const std::string& sha256,
                            const std::string& content) {
  const fs::path network = folder_of(folder, fabric);
  std::error_code failure;
  fs::create_directories(network, failure);
  if (failure) return cannot("make", network, failure);
  const auto before = current_of(network);
  const std::string file = name + "-" + sha256.substr(0, kHashDigits) + kSuffix;
  STRIPLINE_ASSIGN_OR_RETURN(AtomicFile written, AtomicFile::create(network / file));
  STRIPLINE_RETURN_IF_ERROR(written.write(content));
  STRIPLINE_RETURN_IF_ERROR(written.commit());
  // Every user's programs read them, whatever the agent's umask is.
  constexpr fs::perms kFile = fs::perms::owner_read | fs::perms::owner_write |
                              fs::perms::group_read | fs::perms::others_read;
  constexpr fs::perms kSearch =
      fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  fs::permissions(network / file, kFile, failure);
  if (!failure) fs::permissions(network, kFile | kSearch, failure);
  if (failure) return cannot("let others read", network, failure);
  const fs::path link = network / (std::string(kCurrent) + ".new");
  fs::remove(link, failure);
  fs::create_symlink(file, link, failure);
  if (!failure) fs::rename(link, network / kCurrent, failure);
  if (failure) return cannot("change", network / kCurrent, failure);
  for (const auto& entry : fs::directory_iterator(network, failure)) {
    const std::string other = entry.path().filename().string();
    const bool needed = other == file || (before && entry.path() == before->file);
    if (!needed && other.ends_with(kSuffix)) fs::remove(entry.path(), failure);
  }
  return {};
}

Result<bool> remove_pushed_model(const fs::path& folder, const std::string& fabric,
                                 const std::string& sha256) {
  const fs::path network = folder_of(folder, fabric);
  const auto present = current_of(network);
  if (!present || present->sha256 != sha256) return false;
  std::error_code failure;
  fs::remove(network / kCurrent, failure);
  if (failure) return cannot("remove", network / kCurrent, failure);
  return true;
}

}  // namespace stripline
