// How large a step is. Pure.
#pragma once

#include <cstddef>

#include "server/store/store.h"

namespace stripline::server {

/// About how many bytes storing it takes, by what can be large: samples, plans, models, and the
/// number of rows.
size_t bytes_of(const Changes& changes);

}  // namespace stripline::server
