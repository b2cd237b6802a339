// Where a node keeps the models that its server has pushed to it, one for each network, and where
// programs find them: FOLDER/NETWORK/current is a symbolic link to the file in force, which is
// called NAME@VERSION-HASH.stripline.json. The link changes at once; who has followed it goes on
// with what he has found.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace stripline {

struct PushedModel {
  std::filesystem::path file;
  std::string name;    ///< "tcp@3"
  std::string sha256;  ///< The first 12 digits.
};

/// The folder that programs look into: STRIPLINE_MODELS if it is set, which may hold several with a
/// colon between them, else the user's ($XDG_STATE_HOME/stripline/models, or
/// ~/.local/state/stripline/models) and then /var/lib/stripline-models.
std::vector<std::filesystem::path> pushed_model_folders();

/// The first of these that this process may write to or make; an agent installs there.
std::filesystem::path writable_model_folder();

/// The model in force for a network ("tcp", "emulated:opteron-vapi") in the first of the folders
/// that has one.
std::optional<PushedModel> find_pushed_model(const std::vector<std::filesystem::path>& folders,
                                             const std::string& fabric);

/// Puts a model in force. The file that was in force stays for those who are about to read it;
/// older ones go. `name` is "tcp@3", `sha256` whole. Errors: unavailable.
Status install_pushed_model(const std::filesystem::path& folder, const std::string& fabric,
                            const std::string& name, const std::string& sha256,
                            const std::string& content);

/// No model is in force for a network any more, if the one that is has this hash (its first 12
/// digits); false if it has not, or there is none. The file stays for those who are about to read
/// it, until another one is installed. Errors: unavailable.
Result<bool> remove_pushed_model(const std::filesystem::path& folder, const std::string& fabric,
                                 const std::string& sha256);

}  // namespace stripline
