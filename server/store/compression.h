// How the store keeps samples: each batch as one frame of zstd, with a checksum.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stripline::server {

/// Any bytes, in fewer. Errors: resource_exhausted without memory.
Result<std::string> compressed(std::string_view bytes);

/// What was compressed. Errors: data_loss when `frame` is no whole one or its checksum differs, or
/// when it holds more than `most_bytes`.
Result<std::string> decompressed(std::string_view frame, size_t most_bytes = size_t{256} << 20);

}  // namespace stripline::server
