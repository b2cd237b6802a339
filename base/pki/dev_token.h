// The secret of a server that was started with --dev: it writes a new one into a file of the user
// who started it, and that user's commands and agents find it there. Other users of the machine
// reach the port, but not the file.
#pragma once

#include <filesystem>
#include <string>

#include "base/host_and_port.h"
#include "base/result.h"

namespace stripline::pki {

/// $XDG_STATE_HOME/stripline/dev-HOST-PORT.token, else below ~/.local/state, of this host: homes
/// are shared. Reads the environment. Errors: unavailable when there is no home.
Result<std::filesystem::path> dev_token_file(const std::string& port);

/// The secret for the server there. Empty when it is not on this machine (by a loopback address),
/// or no such file exists. Errors: those of read_secret(); data_loss for a file that holds no
/// token.
Result<std::string> dev_secret(const HostAndPort& server);

}  // namespace stripline::pki
