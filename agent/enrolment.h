// A node becomes known to the server: it makes a key, and gets a certificate for it against a token
// that works once.
#pragma once

#include <filesystem>
#include <string>

#include "base/host_and_port.h"
#include "base/pki/token.h"
#include "base/result.h"

namespace stripline::agent {

/// Connects to the server if its authority is the token's, shows the token, and writes the node's
/// identity (credentials.h). Waits for the answer, at most `timeout_s`. Errors: unavailable,
/// deadline_exceeded; failed_precondition when the server does not take the token.
Status enroll(const HostAndPort& server, const pki::Token& token, const std::string& node,
              const std::filesystem::path& identity_file, double timeout_s);

/// True if the file holds an identity that this token need not be used for: of the same authority,
/// and not expired.
bool is_enrolled(const std::filesystem::path& identity_file, const pki::Token& token,
                 double now_unix_s);

}  // namespace stripline::agent
