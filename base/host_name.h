#pragma once

#include <string>
#include <string_view>

namespace stripline {

/// This host's name, for messages.
std::string host_name();

/// True if a name or an IP address (without brackets) means this host: "localhost", the host's name
/// with or without its domain, or an address of one of its interfaces. Asks no name service, so
/// that false is also the answer for other names of this host.
bool is_this_host(std::string_view name);

}  // namespace stripline
