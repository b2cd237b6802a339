// Names of nodes, as they are part of resource names ("nodes/NAME").
#pragma once

#include <string>

namespace stripline::agent {

/// The host name as a resource name segment: lower case, other characters as '-', cut to 63.
std::string default_node_name();

/// True if `name` matches [a-z0-9][a-z0-9._-]{0,62}.
bool is_node_name(const std::string& name);

}  // namespace stripline::agent
