#pragma once

#include <string>

namespace stripline {

/// This host's name, for messages.
std::string host_name();

}  // namespace stripline
