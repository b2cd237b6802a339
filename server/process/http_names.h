// Under which names browsers and monitors reach this host.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/process/server.h"
#include "server/security/authority.h"

namespace stripline::server {

/// The names of the options, this host's name, whole and its first part, the one that it listens
/// on, and those in its certificate. Errors: those of a certificate that cannot be read.
Result<std::vector<std::string>> http_names(const ServerOptions& options,
                                            const std::optional<Authority>& authority);

}  // namespace stripline::server
