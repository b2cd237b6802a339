// Time in the server: the clocks of the host, and how points in time are written.
#pragma once

#include "base/clock.h"
#include "base/rfc3339.h"

namespace stripline::server {

using stripline::steady_seconds;
using stripline::unix_seconds;

}  // namespace stripline::server
