// A peer of the port of gRPC that asks, and reads nothing of what it is answered.
#pragma once

#include "base/subprocess.h"

namespace stripline::server {

/// Connects to this port of the loopback, and makes calls of a method that there is not until the
/// server takes no more: the answers fill the sockets between. The connection is open as long as
/// the result. An invalid one: it could not connect.
UniqueFd connect_deaf_peer(int port);

}  // namespace stripline::server
