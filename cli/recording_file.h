// Files of recorded samples, as 'campaign export' writes them: plain, or compressed by zstd.
#pragma once

#include <string>

#include "base/result.h"

namespace stripline::cli {

/// The JSON lines of such a file; "-" is standard input. Errors: those of reading it; data_loss
/// when it is compressed and damaged; resource_exhausted when it holds more than a gigabyte.
Result<std::string> read_recording_file(const std::string& path);

}  // namespace stripline::cli
