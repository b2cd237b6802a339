// `stripline-server init`: what a server needs to be served by TLS.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/process/server.h"

namespace stripline::server {

/// What it has made.
struct Initialised {
  std::string server_host;  ///< the first name of the server's certificate
  std::filesystem::path admin_token_file;
  std::filesystem::path node_token_file;  ///< its token enrols one node, within a day
};

/// Makes the authority, the server's certificate (for `hosts`; empty: this host's name) and for
/// localhost and its addresses, an administrator's token in the file admin.token, and in node.token
/// one that enrols the first node. The folder is created if missing; `store` says where the tokens
/// are stored, if not there. Errors: already_exists when it was done before, or a server runs on
/// them; unavailable when it cannot write.
Result<Initialised> initialise(const std::filesystem::path& data_dir,
                               std::vector<std::string> hosts, double now_unix_s,
                               const StoreLocation& store = {});

}  // namespace stripline::server
