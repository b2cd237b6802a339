#pragma once

#include <string>

namespace stripline::bootstrap {

/// This host's name, for messages.
std::string host_name();

}  // namespace stripline::bootstrap
