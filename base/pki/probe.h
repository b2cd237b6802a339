// Learning a server's authority from the server itself, knowing its hash.
#pragma once

#include <string>

#include "base/host_and_port.h"
#include "base/result.h"

namespace stripline::pki {

/// Connects, and returns the certificate of the authority with this sha256 in PEM, if the server's
/// certificate is of it and for this host. Blocks, at most `timeout_s` but for the resolver.
/// Errors: unavailable, deadline_exceeded.
Result<std::string> fetch_authority(const HostAndPort& server, const std::string& sha256,
                                    double timeout_s);

}  // namespace stripline::pki
